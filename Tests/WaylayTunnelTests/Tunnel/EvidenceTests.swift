#if Tunnel
  import Foundation
  import HijackLab
  import NIOCore
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayHosts

  @testable import WaylayTunnel

  /// What a client does says nothing about a server, but for its verdict on a certificate. `WAYLAY_SEED` chooses the first
  /// schedule.
  @Suite(
    "Evidence against servers", .enabled(if: Platform.hasLoopbackRange, "loopback has one address"),
    .enabled(if: TunnelRig.hasCurl, "no curl is installed"), .timeLimit(.minutes(10)))
  struct EvidenceTests {
    private static let url = URL(string: "https://api.test/")

    /// Runs a test with `api.test` at port 443, at the good server and behind hijackers or before them.
    private func with(
      _ front: [Hijacker] = [], behind: [Hijacker] = [], unusedAfter time: TimeAmount = .milliseconds(20),
      policy: HostRewriter.Policy = .require, _ body: (TunnelRig) async throws -> Void
    ) async throws {
      var limits = TunnelLimits()
      limits.firstFlightTime = time
      try await TunnelRig.with(policy: policy, limits: limits) { rig in
        let addresses = front.map(\.address) + ["127.0.0.1"] + behind.map(\.address)
        rig.rewriter.ruleSource.replace(
          with: try HostRules(["api.test:443": addresses.map { "\($0):\(rig.lab.port)" }]))
        try await body(rig)
      }
    }

    private func record(_ type: UInt8, _ length: Int) -> [UInt8] {
      [type, 3, 3, UInt8(length >> 8), UInt8(length & 255)] + [UInt8](repeating: 7, count: length)
    }

    // MARK: The client

    @Test("a proven address stays the first, whatever clients do that refuse no certificate, and end however", .heavy)
    func schedules() async throws {
      let first = ProcessInfo.processInfo.environment["WAYLAY_SEED"].flatMap { UInt64($0) } ?? 1
      try await with(behind: [.rogueCertificate]) { rig in
        let proof = try await rig.curl(.connect, Self.url)
        try #require(proof.output == HijackLab.answer, "\(proof)")
        for seed in first..<(first + UInt64(Sizes.of(3000, small: 120))) {
          let story = try await play(seed, rig)
          // What the tunnel has decided is in the records when the connections are over.
          while rig.tunnel.server?.connections.withLock({ $0.isEmpty }) == false { await Task.yield() }
          let states = await rig.states()
          #expect(states.first == "127.0.0.1 proven", "seed \(seed), \(story): \(states)")
          guard states.first == "127.0.0.1 proven" else { break }
        }
        #expect(try await rig.curl(.connect, Self.url).output == HijackLab.answer)
      }
    }

    /// Has a client do something, and end.
    private func play(_ seed: UInt64, _ rig: TunnelRig) async throws -> String {
      var random = SplitMix(state: seed)
      func pick<Value>(_ values: [Value]) -> Value { values[Int(random.next() % UInt64(values.count))] }
      let (client, received) = try await rig.secureClient()
      var story = [pick(["nothing", "late", "part", "hello", "hello", "hello", "text", "refused"])]
      let hello = Hello.record(host: "api.test")
      switch story[0] {
      case "late":
        try await rig.untilUnused()
        client.send(hello)
      case "part":
        client.send(Array(hello.prefix(1 + Int(random.next() % UInt64(hello.count - 1)))))
        if pick([true, false]) { try await rig.untilUnused() }
      case "hello": client.send(hello)
      case "text": client.send("GET / HTTP/1.1\r\nHost: api.test\r\n\r\n")
      case "refused":
        client.send(Hello.record(host: "api.test", cipher: 0x0A0A))
        await client.until { $0.count > received }
      default: if pick([true, false]) { try await rig.untilUnused() }
      }
      if ["late", "hello"].contains(story[0]), pick([true, true, false]) {
        await client.until { $0.count > received }
        story.append(pick(["flight", "flight", "finished", "cancelled"]))
        switch story[1] {
        case "finished": client.send(record(20, 1) + record(23, 53) + record(23, 17 + Int(random.next() % 9)))
        case "cancelled": client.send([21, 3, 3, 0, 2, 1, pick([0, 90])])
        default: break
        }
      }
      story.append(pick(["closes", "resets", "ends"]))
      switch story.last {
      case "closes": client.close()
      case "resets": client.reset()
      default:
        client.endOutput()
        if story.count == 2 { _ = await client.rest() } else { client.close() }
      }
      return story.joined(separator: ", ")
    }

    @Test("a client that refuses a certificate is believed the second time, with an alert or by a reset")
    func refused() async throws {
      // One address after the other: otherwise, beside load, the second one may be faster.
      var policy = HostRewriter.Policy.require
      policy.connectionAttemptDelay = nil
      for alert in [[21, 3, 3, 0, 2, 2, 48], []] as [[UInt8]] {
        try await with([.rogueCertificate], policy: policy) { rig in
          for _ in 0..<2 {
            let (client, received) = try await rig.secureClient()
            client.send(Hello.record(host: "api.test"))
            await client.until { $0.count > received }
            client.send(alert)
            client.reset()
            while rig.tunnel.server?.connections.withLock({ $0.isEmpty }) == false { await Task.yield() }
          }
          while await rig.states().last != "127.0.0.2 failed before" { await Task.yield() }
          #expect(try await rig.curl(.connect, Self.url).output == HijackLab.answer, "\(alert)")
          let states = await rig.states()
          #expect(states.last == "127.0.0.2 failed before", "\(alert): \(states)")
        }
      }
    }

    // MARK: Late first messages

    @Test(
      "a client that speaks late has its first message sent to each address until one speaks TLS", .heavy,
      arguments: [[.silence], [.reset], [.portal], [.close], [.refusal], [.blackHole], [.silence, .portal, .reset]]
        as [[Hijacker]], [0, 7])
    func late(_ front: [Hijacker], _ early: Int) async throws {
      try await with(front) { rig in
        let records = rig.tunnel.records.subscribe(bufferingNewest: 1)
        let (client, received) = try await rig.secureClient()
        let hello = Hello.record(host: "api.test")
        if early > 0 { client.send(Array(hello.prefix(early))) }
        try await rig.untilUnused()
        #expect(!client.isClosed && client.received.count == received)
        client.send(Array(hello.dropFirst(early)))
        await client.until { $0.count > received }
        #expect(client.received.dropFirst(received).first == 22, "\(client.received.dropFirst(received))")
        client.close()
        for await record in records {
          #expect(record.address == "127.0.0.1:\(rig.lab.port)")
          break
        }
        #expect(rig.lab.leaks() == [])
      }
    }

    @Test(
      "on another port, a client of TLS that speaks late is not left with an address that does not speak it")
    func chosen() async throws {
      var limits = TunnelLimits()
      limits.firstFlightTime = .milliseconds(20)
      try await TunnelRig.with([Hijacker.portal.address, "127.0.0.1"], limits: limits) { rig in
        let client = try await RawClient.connect(
          port: rig.tunnel.port ?? 0, "CONNECT api.test:\(rig.lab.port) HTTP/1.1\r\n\(rig.credentials())\r\n")
        let received = await client.until("200 Connection established\r\n\r\n").utf8.count
        let server = try #require(rig.tunnel.server)
        func hasChosen() async throws -> Bool {
          try await server.network.group.next().submit {
            server.connections.withLock { $0.contains { $0.flow?.winner != nil } }
          }.get()
        }
        while try await !hasChosen() { await Task.yield() }
        client.send(Hello.record(host: "api.test"))
        await client.until { $0.count > received }
        #expect(client.received.dropFirst(received).first == 22)
        client.close()
      }
    }

    // MARK: Alerts

    @Test("the alert of the only server arrives as an alert, and the connection ends as its server has ended it")
    func alert() async throws {
      for front in [[], [.reset], [.refusal, .portal]] as [[Hijacker]] {
        try await with(front) { rig in
          let (client, received) = try await rig.secureClient()
          client.send(Hello.record(host: "api.test", cipher: 0x0A0A))
          _ = await client.rest()
          let alert = Array(client.received.dropFirst(received))
          #expect(alert.count == 7 && alert.prefix(1) == [21] && alert[5] == 2, "\(alert)")
          // Another client may be welcome.
          #expect(try await rig.curl(.connect, Self.url).output == HijackLab.answer)
        }
      }
    }
  }
#endif
