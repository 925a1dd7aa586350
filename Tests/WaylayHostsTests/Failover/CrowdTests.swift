// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import HijackLab
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayHosts

  /// Many requests at once through one transport, as an app starts.
  ///
  /// A hundred of them unless `WAYLAY_CROWD` says another number.
  @Suite("Hijackers and a crowd of requests", .timeLimit(.minutes(10)))
  struct CrowdTests {
    private static let crowd = ProcessInfo.processInfo.environment["WAYLAY_CROWD"].flatMap { Int($0) } ?? 100

    /// How many of so many loads get the good server's answer.
    private func answered(
      _ count: Int, _ url: URL, _ registry: InterceptorRegistry, timeout: TimeInterval = 15
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
        // On a busy machine the good server may be silent for seconds: a GET would be asked for twice then.
        var policy = HostRewriter.Policy.require
        policy.silence = nil
        let (registry, rewriter) = try lab.routed(hijackers.map(\.address) + ["127.0.0.1"], policy)
        let (alone, _) = try lab.routed(hijackers.map(\.address) + ["127.0.0.1"], policy)
        let clock = ContinuousClock()
        let one = await clock.measure { #expect(await answered(1, lab.url(), alone) == 1) }
        alone.invalidate()
        let all = await clock.measure {
          #expect(await answered(Self.crowd, lab.url(), registry, timeout: 60) == Self.crowd)
        }
        // Written down and not expected: the machine may be busy with other tests.
        print("one: \(one), \(Self.crowd) at once: \(all)")
        for hijacker in hijackers { #expect((lab.server(hijacker)?.connectionCount ?? 1) < 10, "\(hijacker)") }
        #expect(rewriter.counters.failures == 0)
        #expect(lab.leaks() == [])
        #expect(lab.good.requests.count == Self.crowd + 1)
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
      let rewriter = HostRewriter(
        rules: try HostRules(["api.test": ["127.0.0.1:\(servers[0].port)", "127.0.0.2:\(servers[1].port)"]]),
        policy: .require)
      let registry = InterceptorRegistry(transport: CurlTransport(trusting: authority), configuration: .ephemeral) {
        rewriter
      }
      let url = try #require(URL(string: "https://api.test/hello"))
      _ = try await registry.text(url)
      await servers[0].stop()
      let silent = try await TestOrigin.start(hosts: ["127.0.0.1"], port: servers[0].port, behaviour: .silent)
      let codes = await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<60 { group.addTask { (try? await registry.text(url)) == "hello" } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(codes.filter(\.self).count == 60)
      // One after the other each would have tried it, for a quarter of a second. Some may come later than the others.
      #expect(silent.connectionCount < 20)
      registry.invalidate()
      for server in [silent, servers[1]] { await server.stop() }
    }
  }
#endif
