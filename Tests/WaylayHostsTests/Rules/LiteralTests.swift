// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  @testable import WaylayHosts

  /// URLs whose host is the literal of an address.
  @Suite("Literals in URLs", .timeLimit(.minutes(5)))
  struct LiteralTests {
    /// Takes part in every request: one that no interceptor accepts goes the system's way in a session, which refuses
    /// IPv6 literals (U22).
    private struct Passing: RequestInterceptor {
      func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse
      {
        try await next(request)
      }
    }

    @Test("of IPv6 are loaded, with and without a rule for everything, in direct loads and in a session")
    func leftAlone() async throws {
      let origin = try await TestOrigin.start(hosts: ["::1"])
      let url = try #require(URL(string: "http://[::1]:\(origin.port)/hello"))
      let everything = HostRewriter(rules: try HostRules(["*": ["192.0.2.1"]]), policy: .require)
      for rewriter in [everything, HostRewriter(rules: .none)] {
        let registry = InterceptorRegistry(configuration: .ephemeral) {
          Passing()
          rewriter
        }
        #expect(try await registry.text(url) == "hello")
        let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
        #expect(String(decoding: try await session.data(from: url).0, as: UTF8.self) == "hello")
        #expect(rewriter.counters.requests == 0)
        session.invalidateAndCancel()
        registry.invalidate()
      }
      #expect(
        origin.requests.allSatisfy {
          $0.fields.contains { $0.name.lowercased() == "host" && $0.value == "[::1]:\(origin.port)" }
        })
      await origin.stop()
    }

    @Test("lead where a rule that names them says; a name leads to an IPv6 address where its rule says that")
    func routed() async throws {
      let origin = try await TestOrigin.start(hosts: ["127.0.0.1", "::1"])
      let rewriter = HostRewriter(
        rules: try HostRules(["[2001:db8::9]:\(origin.port)": ["127.0.0.1"], "api.test": ["[::1]:\(origin.port)"]]),
        policy: .require)
      let registry = InterceptorRegistry(configuration: .ephemeral) { rewriter }
      let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
      for text in [
        "http://[2001:db8::9]:\(origin.port)/hello", "http://[2001:DB8:0::9]:\(origin.port)/hello",
        "http://api.test/hello",
      ] {
        let url = try #require(URL(string: text))
        #expect(try await registry.text(url) == "hello")
        #expect(String(decoding: try await session.data(from: url).0, as: UTF8.self) == "hello")
      }
      #expect(rewriter.counters.requests == 6 && rewriter.counters.systemFallbacks == 0)
      session.invalidateAndCancel()
      registry.invalidate()
      await origin.stop()
    }

    @Test("of a host that has a thousand addresses, 64 are tried and looked at")
    func bounded() async throws {
      let addresses = (0..<1_000).map { "192.0.\($0 / 250).\($0 % 250 + 1)" }
      let rewriter = HostRewriter(rules: try HostRules(["api.test": addresses]))
      let url = try #require(URL(string: "https://api.test/"))
      #expect(await rewriter.explain(url).candidates.count == 64)
    }

    @Test(
      """
      a routed request never goes through the proxy that the environment names; one that is not does, and no_proxy \
      counts
      """,
      .exitTest
    )
    func proxy() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let proxy = try await TestOrigin.start()
        let origin = try await TestOrigin.start()
        setenv("http_proxy", proxy.url().absoluteString, 1)
        setenv("no_proxy", "direct.test", 1)
        let rewriter = HostRewriter(
          rules: try HostRules(["*.routed.test": ["127.0.0.1:\(origin.port)"]]), policy: .require)
        let registry = InterceptorRegistry(configuration: .ephemeral) { rewriter }
        func load(_ text: String) async throws -> String {
          guard let url = URL(string: text) else { throw URLError(.badURL) }
          return String(decoding: try await registry.data(for: URLRequest(url: url)).0, as: UTF8.self)
        }
        Process.require(
          try await load("http://api.routed.test/hello") == "hello", "the routed request was not answered")
        Process.require(proxy.connectionCount == 0, "a routed request went to the proxy")
        _ = try await load("http://plain.test/hello")
        Process.require(
          proxy.requests.map(\.target) == ["http://plain.test/hello"], "the proxy saw \(proxy.requests.map(\.target))")
        _ = try? await load("http://direct.test/hello")
        Process.require(proxy.requests.count == 1, "no_proxy does not count")
        // A dead proxy is nothing to a routed host: none of its addresses suffers.
        await proxy.stop()
        Process.require(
          try await load("http://api.routed.test/hello") == "hello", "the routed request was not answered")
        Process.require(rewriter.counters.bans == 0, "an address was banned")
        registry.invalidate()
        await origin.stop()
      }
    }
  }
#endif
