import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Routes and transports", .timeLimit(.minutes(5)))
struct RouteTests {
  /// Would dial wherever it likes.
  private struct Incapable: Transport {
    let capabilities: TransportCapabilities
    let loads = Log<InterceptedRequest>()

    func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
      loads.add(request)
      return InterceptedResponse(to: request)
    }
  }

  private func registry(_ transport: any Transport, _ route: Route) -> InterceptorRegistry {
    InterceptorRegistry(transport: transport, configuration: .ephemeral) {
      Link { request, next in
        var request = request
        request.route = route
        return try await next(request)
      }
    }
  }

  @Test("a transport that says nothing of routes never sees a request that has one")
  func incapable() async throws {
    let transport = Incapable(capabilities: [])
    let registry = registry(transport, try Route("127.0.0.1"))
    let error = await failure { try await registry.load(URLRequest(url: .example)) }
    #expect(error.flatMap(cause)?.code == .transportIncapable)
    #expect(transport.loads.all.isEmpty)
    registry.invalidate()
  }

  @Test("a transport that has no gates never sees a route with one, and sees the others")
  func gateless() async throws {
    let transport = Incapable(capabilities: .routes)
    let gated = registry(transport, try Route("127.0.0.1", gate: DialGate()))
    let error = await failure { try await gated.load(URLRequest(url: .example)) }
    #expect(error.flatMap(cause)?.code == .transportIncapable)
    #expect(transport.loads.all.isEmpty)
    let open = registry(transport, try Route("127.0.0.1"))
    _ = try await open.load(URLRequest(url: .example))
    #expect(transport.loads.all.map(\.route?.address) == ["127.0.0.1"])
    for registry in [gated, open] { registry.invalidate() }
  }

  @Test(
    "a route can limit the time until its connection is open: then nothing was sent; an open connection takes none",
    .enabled(if: Platform.hasCurl, "only CurlTransport has routes and closes connections"))
  func connectTimeout() async throws {
    let silent = try await TestOrigin.start(tls: .init(authority: try TestAuthority()), behaviour: .silent)
    let limited = registry(
      try #require(Platform.curlTransport()),
      try Route("127.0.0.1", port: silent.port, connectTimeout: .milliseconds(50)))
    let error = await failure { try await limited.load(URLRequest(url: silent.url("/hello"))) } as? URLError
    #expect(error?.code == .timedOut)
    #expect((error?.userInfo[NSUnderlyingErrorKey] as? TransportError)?.requestBytesSent == 0)
    try await withOrigin { origin in
      let registry = registry(
        try #require(Platform.curlTransport()), try Route("127.0.0.1", port: origin.port, connectTimeout: .seconds(30)))
      for _ in 0..<2 { _ = try await registry.data(for: URLRequest(url: origin.url("/hello"))) }
      #expect(origin.connectionCount == 1)
      registry.invalidate()
    }
    limited.invalidate()
    await silent.stop()
  }

  @Test(
    "closes the idle connections to an address and port, and leaves those in use and those of other ports alone",
    .enabled(if: Platform.hasCurl, "only CurlTransport has routes and closes connections"))
  func idleConnections() async throws {
    let (origin, other) = (try await TestOrigin.start(), try await TestOrigin.start())
    let transport = try #require(Platform.curlTransport())
    let registry = InterceptorRegistry(transport: transport, configuration: .ephemeral) { Link.pass() }
    let running = try await registry.load(URLRequest(url: origin.url("/gate/busy")))
    _ = try await registry.data(for: URLRequest(url: origin.url("/hello")))
    _ = try await registry.data(for: URLRequest(url: other.url("/hello")))
    #expect(origin.openConnectionCount == 2)
    transport.closeIdleConnections(to: "127.0.0.1", port: origin.port)
    await origin.until { $0.openConnectionCount == 1 }
    origin.release("still here", gate: "busy")
    origin.release(nil, gate: "busy")
    let text = try await running.body.collect(upTo: 100)
    #expect(String(decoding: text, as: UTF8.self) == "still here")
    _ = try await registry.data(for: URLRequest(url: other.url("/hello")))
    #expect(other.connectionCount == 1)
    registry.invalidate()
    transport.invalidate()
    for server in [origin, other] { await server.stop() }
  }

  @Test(
    "leaves a connection alone that a transfer is securing, when it closes the idle ones",
    .enabled(if: Platform.hasCurl, "only CurlTransport has routes and closes connections"))
  func connectionsBeingOpened() async throws {
    // Takes the connection, and never answers the first message of TLS.
    let (securing, other) = (
      try await TestOrigin.start(hosts: ["127.0.0.1"], behaviour: .silent), try await TestOrigin.start()
    )
    let transport = try #require(Platform.curlTransport())
    let registry = InterceptorRegistry(transport: transport, configuration: .ephemeral) { Link.pass() }
    let url = try #require(URL(string: "https://127.0.0.1:\(securing.port)/"))
    let pending = Task { try await registry.load(URLRequest(url: url)) }
    await securing.until { $0.openConnectionCount == 1 && !$0.rawBytes.joined().isEmpty }
    transport.closeIdleConnections(to: "127.0.0.1", port: securing.port)
    // By the end of a load that began afterwards it has been done.
    _ = try await registry.data(for: URLRequest(url: other.url("/hello")))
    _ = try await registry.data(for: URLRequest(url: other.url("/hello")))
    #expect(securing.openConnectionCount == 1 && securing.connectionCount == 1)
    pending.cancel()
    await #expect(throws: URLError.self) { try await pending.value }
    registry.invalidate()
    transport.invalidate()
    for server in [securing, other] { await server.stop() }
  }
}
