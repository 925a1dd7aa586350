import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore
import WaylayInspector

@Suite("The bounds of an inspector", .timeLimit(.minutes(10)))
struct BoundsTests {
  @Test("hold for number, bytes and each body; the oldest goes first")
  func limits() async throws {
    let inspector = Inspector(limits: Inspector.Limits(exchanges: 50, bytes: 400_000, bodyBytes: 10_000))
    let registry = inspected(inspector) { request in
      let chunks = AsyncStream<Data> { continuation in
        for _ in 0..<20 { continuation.yield(Data(repeating: 0x61, count: 1_000)) }
        continuation.finish()
      }
      return InterceptedResponse(
        to: request, body: request.url.path == "/data" ? .data(Data(count: 30_000)) : .stream(chunks))
    }
    for number in 1...100 {
      let path = number.isMultiple(of: 2) ? "data" : "stream"
      var request = URLRequest(url: url("https://a.test/\(path)?n=\(number)"))
      request.httpMethod = "POST"
      request.httpBody = Data(repeating: 0x62, count: 12_000)
      let (data, _) = try await registry.data(for: request)
      // All of it goes through.
      #expect(data.count == (path == "data" ? 30_000 : 20_000))
      #expect(inspector.count <= 50 && inspector.bytes <= 400_000)
    }
    await inspector.flush()
    let exchanges = inspector.exchanges
    #expect(
      exchanges.last?.id == 100 && exchanges.count == inspector.count
        && inspector.dropped == 100 - exchanges.count)
    #expect(exchanges.map(\.id) == Array((101 - exchanges.count)...100))
    for exchange in exchanges {
      let body = try #require(exchange.response?.body)
      #expect(
        body.data.count == 10_000 && body.isTruncated
          && body.size == (exchange.request.url.contains("data") ? 30_000 : 20_000))
      #expect(exchange.request.body?.data.count == 10_000 && exchange.request.body?.size == 12_000)
      #expect(exchange.entry.extensions["_truncated"] == true)
    }
  }

  @Test("let what is open stay while others go, and leave no room for more than there is")
  func open() async throws {
    let inspector = Inspector(limits: Inspector.Limits(exchanges: 3, bytes: 60_000))
    let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
    let registry = inspected(inspector) { request in
      InterceptedResponse(to: request, body: request.url.path == "/live" ? .stream(stream) : .text("short"))
    }
    let live = try await registry.load(URLRequest(url: url("https://a.test/live")))
    var reader = live.body.makeAsyncIterator()
    for number in 1...10 { _ = try await registry.data(for: URLRequest(url: url("https://a.test/\(number)"))) }
    #expect(inspector.exchanges.map(\.id) == [1, 10, 11] && inspector.exchanges[0].state == .open)
    for _ in 0..<10 {
      continuation.yield(Data(count: 10_000))
      #expect(try await reader.next()?.count == 10_000)
    }
    #expect(inspector.bytes <= 60_000)
    let kept = try #require(inspector.exchange(1))
    #expect(kept.response?.body.size == 100_000 && kept.response?.body.isTruncated == true)
    continuation.finish()
    #expect(try await reader.next() == nil)
    #expect(inspector.exchange(1)?.state == .finished)
  }

  @Test(
    "hold in the process: bodies of hundreds of MiB leave it as large as the limits say", .exitTest,
    .enabled(if: Process.measuresMemory))
  func memory() async {
    await #expect(processExitsWith: .success) {
      Process.limit()
      let inspector = Inspector(limits: Inspector.Limits(exchanges: 1_000, bytes: 8 << 20))
      let registry = inspected(inspector) { request in
        InterceptedResponse(
          to: request, fields: [.contentType: "application/octet-stream"], body: .data(Data(count: 256 << 10)))
      }
      func load(_ count: Int) async throws {
        for number in 0..<count { _ = try await registry.data(for: URLRequest(url: url("https://a.test/\(number)"))) }
        await inspector.flush()
      }
      try await load(200)
      let before = Process.residentBytes
      try await load(Sizes.of(4_096, small: 1_024))
      Process.require(inspector.bytes <= 8 << 20, "\(inspector.bytes) bytes are kept")
      let growth = Process.residentBytes - before
      Process.require(growth < 32 << 20, "resident memory grew by \(growth >> 20) MiB")
    }
  }

  @Test("do not hold a server's stream in the process: it is held back while nobody reads", .heavy)
  func backPressure() async throws {
    try await withOrigin { origin in
      origin.keepsLog = false
      let inspector = Inspector()
      let registry = InterceptorRegistry(logger: .recording()) { inspector }
      let size = 160 << 20
      let response = try await registry.load(URLRequest(url: origin.url("/bytes/\(size)")))
      var received = 0
      for try await chunk in response.body {
        received += chunk.count
        // What the server has sent more is in the one buffer and in the sockets.
        #expect(origin.bytesSent - received < 64 << 20)
      }
      #expect(received == size)
      let exchange = try #require(inspector.exchanges.first)
      #expect(exchange.response?.body.size == size && exchange.response?.body.data.count == inspector.limits.bodyBytes)
      registry.invalidate()
    }
  }

  @Test("an answer that is let go of ends its transfer, and its exchange")
  func abandoned() async throws {
    try await withOrigin { origin in
      let inspector = Inspector()
      let events = inspector.events()
      let registry = InterceptorRegistry(logger: .recording()) { inspector }
      do {
        let response = try await registry.load(URLRequest(url: origin.url("/gate/never")))
        #expect(response.status == .ok)
      }
      for await case .exchange(let exchange) in events where exchange.state != .open {
        #expect(exchange.state == .finished && exchange.entry.comment == "The body was dropped before its end.")
        break
      }
    }
  }

  @Test("nothing of a load is kept alive by what is recorded of it")
  func noLeak() async throws {
    final class Owner: Sendable {}
    let inspector = Inspector()
    weak var seen: Owner?
    do {
      let owner = Owner()
      seen = owner
      let registry = inspected(inspector) { [owner] request in
        let chunks = AsyncStream<Data> { continuation in
          _ = owner
          continuation.finish()
        }
        return InterceptedResponse(to: request, body: .stream(chunks))
      }
      _ = try await registry.data(for: URLRequest(url: url("https://a.test/")))
      registry.invalidate()
    }
    await inspector.flush()
    #expect(inspector.count == 1)
    #expect(seen == nil)
  }
}
