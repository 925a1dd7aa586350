// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayHosts

  /// An app that has many requests under way while an address of its server dies. Time passes only when a test says so.
  @Suite("Traffic, and an address that dies", .timeLimit(.minutes(5)))
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
      static let silence = Duration.seconds(3)

      let time = StepClock()
      let wire: Wire
      let servers: [TestOrigin]
      let rewriter: HostRewriter
      let registry: InterceptorRegistry
      let url: URL

      init(_ wire: Wire, count: Int = 2) async throws {
        self.wire = wire
        let authority = try TestAuthority()
        var tls = wire == .http ? nil : TestOrigin.TLS(authority: authority, names: ["api.test"])
        if wire == .https { tls?.applicationProtocols = ["http/1.1"] }
        var servers: [TestOrigin] = []
        for number in 1...count { servers.append(try await TestOrigin.start(hosts: ["127.0.0.\(number)"], tls: tls)) }
        self.servers = servers
        var policy = HostRewriter.Policy.require
        policy.silenceTimeout = Self.silence
        // The connection to a proven address may take as long as a busy machine needs.
        policy.connectionAttemptDelay = .seconds(60)
        rewriter = HostRewriter(
          rules: try HostRules(["api.test": servers.map { "\($0.hosts[0]):\($0.port)" }]), policy: policy,
          clock: time.clock)
        registry = InterceptorRegistry(transport: CurlTransport(trusting: authority), configuration: .ephemeral) {
          [rewriter] in rewriter
        }
        url = try #require(URL(string: "\(wire == .http ? "http" : "https")://api.test/"))
        for (number, server) in servers.enumerated() { server.reply(to: "/") { _ in .text("\(number)") } }
      }

      /// How many requests are with a server at once: one on each of six connections, or all of them on one.
      func atOnce(of count: Int) -> Int { wire == .http2 && CurlTransport.canMultiplex ? count : min(count, 6) }

      /// Begins requests, and gives the answers in the order in which they come.
      func load(_ count: Int, _ body: (inout ThrowingTaskGroup<String, any Error>) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: String.self) { group in
          for number in 0..<count {
            group.addTask { [registry, url] in
              try await registry.text(try #require(URL(string: "\(url.absoluteString)?\(number)")))
            }
          }
          try await body(&group)
        }
      }

      /// Proves the first address, and keeps as many connections to it as there may be.
      func warmUp() async throws {
        let server = servers[0]
        #expect(try await registry.text(url) == "0")
        server.reply(to: "/") { request in .text("0").with { $0.gate = request.target } }
        let count = atOnce(of: 6)
        try await load(count) { group in
          await server.until { $0.requests.count == 1 + count }
          for request in server.requests.dropFirst() { server.release(nil, gate: request.target) }
          for try await answer in group { #expect(answer == "0") }
        }
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
      "costs at most the silence once, and nothing once it is known", .heavy,
      arguments: Wire.allCases, Death.allCases)
    func death(wire: Wire, death: Death) async throws {
      let pair = try await Pair(wire)
      try await pair.warmUp()
      pair.kill(death)
      let (count, before) = (20, pair.servers[0].requests.count)
      try await pair.load(count) { group in
        await pair.servers[0].until { $0.requests.count == before + pair.atOnce(of: count) }
        pair.time.advance(by: Pair.silence)
        // No time passes any more: what had to wait for something else would wait for ever.
        var answers = 0
        for try await _ in group { answers += 1 }
        #expect(answers == count)
      }
      try await pair.load(count) { group in try await group.waitForAll() }
      #expect(pair.rewriter.counters.failures == 0)
      await pair.stop()
    }

    @Test(
      "one address, whose kept connections die, costs the silence once, though all of them are taken", .heavy,
      arguments: Wire.allCases)
    func onlyOne(wire: Wire) async throws {
      let pair = try await Pair(wire, count: 1)
      try await pair.warmUp()
      pair.kill(.keptConnections)
      let (count, before) = (20, pair.servers[0].requests.count)
      try await pair.load(count) { group in
        await pair.servers[0].until { $0.requests.count == before + pair.atOnce(of: count) }
        pair.time.advance(by: Pair.silence)
        for try await answer in group { #expect(answer == "0") }
      }
      await pair.stop()
    }

    @Test(
      "waiting for a free connection is no silence: each of many requests is received once, on few connections", .heavy,
      arguments: [Wire.http, .https])
    func queue(wire: Wire) async throws {
      let pair = try await Pair(wire)
      try await pair.warmUp()
      let server = pair.servers[0]
      let before = server.requests.count
      let (count, atOnce) = (48, pair.atOnce(of: 48))
      try await pair.load(count) { group in
        for round in 1...count / atOnce {
          await server.until { $0.requests.count == before + round * atOnce }
          // The last wait for a connection much longer than the silence, and nobody for a response.
          pair.time.advance(by: Pair.silence * 2 / 3)
          for request in server.requests.suffix(atOnce) { server.release(nil, gate: request.target) }
          for _ in 0..<atOnce {
            let answer = try await group.next()
            #expect(answer == "0")
          }
        }
      }
      #expect(server.requests.count == before + count && pair.servers[1].requests.isEmpty)
      #expect(server.connectionCount <= 6)
      await pair.stop()
    }
  }
#endif
