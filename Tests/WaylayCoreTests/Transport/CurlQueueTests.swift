// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore

  /// Who waits for whom when many requests go through one transport.
  @Suite("CurlTransport, many at once", .timeLimit(.minutes(10)))
  struct CurlQueueTests {
    private func registry(trusting authority: TestAuthority?, connections: Int? = nil) -> InterceptorRegistry {
      var options = CurlTransport.Options()
      if let authority { options.additionalAuthorities = [Data(authority.pem.utf8)] }
      options.maximumConnectionsPerHost = connections
      return InterceptorRegistry(
        transport: CurlTransport(configuration: .ephemeral, options: options), configuration: .ephemeral
      ) { Link.pass() }
    }

    /// How many of so many loads were answered.
    private func answered(
      _ count: Int, _ url: URL, _ registry: InterceptorRegistry, timeout: TimeInterval = 120
    ) async -> Int {
      await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<count {
          group.addTask {
            let data = try? await registry.data(for: URLRequest(url: url, timeoutInterval: timeout)).0
            return data.map { String(decoding: $0, as: UTF8.self) == "hello" } ?? false
          }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
    }

    @Test("a server that says nothing holds up nobody's requests but its own", .heavy, arguments: [false, true])
    func silentNeighbour(isSecure: Bool) async throws {
      let authority = try TestAuthority()
      let silent = try await TestOrigin.start(hosts: ["127.0.0.1"], behaviour: .silent)
      let good = try await TestOrigin.start(
        hosts: ["127.0.0.2"], tls: isSecure ? .init(authority: authority, names: ["127.0.0.2"]) : nil)
      let registry = registry(trusting: authority)
      let scheme = isSecure ? "https" : "http"
      let deaf = try #require(URL(string: "\(scheme)://127.0.0.1:\(silent.port)/"))
      let waiting = (0..<20).map { _ in Task { _ = try await registry.data(for: URLRequest(url: deaf)) } }
      await silent.until { $0.openConnectionCount > 0 }
      #expect(await answered(20, good.url("/hello"), registry) == 20)
      // They still wait for it.
      #expect((1...6).contains(silent.openConnectionCount))
      for task in waiting { task.cancel() }
      for task in waiting { _ = await task.result }
      registry.invalidate()
      for server in [silent, good] { await server.stop() }
    }

    @Test(
      "opens no more connections to a server than it may, and one where they can share it", .heavy,
      arguments: [(["h2", "http/1.1"], CurlTransport.canMultiplex ? 1 : 3), (["http/1.1"], 3), ([], 3)])
    func limit(protocols: [String], most: Int) async throws {
      let authority = try TestAuthority()
      var tls = TestOrigin.TLS(authority: authority)
      tls.applicationProtocols = protocols
      let origin = try await TestOrigin.start(tls: protocols.isEmpty ? nil : tls)
      let registry = registry(trusting: authority, connections: 3)
      #expect(await answered(60, origin.url("/hello"), registry) == 60)
      #expect(origin.connectionCount <= most)
      registry.invalidate()
      await origin.stop()
    }

    @Test("those that wait for their turn can be cancelled, all of them, and leave the others alone")
    func cancelled() async throws {
      let silent = try await TestOrigin.start(behaviour: .silent)
      let registry = registry(trusting: nil)
      let loads = (0..<300).map { _ in Task { _ = try await registry.data(for: URLRequest(url: silent.url("/"))) } }
      await silent.until { $0.openConnectionCount == 6 }
      for load in loads { load.cancel() }
      for load in loads { #expect(await failureCode { try await load.value } == .cancelled) }
      await silent.until { $0.openConnectionCount == 0 }
      registry.invalidate()
      await silent.stop()
    }

    @Test(
      """
      waiting behind a connection that does not open counts as connecting: a route's limit ends all of them, with \
      nothing sent
      """
    )
    func limitedTogether() async throws {
      let silent = try await TestOrigin.start(tls: nil, behaviour: .silent)
      let route = try Route("127.0.0.1", port: silent.port, connectTimeout: .milliseconds(200))
      let registry = InterceptorRegistry(transport: CurlTransport(configuration: .ephemeral), configuration: .ephemeral)
      {
        Link { request, next in
          var request = request
          request.route = route
          return try await next(request)
        }
      }
      let url = try #require(URL(string: "https://api.test:\(silent.port)/"))
      let errors = await withTaskGroup(of: (any Error)?.self) { group in
        for _ in 0..<60 { group.addTask { await failure { try await registry.load(URLRequest(url: url)) } } }
        return await group.reduce(into: []) { $0.append($1 as? URLError) }
      }
      #expect(errors.allSatisfy { $0?.code == .timedOut })
      #expect(errors.allSatisfy { ($0?.userInfo[NSUnderlyingErrorKey] as? TransportError)?.requestBytesSent == 0 })
      registry.invalidate()
      await silent.stop()
    }
  }
#endif
