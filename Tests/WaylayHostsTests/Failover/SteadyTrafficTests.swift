// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayHosts

  /// An app that asks its server twenty times a second, while an address of the server dies.
  @Suite("Steady traffic, and an address that dies", .timeLimit(.minutes(5)))
  struct SteadyTrafficTests {
    enum Wire: String, CaseIterable, CustomTestStringConvertible {
      case http, https, http2

      var testDescription: String { rawValue }
    }

    /// How an address dies.
    enum Death: String, CaseIterable, CustomTestStringConvertible {
      /// It accepts and says nothing; its kept connections say nothing either.
      case all
      /// Kept connections alone say nothing, as after a NAT has forgotten them.
      case keptConnections

      var testDescription: String { rawValue }
    }

    /// Two servers for one name, and a registry that leads to both, to the first by preference.
    private struct Pair {
      let servers: [TestOrigin]
      let rewriter: HostRewriter
      let registry: InterceptorRegistry
      let url: URL
      let isDead = Locked(false)

      init(_ wire: Wire, silence: Duration, count: Int = 2) async throws {
        let authority = try TestAuthority()
        var tls = wire == .http ? nil : TestOrigin.TLS(authority: authority, names: ["api.test"])
        if wire == .https { tls?.applicationProtocols = ["http/1.1"] }
        var servers: [TestOrigin] = []
        for number in 1...count { servers.append(try await TestOrigin.start(hosts: ["127.0.0.\(number)"], tls: tls)) }
        self.servers = servers
        var policy = HostRewriter.Policy.require
        policy.silence = silence
        rewriter = HostRewriter(
          rules: try HostRules(["api.test": servers.map { "\($0.hosts[0]):\($0.port)" }]), policy: policy)
        registry = InterceptorRegistry(transport: CurlTransport(trusting: authority), configuration: .ephemeral) {
          [rewriter] in rewriter
        }
        url = try #require(URL(string: "\(wire == .http ? "http" : "https")://api.test/"))
        for (number, server) in servers.enumerated() { server.reply(to: "/") { _ in .text("\(number)") } }
      }

      /// From now on the first address says nothing.
      func kill(_ death: Death) {
        let last = servers[0].connectionCount
        servers[0].reply(to: "/") { request in
          death == .all || request.connection <= last ? Reply(200, [], .never) : .text("0")
        }
        if death == .all { servers[0].behaviour = .silent }
      }

      func stop() async {
        registry.invalidate()
        for server in servers { await server.stop() }
      }
    }

    @Test(
      "costs at most the silence once, and no request its timeout", .heavy,
      arguments: Wire.allCases, Death.allCases)
    func death(wire: Wire, death: Death) async throws {
      let silence = Duration.seconds(1)
      let pair = try await Pair(wire, silence: silence)
      let clock = ContinuousClock()
      let times = await withTaskGroup(of: (sent: Duration, took: Duration, error: String?).self) { group in
        let start = clock.now
        for number in 0..<80 {
          if number == 20 { pair.kill(death) }
          group.addTask {
            let begin = clock.now
            let error = await failure {
              try await pair.registry.data(for: URLRequest(url: pair.url, timeoutInterval: 15))
            }
            return (start.duration(to: begin), begin.duration(to: .now), error.map { "\($0)" })
          }
          try? await Task.sleep(until: start + .milliseconds(50 * (number + 1)))
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(times.compactMap(\.error) == [])
      let longest = times.map(\.took).max() ?? .zero
      print("\(wire) \(death): the longest took \(longest); \(times.count { $0.took > silence / 2 }) waited")
      // On a busy machine what follows the silence takes time, too.
      #expect(longest < silence * 5)
      // Once it is known nobody waits any more.
      let late = times.filter { $0.sent > .seconds(1) + silence * 2 }
      #expect(late.count > 5 && late.count { $0.took > silence / 2 } * 4 < late.count)
      await pair.stop()
    }

    @Test(
      "one address, whose kept connections die: no request its timeout, though all of them are taken", .heavy,
      arguments: Wire.allCases)
    func onlyOne(wire: Wire) async throws {
      let pair = try await Pair(wire, silence: .seconds(1), count: 1)
      func answered(_ count: Int) async -> Int {
        await withTaskGroup(of: Bool.self) { group in
          for _ in 0..<count {
            group.addTask {
              (try? await pair.registry.data(for: URLRequest(url: pair.url, timeoutInterval: 15))) != nil
            }
          }
          return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
      }
      #expect(await answered(12) == 12)
      pair.kill(.keptConnections)
      let time = await ContinuousClock().measure { #expect(await answered(20) == 20) }
      #expect(time < .seconds(8))
      await pair.stop()
    }

    @Test(
      "waiting for a free connection is no silence: each of many requests is received once, on few connections", .heavy,
      arguments: [Wire.http, .https])
    func queue(wire: Wire) async throws {
      let pair = try await Pair(wire, silence: .seconds(3))
      // 48 requests on 6 connections: the last waits longer than the silence.
      pair.servers[0].reply(to: "/") { _ in .text("0").with { $0.delay = 500 } }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<48 { group.addTask { _ = try await pair.registry.data(for: URLRequest(url: pair.url)) } }
        try await group.waitForAll()
      }
      let received = pair.servers.map(\.requests.count)
      #expect(received.reduce(0, +) == 48)
      let connections = pair.servers.map(\.connectionCount)
      #expect(connections.allSatisfy { $0 <= 6 }, "\(connections), \(received)")
      await pair.stop()
    }
  }
#endif
