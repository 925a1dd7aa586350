// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayHosts

  @Suite("Connections that requests share", .timeLimit(.minutes(5)))
  struct SharedConnectionTests {
    /// A server, and a registry that leads `api.test` there.
    private func with(
      _ protocols: [String]?, limit: Int? = nil,
      _ body: (TestOrigin, InterceptorRegistry, _ url: (String) throws -> URL) async throws -> Void
    ) async throws {
      let authority = try TestAuthority()
      var tls = protocols.map { _ in TestOrigin.TLS(authority: authority, names: ["api.test"]) }
      if let protocols { tls?.applicationProtocols = protocols }
      let origin = try await TestOrigin.start(tls: tls)
      var options = CurlTransport.Options()
      options.additionalAuthorities = [Data(authority.pem.utf8)]
      options.maximumConnectionsPerHost = limit
      let rewriter = HostRewriter(
        rules: try HostRules(["api.test": ["127.0.0.1:\(origin.port)"]]), policy: .require)
      let registry = InterceptorRegistry(
        transport: CurlTransport(configuration: .ephemeral, options: options), configuration: .ephemeral
      ) { rewriter }
      try await body(origin, registry) {
        try #require(URL(string: "\(protocols == nil ? "http" : "https")://api.test\($0)"))
      }
      registry.invalidate()
      await origin.stop()
    }

    @Test(
      "one connection to a host is one, with many requests at once",
      arguments: [nil, ["http/1.1"], ["h2", "http/1.1"]])
    func limit(protocols: [String]?) async throws {
      try await with(protocols, limit: 1) { origin, registry, url in
        origin.reply(to: "/") { _ in .text("here").with { $0.delay = 20 } }
        let address = try url("/")
        for _ in 0..<2 {
          await withTaskGroup(of: Void.self) { group in
            for _ in 0..<12 { group.addTask { #expect((try? await registry.text(address)) == "here") } }
          }
        }
        #expect(origin.connectionCount == 1)
      }
    }

    @Test("cancelling the request that opens a connection leaves it to those that wait for it")
    func cancelledOpener() async throws {
      try await with(["h2"]) { origin, registry, url in
        origin.behaviour = .serveWhenReleased
        origin.reply(to: "/first") { _ in .text("first") }
        let (one, two) = (try url("/first"), try url("/hello"))
        let first = Task { try await registry.text(one) }
        await origin.until { $0.connectionCount == 1 }
        let others = (0..<6).map { _ in Task { try await registry.text(two) } }
        first.cancel()
        await #expect(throws: (any Error).self) { try await first.value }
        origin.behaviour = .serve
        origin.release(nil, gate: "connection 1")
        for load in others { #expect(try await load.value == "hello") }
        // Where each needs a connection of its own, nobody waits for this one.
        #expect(!CurlTransport.canMultiplex || origin.connections[0].handshakeFailure == nil)
        // Nothing of what was cancelled is sent.
        #expect(origin.requests(to: "/first").isEmpty)
      }
    }

    @Test("a connection that is opened for nobody is given up")
    func openedForNobody() async throws {
      try await with(["h2"]) { origin, registry, url in
        origin.behaviour = .silent
        let address = try url("/hello")
        let first = Task { try await registry.text(address) }
        await origin.until { $0.connectionCount == 1 }
        first.cancel()
        await origin.until { $0.openConnectionCount == 0 }
      }
    }
  }
#endif
