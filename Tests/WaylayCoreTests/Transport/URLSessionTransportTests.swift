import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("The transport over an inner session", .timeLimit(.minutes(5)))
struct URLSessionTransportTests {
  @Test("sequential requests share one inner connection")
  func oneConnection() async throws {
    try await withOrigin { origin in
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() })
      for _ in 0..<20 { _ = try await session.data(from: origin.url("/hello")) }
      #expect(origin.connectionCount == 1)
    }
  }

  @Test("a redirect and a 401 keep the connection")
  func keptConnection() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry { Link.pass() }
      for _ in 0..<3 {
        _ = try await registry.data(for: URLRequest(url: origin.url("/redirect/302?to=/hello")))
        _ = try await registry.data(for: URLRequest(url: origin.url("/unauthorized")))
      }
      #expect(origin.connectionCount <= 2)
    }
  }

  @Test("a response dropped unread closes or frees its connection")
  func dropped() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry { Link.pass() }
      for index in 0..<5 {
        var response: InterceptedResponse? = try await registry.load(
          URLRequest(url: origin.url("/gate/dropped\(index)")))
        #expect(response?.status == .ok)
        response = nil
      }
      await origin.until { $0.openConnectionCount == 0 }
      #expect(origin.openConnectionCount == 0)
    }
  }

  @Test("an interceptor that drops the network's answer frees it too")
  func replaced() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry {
        Link { request, next in
          _ = try await next(request)
          return InterceptedResponse(to: request, body: .text("mine"))
        }
      }
      let answer = try await URLSession.intercepted(by: registry).text(from: origin.url("/gate/replaced"))
      #expect(answer.1 == "mine")
      await origin.until { $0.openConnectionCount == 0 }
    }
  }

  @Test("cancelling frees the connection, before the head and in the body", arguments: ["/never", "/gate/cancelled"])
  func cancelled(path: String) async throws {
    try await withOrigin { origin in
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() })
      let task = Task { try await session.data(from: origin.url(path)) }
      await origin.until { $0.requests.count == 1 }
      task.cancel()
      #expect(await failureCode { try await task.value } == .cancelled)
      await origin.until { $0.openConnectionCount == 0 }
    }
  }

  @Test(
    "misbehaving servers give a URLError with a TransportError beneath", arguments: ["/truncated", "/reset", "/close"])
  func misbehaving(path: String) async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry { Link.pass() }
      let session = URLSession.intercepted(by: registry)
      for error in [
        await failure { try await session.data(from: origin.url(path)) },
        await failure { try await registry.data(for: URLRequest(url: origin.url(path))) },
      ] {
        let error = try #require(error as? URLError)
        #expect(error.userInfo[NSUnderlyingErrorKey] is TransportError)
        #expect(error.failingURL == origin.url(path))
      }
    }
  }

  @Test("nobody listening: connecting failed, and nothing of the request was sent")
  func refused() async throws {
    let port = try ClosedPort()
    let url = port.url("/hello")
    let seen = Locked<TransportError?>(nil)
    let registry = InterceptorRegistry {
      Link { request, next in
        do { return try await next(request) } catch let error as TransportError {
          seen.withLock { $0 = error }
          throw error
        }
      }
    }
    let error = await failure { try await registry.data(for: URLRequest(url: url)) }
    #expect((error as? URLError)?.code == .cannotConnectToHost)
    #expect(seen.withLock { $0?.phase } == .connecting)
    #expect(seen.withLock { $0?.requestBytesSent } == 0)
  }

  @Test("HEAD, 204 and 304 have no body, and metrics are measured")
  func bodiless() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry()
      for (method, path) in [("HEAD", "/hello"), ("GET", "/status/204"), ("GET", "/status/304")] {
        var request = URLRequest(url: origin.url(path))
        request.httpMethod = method
        let response = try await registry.load(request)
        #expect(response.body.isEmpty)
        #expect(response.metrics?.firstByte != nil)
      }
    }
  }

  @Test("a transport of one's own takes the place of the inner session")
  func custom() async throws {
    struct Local: Transport {
      let capabilities: TransportCapabilities = []
      func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
        InterceptedResponse(
          to: request, body: .text("local \(request.urlRequest.mainDocumentURL == nil)"), source: .network)
      }
    }
    let registry = InterceptorRegistry(transport: Local()) { Link.pass() }
    #expect(try await URLSession.intercepted(by: registry).text(from: .example) == (200, "local true"))
  }
}
