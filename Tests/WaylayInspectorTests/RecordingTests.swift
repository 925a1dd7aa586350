import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayArchive
import WaylayCore
import WaylayHAR
import WaylayInspector
import WaylayMocks

@Suite("What an inspector writes down", .timeLimit(.minutes(5)))
struct RecordingTests {
  @Test("is the request, the answer and its body, from the network, with address and times that a strict reader takes")
  func network() async throws {
    try await withOrigin { origin in
      let inspector = Inspector()
      let registry = InterceptorRegistry(logger: .recording()) { inspector }
      var request = URLRequest(url: origin.url("/echo?page=2"))
      request.httpMethod = "POST"
      request.httpBody = Data("Ada".utf8)
      let (data, _) = try await registry.data(for: request)
      let exchange = try #require(inspector.exchanges.first)
      #expect(
        inspector.count == 1 && exchange.state == .finished && exchange.source == .network && exchange.failure == nil)
      #expect(exchange.request.method == "POST" && exchange.request.body?.text == "Ada")
      #expect(exchange.response?.status == 200 && exchange.response?.body.data == data)
      #expect(exchange.attempts.first?.address == "127.0.0.1:\(origin.port)" && exchange.isConnectionReused == false)
      #expect(exchange.entry.serverAddress == "127.0.0.1" && exchange.duration > .zero)
      #expect(HARFormat.problems(in: HAR(entries: [exchange.entry]).data()) == [])
      // The entry alone says all of it, to its reader.
      let read = Inspector.Exchange(try HAR.Entry(data: exchange.entry.data()))
      #expect(read.id == exchange.id && read.state == exchange.state && read.request == exchange.request)
      #expect(read.source == exchange.source && read.attempts == exchange.attempts && read.isConnectionReused == false)
    }
  }

  @Test("is not the check whether a session is intercepted: neither an inspector nor a mock behind it has that request")
  func verification() async throws {
    let inspector = Inspector()
    let mock = MockInterceptor { Stub(.get, "https://example.com/", .text("hello")) }
    let lines = Log<String>()
    let registry = InterceptorRegistry(logger: .recording(lines)) {
      inspector
      mock
    }
    let configuration = URLSessionConfiguration.ephemeral.intercepted(by: registry)
    let session = URLSession(configuration: configuration)
    try await configuration.verifyInterception()
    try await session.verifyInterception()
    #expect(inspector.count == 0 && mock.requests.isEmpty && lines.all.isEmpty)
    _ = try await session.data(from: url("https://example.com/"))
    #expect(inspector.count == 1 && mock.requests.count == 1)
    registry.invalidate()
  }

  @Test("comes through a session as it does without one")
  func session() async throws {
    try await withOrigin { origin in
      let inspector = Inspector()
      let session = URLSession(
        configuration: .ephemeral.intercepted(by: InterceptorRegistry(logger: .recording()) { inspector }))
      defer { session.finishTasksAndInvalidate() }
      let (data, _) = try await session.data(from: origin.url("/bytes/300000"))
      #expect(data.count == 300_000)
      _ = try await session.data(from: origin.url("/redirect/302?to=/hello"))
      let exchanges = inspector.exchanges
      #expect(exchanges.map { $0.response?.status } == [200, 302, 200])
      #expect(exchanges[0].response?.body.data == data && exchanges[2].response?.body.text == "hello")
      #expect(exchanges[2].isConnectionReused == true)
    }
  }

  @Test("tells answers of an archive and of a mock from those of the network")
  func sources() async throws {
    try await withOrigin { origin in
      let inspector = Inspector()
      let mock = MockInterceptor { Stub(.get, "https://mocked.test/", .text("made up")) }
      let network = InterceptorRegistry(logger: .recording()) {
        inspector
        ArchiveCache()
      }
      _ = try await network.data(for: URLRequest(url: origin.url("/hello")))
      let mocked = InterceptorRegistry(logger: .recording()) {
        inspector
        mock
      }
      _ = try await mocked.data(for: URLRequest(url: URL(string: "https://mocked.test/")!))
      let other = InterceptorRegistry(logger: .recording()) {
        inspector
        Cached()
      }
      _ = try await other.data(for: URLRequest(url: URL(string: "https://cached.test/")!))
      #expect(inspector.exchanges.map(\.source) == [.network, .mocked, .archive])
      #expect(inspector.exchanges[1].response?.body.text == "made up")
    }
  }

  /// Somebody else's cache.
  private struct Cached: RequestInterceptor {
    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      InterceptedResponse(
        to: request, fields: [.init("Cache-Status")!: "origin; fwd=miss, app; hit; ttl=3"], body: .text("old"))
    }
  }

  @Test("is a failure with its phase, its address and no secret")
  func failures() async throws {
    let closed = try ClosedPort()
    let inspector = Inspector()
    let registry = InterceptorRegistry(logger: .recording()) { inspector }
    await #expect(throws: URLError.self) {
      try await registry.data(for: URLRequest(url: closed.url("/a?token=\(Recording.mark)")))
    }
    try await withOrigin { origin in
      await #expect(throws: URLError.self) { try await registry.data(for: URLRequest(url: origin.url("/truncated"))) }
    }
    let exchanges = inspector.exchanges
    #expect(exchanges.map(\.state) == [.failed, .failed])
    #expect(exchanges[0].failure?.phase == .connecting && exchanges[0].response == nil)
    #expect(exchanges[1].failure?.phase == .receiving && exchanges[1].response?.body.text == "half")
    for exchange in exchanges {
      Recording.note(String(decoding: exchange.entry.data(), as: UTF8.self))
      Recording.note("\(exchange)")
    }
  }

  @Test("shows each address that was tried beneath, and what came of it")
  func attempts() async throws {
    let closed = try ClosedPort()
    try await withOrigin { origin in
      let inspector = Inspector()
      let registry = InterceptorRegistry(logger: .recording()) {
        inspector
        Dialling(ports: [closed.port, origin.port])
        inspector.attempts
      }
      _ = try await registry.data(for: URLRequest(url: origin.url("/hello")))
      let attempts = try #require(inspector.exchanges.first).attempts
      #expect(attempts.map(\.address) == ["127.0.0.1:\(closed.port)", "127.0.0.1:\(origin.port)"])
      #expect(attempts.map(\.status) == [nil, 200] && attempts[0].failure?.phase == .connecting)
      #expect(attempts.allSatisfy { $0.time != nil })
    }
  }

  /// Tries one address after the other.
  private struct Dialling: RequestInterceptor {
    let ports: [Int]

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      var failure: (any Error)?
      for port in ports {
        var attempt = request
        attempt.route = try Route("127.0.0.1", port: port)
        do { return try await next(attempt) } catch { failure = error }
      }
      throw failure ?? URLError(.unknown)
    }
  }

  @Test("is nothing while recording is off, and what was open goes on")
  func switchedOff() async throws {
    let inspector = Inspector()
    let registry = InterceptorRegistry(logger: .recording()) {
      inspector
      MockInterceptor { Stub(.get, "https://mocked.test/", .text("made up")) }
    }
    let url = URL(string: "https://mocked.test/")!
    inspector.isRecording = false
    _ = try await registry.data(for: URLRequest(url: url))
    #expect(inspector.count == 0)
    inspector.isRecording = true
    _ = try await registry.data(for: URLRequest(url: url))
    #expect(inspector.count == 1)
    inspector.clear()
    #expect(inspector.count == 0 && inspector.bytes == 0 && inspector.exchanges.isEmpty)
  }

  @Test("lists a WebSocket task and says that its messages are not seen")
  func webSocket() throws {
    let inspector = Inspector()
    try inspector.validate(webSocket: URLRequest(url: URL(string: "wss://chat.test/?token=\(Recording.mark)")!))
    let exchange = try #require(inspector.exchanges.first)
    #expect(exchange.state == .unseen && exchange.response == nil && exchange.failure == nil)
    #expect(exchange.entry.comment?.contains("not seen") == true)
    #expect(exchange.entry.extensions["_resourceType"] == "websocket")
    #expect(!exchange.request.url.contains(Recording.mark))
  }
}
