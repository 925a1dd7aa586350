#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  @testable import WaylayHosts

  /// Connections on which nothing comes any more, as after a NAT has forgotten them.
  @Suite("Connections that have died", .timeLimit(.minutes(5)))
  struct DeadConnectionTests {
    /// A server with HTTP/2 that says nothing on its first connection once it is told to.
    private func withServer(_ body: (TestOrigin, CurlTransport, Locked<Bool>) async throws -> Void) async throws {
      let authority = try TestAuthority()
      let origin = try await TestOrigin.start(tls: .init(authority: authority, names: ["api.test"]))
      let isDead = Locked(false)
      origin.reply(to: "/") { request in
        request.connection == 1 && isDead.withLock { $0 }
          ? Reply(200, [], .never) : .text("connection \(request.connection)")
      }
      let transport = CurlTransport(trusting: authority)
      do {
        try await body(origin, transport, isDead)
      } catch {
        await origin.stop()
        throw error
      }
      transport.invalidate()
      await origin.stop()
    }

    private func registry(_ transport: CurlTransport, _ rewriter: HostRewriter) -> InterceptorRegistry {
      InterceptorRegistry(transport: transport, configuration: .ephemeral) { rewriter }
    }

    @Test("a request on a kept connection that is silent is sent on another one too, and the dead one is closed")
    func hedged() async throws {
      try await withServer { origin, transport, isDead in
        let time = StepClock()
        let rewriter = HostRewriter(
          rules: try HostRules(["api.test": ["127.0.0.1"]]), policy: .require, clock: time.clock)
        let registry = registry(transport, rewriter)
        let url = origin.url("/", host: "api.test")
        #expect(try await registry.text(url) == "connection 1")
        isDead.withLock { $0 = true }
        // Nothing has come from there for a while.
        time.advance(by: .seconds(5))
        async let hedged = registry.text(url)
        await origin.until { $0.requests.count == 2 }
        time.advance(by: .seconds(3))
        #expect(try await hedged == "connection 2")
        await origin.until { $0.openConnectionCount == 1 }
        #expect(try await registry.text(url) == "connection 2")
        #expect(rewriter.counters.failures == 0)
        registry.invalidate()
      }
    }

    @Test("after a timeout without a byte the connection is not used again")
    func retired() async throws {
      try await withServer { origin, transport, isDead in
        let (time, load) = (StepClock(), ManualClock())
        let rewriter = HostRewriter(
          rules: try HostRules(["api.test": ["127.0.0.1"]]), policy: .require, clock: time.clock)
        let registry = InterceptorRegistry(clock: load.clock, transport: transport, configuration: .ephemeral) {
          rewriter
        }
        var request = URLRequest(url: origin.url("/", host: "api.test"))
        _ = try await registry.data(for: request)
        isDead.withLock { $0 = true }
        request.timeoutInterval = 10
        request.httpMethod = "POST"
        async let code = failureCode { [request] in try await registry.data(for: request) }
        await origin.until { $0.requests.count == 2 }
        time.advance(by: .seconds(10))
        load.advance(by: 10)
        #expect(await code == .timedOut)
        await origin.until { $0.openConnectionCount == 0 }
        let data = try await registry.data(for: request).0
        #expect(String(decoding: data, as: UTF8.self) == "connection 2")
        registry.invalidate()
      }
    }

    @Test("when the network changes all connections are closed, and what may be sent again is")
    func networkChange() async throws {
      try await withServer { origin, transport, isDead in
        var policy = HostRewriter.Policy.require
        policy.silenceTimeout = nil
        let rewriter = HostRewriter(rules: try HostRules(["api.test": ["127.0.0.1"]]), policy: policy)
        let registry = registry(transport, rewriter)
        let url = origin.url("/", host: "api.test")
        _ = try await registry.text(url)
        isDead.withLock { $0 = true }
        // As many as can be on one connection (U21).
        let count = CurlTransport.canMultiplex ? 10 : 1
        let waiting = (0..<count).map { _ in Task { try await registry.text(url) } }
        await origin.until { $0.requests.count == 1 + count }
        rewriter.networkChanged()
        for load in waiting { #expect(try await load.value == "connection 2") }
        #expect(origin.connectionCount == 2 && rewriter.counters.bans == 0)
        registry.invalidate()
      }
    }

    @Test("an address whose body is cut is left by the requests after it")
    func cutBody() async throws {
      let servers = [
        try await TestOrigin.start(hosts: ["127.0.0.1"]), try await TestOrigin.start(hosts: ["127.0.0.2"]),
      ]
      servers[0].reply(to: "/") { _ in Reply(200, [], .truncated(Data(count: 16_384), declared: 100_000)) }
      servers[1].reply(to: "/") { _ in Reply(200, [], .whole(Data(count: 100_000))) }
      let rules = try HostRules(["api.test": ["127.0.0.1:\(servers[0].port)", "127.0.0.2:\(servers[1].port)"]])
      let registry = registry(CurlTransport(trusting: nil), HostRewriter(rules: rules, policy: .require))
      let url = try #require(URL(string: "http://api.test/"))
      var counts: [Int?] = []
      for _ in 0..<5 { counts.append(try? await registry.data(for: URLRequest(url: url)).0.count) }
      #expect(counts == [nil, 100_000, 100_000, 100_000, 100_000])
      registry.invalidate()
      for server in servers { await server.stop() }
    }

    @Test(
      "routed requests go to their addresses, whatever proxy the environment names; others go through it", .exitTest)
    func proxy() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let origin = try await TestOrigin.start()
        setenv("http_proxy", "http://127.0.0.1:1", 1)
        setenv("https_proxy", "http://127.0.0.1:1", 1)
        let rewriter = HostRewriter(rules: try HostRules(["api.test": ["127.0.0.1"]]), policy: .require)
        let registry = InterceptorRegistry(configuration: .ephemeral) { rewriter }
        let text = try await registry.text(origin.url("/hello", host: "api.test"))
        Process.require(text == "hello", "the answer was \(text)")
        let code = await failureCode { try await registry.text(origin.url("/hello", host: "other.test")) }
        Process.require(code == .cannotConnectToHost, "a request without a rule ended with \(code?.rawValue ?? 0)")
        registry.invalidate()
        await origin.stop()
      }
    }

    @Test("a rewriter that yields to a proxy of the system leaves a request to it as long as it is set", .exitTest)
    func yields() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let (origin, proxy) = (try await TestOrigin.start(), try await TestOrigin.start())
        for name in ["all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"] { unsetenv(name) }
        setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
        var policy = HostRewriter.Policy.require
        policy.yieldsToSystemProxy = true
        let rewriter = HostRewriter(rules: try HostRules(["api.test": ["127.0.0.1"]]), policy: policy)
        let registry = InterceptorRegistry(configuration: .ephemeral) { rewriter }
        let url = origin.url("/hello", host: "api.test")
        let summary = await rewriter.explain(url).summary
        Process.require(summary.contains("a proxy of the system"), summary)
        _ = try? await registry.text(url)
        Process.require(proxy.connectionCount == 1 && origin.connectionCount == 0, "the proxy was not used")
        setenv("no_proxy", "other.test, .api.test", 1)
        let excepted = try await registry.text(url)
        Process.require(excepted == "hello", "with an exception: \(excepted)")
        unsetenv("http_proxy")
        unsetenv("no_proxy")
        let direct = try await registry.text(url)
        Process.require(direct == "hello", "without a proxy: \(direct)")
        registry.invalidate()
        await origin.stop()
        await proxy.stop()
      }
    }

    @Test(
      "which variables name a proxy for a URL, and which hosts are excepted",
      arguments: [
        (["https_proxy": "http://p:1"], "https://api.test/", true),
        (["HTTPS_PROXY": "http://p:1"], "https://a.b/", true),
        (["HTTP_PROXY": "http://p:1"], "http://api.test/", false),
        (["http_proxy": "http://p:1"], "https://a.b/", false),
        (["ALL_PROXY": "socks5://p:1"], "http://api.test/", true), (["all_proxy": ""], "https://api.test/", false),
        (["all_proxy": "http://p:1", "no_proxy": "*"], "https://api.test/", false),
        (["all_proxy": "http://p:1", "NO_PROXY": "x.y,test"], "https://API.test/", false),
        (["all_proxy": "http://p:1", "no_proxy": "pi.test"], "https://api.test/", true),
      ] as [([String: String], String, Bool)])
    func variables(_ environment: [String: String], _ url: String, _ isSet: Bool) throws {
      #expect(SystemProxy.isSet(for: try #require(URL(string: url)), environment) == isSet)
    }
  }
#endif
