// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import HijackLab
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayHosts

  /// Has connections take no time, as far as those before it are told: an address is dialled without a race only where
  /// it was connected in less than half of the stagger, which a busy machine may not manage.
  private struct QuickHandshakes: RequestInterceptor {
    func startLoading(
      _ request: InterceptedRequest, next: InterceptorChain.Next
    ) async throws -> InterceptedResponse {
      var response = try await next(request)
      response.metrics?.connect = .zero
      response.metrics?.secureConnection = .zero
      return response
    }
  }

  /// Many requests at once through one transport, as an app starts.
  ///
  /// A hundred of them unless `WAYLAY_CROWD` says another number.
  @Suite("Hijackers and a crowd of requests", .timeLimit(.minutes(10)))
  struct CrowdTests {
    private static let crowd = ProcessInfo.processInfo.environment["WAYLAY_CROWD"].flatMap { Int($0) } ?? 100

    /// How many of so many loads get the good server's answer.
    private func answered(
      _ count: Int, _ url: URL, _ registry: InterceptorRegistry, timeout: TimeInterval = 120
    ) async -> Int {
      await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<count {
          group.addTask {
            let data = try? await registry.data(for: URLRequest(url: url, timeoutInterval: timeout)).0
            return data.map { String(decoding: $0, as: UTF8.self) == HijackLab.answer } ?? false
          }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
    }

    @Test(
      "a silent address in front fails none of many requests at once, each of which nobody waits for", .heavy,
      arguments: [7, 20, 100])
    func silentFirst(count: Int) async throws {
      try await HijackLab.with(isSecure: true) { lab in
        let (registry, rewriter) = try lab.routed([Hijacker.silence.address, "127.0.0.1"])
        let silent = try #require(lab.server(.silence))
        #expect(await answered(count, lab.url(), registry) == count)
        // At most one of them has tried it at a time, and the others knew.
        #expect(silent.connectionCount == 1)
        #expect(rewriter.counters.failures == 0)
        #expect(lab.leaks() == [])
        registry.invalidate()
      }
    }

    @Test(
      "five bad addresses in front of the good one are found bad by one request for all of a hundred", .heavy,
      arguments: [
        [Hijacker.silence, .blackHole, .rogueCertificate, .close, .refusal],
        [.wrongName, .reset, .portal, .silence, .rogueCertificate],
        [.portal, .refusal, .wrongName, .blackHole, .reset],
      ])
    func fiveFirst(hijackers: [Hijacker]) async throws {
      try await HijackLab.with(isSecure: true) { lab in
        let (registry, rewriter) = try lab.routed(hijackers.map(\.address) + ["127.0.0.1"])
        #expect(await answered(Self.crowd, lab.url(), registry) == Self.crowd)
        for hijacker in hijackers { #expect((lab.server(hijacker)?.connectionCount ?? 1) < 10, "\(hijacker)") }
        #expect(rewriter.counters.failures == 0)
        #expect(lab.leaks() == [])
        #expect(lab.good.requests.count == Self.crowd)
        registry.invalidate()
      }
    }

    @Test("when a proven address goes silent, all of sixty requests leave it together", .heavy)
    func provenGoesSilent() async throws {
      let authority = try TestAuthority()
      let servers = try await [
        TestOrigin.start(hosts: ["127.0.0.1"], tls: .init(authority: authority, names: ["api.test"])),
        TestOrigin.start(hosts: ["127.0.0.2"], tls: .init(authority: authority, names: ["api.test"])),
      ]
      // The stagger is how long the connection to a proven address may take: all sixty have asked for it by then. No
      // other time passes, so that a busy machine has no address asked beside another.
      var policy = HostRewriter.Policy.patient
      policy.connectionAttemptDelay = .milliseconds(900)
      let rewriter = HostRewriter(
        rules: try HostRules(["api.test": ["127.0.0.1:\(servers[0].port)", "127.0.0.2:\(servers[1].port)"]]),
        policy: policy, clock: StepClock().clock)
      let registry = InterceptorRegistry(transport: CurlTransport(trusting: authority), configuration: .ephemeral) {
        rewriter
        QuickHandshakes()
      }
      let url = try #require(URL(string: "https://api.test/hello"))
      // Nothing is kept of the connection that proves the first one.
      servers[0].reply(to: "/hello") { _ in .text("hello").with { $0.hangsUp = true } }
      _ = try await registry.text(url)
      await servers[0].until { $0.openConnectionCount == 0 }
      servers[0].behaviour = .silent
      let codes = await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<60 { group.addTask { (try? await registry.text(url)) == "hello" } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(codes.filter(\.self).count == 60)
      // One after the other each would have tried it. Some may come later than the others.
      #expect(servers[0].connectionCount - 1 < 20)
      registry.invalidate()
      for server in servers { await server.stop() }
    }
  }
#endif
