#if Tunnel
  import Foundation
  import HijackLab
  import NIOCore
  import NIOPosix
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayHosts

  @testable import WaylayTunnel

  /// Many clients, and clients that mean no good.
  @Suite("Storms against a tunnel", .enabled(if: TunnelRig.hasCurl, "no curl is installed"), .timeLimit(.minutes(10)))
  struct StormTests {
    @Test("many at once with dead addresses in front are all answered, and few try those that are known", .heavy)
    func atOnce() async throws {
      let count = Sizes.of(500, small: 40)
      // Patient: on a busy machine the living address is silent for 400 ms too.
      let addresses = ["127.0.0.6", "127.0.0.7", "127.0.0.8", "127.0.0.4", "127.0.0.1"]
      try await TunnelRig.with(addresses, isPatient: true) { rig in
        let more = [
          "--parallel", "--parallel-immediate", "--parallel-max", "\(count)", "--http1.1", "--no-progress-meter",
        ]
        let url = rig.lab.url("/?").absoluteString + "[1-\(count)]"
        func storm() async throws {
          let (code, output) = try await rig.curl(
            .connect, URL(string: rig.lab.url().absoluteString), more + [url], seconds: 60)
          #expect(code == 0)
          #expect(output.components(separatedBy: HijackLab.answer).count == count + 2, "\(output.prefix(500))")
        }
        // How many find out at first depends on how long the first one takes, which a busy machine decides.
        try await storm()
        let (silent, closed) = (rig.connections(.silence), rig.connections(.close))
        try await storm()
        #expect(rig.connections(.silence) - silent < 10)
        #expect(rig.connections(.close) - closed < 10)
      }
    }

    @Test("a thousand clients that go away, at whatever moment, leave the order of addresses as it was", .heavy)
    func cancelled() async throws {
      try await TunnelRig.with(["127.0.0.1", "::1"], isPatient: true) { rig in
        try await rig.expectAnswer(.connect)
        let before = await rig.rewriter.explain(rig.lab.url()).rows.map { "\($0.candidate)" }
        let head = "CONNECT api.test:\(rig.lab.port) HTTP/1.1\r\n\(rig.credentials())\r\n"
        let hello = Hello.record(host: "api.test")
        for round in 0..<Sizes.of(20, small: 4) {
          try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
              group.addTask {
                let client = try await RawClient.connect(port: rig.tunnel.port ?? 0)
                defer { client.close() }
                client.send(String(head.prefix(number % 5 == 0 ? head.count / 2 : head.count)))
                if number % 5 < 2 { return }
                await client.until("\r\n\r\n")
                if number % 5 < 3 { return }
                client.send(Array(hello.prefix(number % 2 == 0 ? hello.count / 2 : hello.count)))
                if number % 5 == 4, number % 2 == 1 { await client.until { $0.count > 60 } }
              }
            }
            try await group.waitForAll()
          }
          _ = round
        }
        let after = await rig.rewriter.explain(rig.lab.url()).rows
        #expect(after.map { "\($0.candidate)" } == before)
        #expect(after.allSatisfy { ["untried", "proven", "superseded before"].contains($0.state) }, "\(after)")
        try await rig.expectAnswer(.connect)
      }
    }

    @Test("a head that does not end, by time or by length, ends the connection")
    func endlessHeads() async throws {
      var limits = TunnelLimits()
      limits.headTime = .milliseconds(300)
      try await TunnelRig.with(limits: limits) { rig in
        let slow = try await RawClient.connect(port: rig.tunnel.port ?? 0, "CONNECT api.test:443 HTTP/1.1\r\nA: ")
        #expect(await slow.rest() == "")
        let mute = try await RawClient.connect(port: rig.tunnel.port ?? 0)
        #expect(await mute.rest() == "")
        let socks = try await RawClient.connect(port: rig.tunnel.port ?? 0)
        socks.send([5, 1, 2])
        #expect(await socks.rest().utf8.count <= 2)
      }
      try await TunnelRig.with { rig in
        let long = try await RawClient.connect(
          port: rig.tunnel.port ?? 0, "CONNECT api.test:443 HTTP/1.1\r\nA: " + String(repeating: "b", count: 40_000))
        #expect(await long.rest().hasPrefix("HTTP/1.1 431 "))
        let other = try await RawClient.connect(port: rig.tunnel.port ?? 0, "\u{16}\u{3}\u{1}\u{0}")
        #expect(await other.rest() == "")
      }
    }

    @Test(
      "hundreds of clients that send their heads bit by bit keep nobody out, have nothing dialled and leave nothing",
      .exitTest,
      .enabled(if: Platform.isLinux, "there is no /proc"))
    func slowHeads() async {
      #if os(Linux)
        await #expect(processExitsWith: .success) {
          Process.limit()
          var options = HostTunnel.Options()
          options.maximumConnections = 100
          var limits = TunnelLimits()
          limits.headTime = .seconds(2)
          try await TunnelRig.with(isSecure: false, limits: limits, options: options) { rig in
            let port = rig.tunnel.port ?? 0
            let tunnel = "CONNECT api.test:\(rig.lab.port) HTTP/1.1\r\n\(rig.credentials())\r\n"
            let get = "GET \(rig.lab.url().absoluteString) HTTP/1.1\r\n\(rig.credentials())\r\n"
            func isServed() async throws {
              let client = try await RawClient.connect(port: port, get)
              Process.require(await client.rest().contains(HijackLab.answer), "not served: \(client.text)")
            }
            let friend = try await RawClient.connect(port: port, tunnel)
            await friend.until("200 Connection")
            try await isServed()
            let before = try Process.openDescriptors
            let pieces = [Array(tunnel.utf8.dropLast(2)), Array(get.utf8.dropLast(2)), [5, 3, 2, 0], []]
            var strangers: [RawClient] = []
            for number in 0..<Sizes.of(600, small: 300) {
              strangers.append(try await RawClient.connect(port: port))
              let count = rig.tunnel.server?.connections.withLock { $0.count } ?? 0
              Process.require(count <= options.maximumConnections, "\(count) at once")
              // Each of those that are there says one byte more.
              for (index, stranger) in strangers.enumerated().suffix(20) {
                let bytes = pieces[index % pieces.count]
                if number - index < bytes.count { stranger.send([bytes[number - index]]) }
              }
              if number % 100 == 99 { try await isServed() }
            }
            for stranger in strangers { Process.require(await !stranger.rest().contains(" 200 "), stranger.text) }
            friend.send("GET / HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n")
            Process.require(await friend.rest().contains(HijackLab.answer), friend.text)
            // The friend, and those who were served.
            let served = 2 + strangers.count / 100
            Process.require(rig.lab.good.connectionCount == served, "\(rig.lab.good.connectionCount) dialled")
            await Self.until { try Process.openDescriptors <= before }
          }
        }
      #endif
    }

    @Test(
      "nothing of a connection is kept when it is over, and what is dialled for it ends with it", .exitTest,
      .enabled(if: Platform.isLinux, "there is no /proc"))
    func memory() async {
      #if os(Linux)
        await #expect(processExitsWith: .success) {
          Process.limit()
          var policy = HostRewriter.Policy.require
          policy.initialDeadline = .seconds(1000)
          policy.maximumDeadline = .seconds(1000)
          try await TunnelRig.with(isSecure: false, policy: policy, isPatient: true) { rig in
            let names = ["good.test": "127.0.0.1", "refused.test": "127.0.0.8", "hole.test": "127.0.0.7"]
            let rules = names.map { ("\($0):\(rig.lab.port)", [$1]) }
            rig.rewriter.ruleSource.replace(with: try HostRules(Dictionary(uniqueKeysWithValues: rules)))
            func client(_ host: String) async throws -> RawClient {
              let head = "CONNECT \(host):\(rig.lab.port) HTTP/1.1\r\n\(rig.credentials())\r\n"
              return try await RawClient.connect(port: rig.tunnel.port ?? 0, head)
            }
            func answered() async throws {
              let client = try await client("good.test")
              await client.until("200 Connection")
              client.send("GET / HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n")
              Process.require(await client.rest().contains(HijackLab.answer), client.text)
            }
            // Those that listen.
            let before = try Process.openSockets
            try await answered()
            let refused = try await client("refused.test")
            Process.require(await refused.rest().hasPrefix("HTTP/1.1 502"), refused.text)
            await Self.until { try Process.openSockets == before }
            // One that goes away while a black hole is dialled for it.
            let gone = try await client("hole.test")
            await Self.until { try Process.openSockets == before + 3 }
            gone.close()
            await Self.until { try Process.openSockets == before }
            weak let server = rig.tunnel.server
            await rig.tunnel.stop()
            await Self.until { server == nil }
          }
        }
      #endif
    }

    /// Waits for what nobody tells of, as long as the test may take.
    private static func until(_ condition: () throws -> Bool) async {
      while (try? condition()) != true { await Task.yield() }
    }

    @Test("at the limit of connections the oldest stranger makes room")
    func limit() async throws {
      var options = HostTunnel.Options()
      options.maximumConnections = 4
      try await TunnelRig.with(options: options) { rig in
        var strangers: [RawClient] = []
        for _ in 0..<6 {
          let stranger = try await RawClient.connect(
            port: rig.tunnel.port ?? 0, "CONNECT api.test:443 HTTP/1.1\r\n\r\n")
          await stranger.until("\r\n\r\n")
          strangers.append(stranger)
        }
        _ = await strangers[0].rest()
        #expect(strangers[0].isClosed)
        #expect(!strangers[5].isClosed)
        try await rig.expectAnswer(.connect)
        for stranger in strangers { stranger.close() }
      }
    }

    @Test("a client that does not read holds the server back")
    func backPressure() async throws {
      try await TunnelRig.with(isSecure: false) { rig in
        let port = rig.tunnel.port ?? 0
        let head = "GET \(rig.lab.url("/bytes/268435456").absoluteString) HTTP/1.1\r\n\(rig.credentials())\r\n"
        let reader = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
          .channelOption(.autoRead, value: false).connect(host: "127.0.0.1", port: port).get()
        try await reader.writeAndFlush(ByteBuffer(string: head)).get()
        await rig.lab.good.until { $0.bytesSent > 0 }
        // Others are served meanwhile.
        let url = URL(string: rig.lab.url("/?").absoluteString)
        let (_, output) = try await rig.curl(.absolute, url, (1...20).map { rig.lab.url("/?\($0)").absoluteString })
        #expect(output.components(separatedBy: HijackLab.answer).count == 22)
        // What the sockets of two connections hold by themselves, and little more.
        #expect(rig.lab.good.bytesSent < 48 << 20)
        try await reader.close().get()
      }
    }

    @Test(
      "while the first address dies, no request waits for it, and none is lost but what it had taken", .heavy,
      .enabled(if: Platform.hasLoopbackRange, "no 127.0.0.2"), arguments: ["refuses", "is silent"])
    func dying(_ way: String) async throws {
      try await TunnelRig.with(["127.0.0.10", "127.0.0.1"], isPatient: true) { rig in
        let authority = rig.lab.authority
        let first = try await TestOrigin.start(
          hosts: ["127.0.0.10"], port: rig.lab.port, tls: .init(authority: authority, names: HijackLab.names))
        first.reply(to: "/") { _ in .text(HijackLab.answer) }
        // Whole, as an app sends them; otherwise four at a time, and as fast as they go.
        let pace = Sizes.isWhole ? ["--rate", "20/s"] : ["--parallel", "--parallel-max", "4", "--no-progress-meter"]
        let (count, atOnce) = (Sizes.of(200, small: 60), Sizes.isWhole ? 1 : 4)
        let urls = rig.lab.url("/?").absoluteString + "[1-\(count)]"
        async let all = rig.curl(
          .connect, nil, pace + ["--http1.1", "-H", "Connection: close", urls], seconds: 15)
        // On a busy machine the first may be late, and left before it dies.
        while rig.rewriter.counters.attempts < 3, !Task.isCancelled { await Task.yield() }
        await first.stop()
        var hole: BlackHole?
        while way == "is silent", hole == nil, !Task.isCancelled {
          // A process that another test starts has the listener of the first until it is the program.
          hole = try? BlackHole(host: "127.0.0.10", port: rig.lab.port)
          await Task.yield()
        }
        let output = try await all.output
        // What is inside of TLS when the server dies may have been carried out, and is not sent again.
        let lost = output.components(separatedBy: "curl: (").count - 1
        #expect(lost <= atOnce, "\(output)")
        #expect(!output.contains("curl: (28)"), "\(output)")
        #expect(output.components(separatedBy: HijackLab.answer).count == count + 2 - lost, "\(output)")
        #expect(rig.lab.good.requests.count > count / 2)
        withExtendedLifetime(hole) {}
      }
    }

    @Test("without a descriptor left nobody is served and no address blamed, and with one again all is well", .exitTest)
    func descriptorsUsedUp() async {
      #if os(Linux)
        await #expect(processExitsWith: .success) {
          Process.limit()
          try await TunnelRig.with(isSecure: false, ["127.0.0.1"]) { rig in
            let port = rig.tunnel.port ?? 0
            let head = "GET \(rig.lab.url().absoluteString) HTTP/1.1\r\n\(rig.credentials())\r\n"
            /// Leaves so many descriptors.
            func fill(_ left: Int) -> [CInt] {
              var taken: [CInt] = []
              while case let copy = dup(0), copy >= 0 { taken.append(copy) }
              for _ in 0..<left { close(taken.removeLast()) }
              return taken
            }
            let early = try await RawClient.connect(port: port, head)
            Process.require(await early.rest().contains(HijackLab.answer), early.text)
            // Enough for the client and the tunnel's side of it, and none to dial.
            var taken = fill(2)
            let unlucky = try await RawClient.connect(port: port, head)
            Process.require(await unlucky.rest().hasPrefix("HTTP/1.1 502 "), unlucky.text)
            for descriptor in taken { close(descriptor) }
            taken = fill(1)
            let waiting = try await RawClient.connect(port: port, head)
            for descriptor in taken { close(descriptor) }
            Process.require(await waiting.rest().contains(HijackLab.answer), waiting.text)
            let states = await rig.rewriter.explain(rig.lab.url()).rows.map(\.state)
            Process.require(states == ["proven"], "\(states)")
          }
        }
      #endif
    }

    @Test(
      "a tunnel that has stopped leaves no descriptor", .exitTest, .enabled(if: Platform.isLinux, "there is no /proc"))
    func descriptors() async {
      #if os(Linux)
        await #expect(processExitsWith: .success) {
          Process.limit()
          let rewriter = HostRewriter(["api.test": ["127.0.0.1"]])
          func cycle() async throws {
            let tunnel = HostTunnel(rewriter)
            try await tunnel.start()
            let clients = try await (0..<20).asyncMap { _ in
              try await RawClient.connect(port: tunnel.port ?? 0, "CONNECT api.test:443 HTTP/1.1\r\n\r\n")
            }
            for client in clients { await client.until("\r\n\r\n") }
            await tunnel.stop()
            for client in clients { _ = await client.rest() }
          }
          try await cycle()
          let before = try Process.openDescriptors
          for _ in 0..<10 { try await cycle() }
          let after = try Process.descriptors
          Process.require(after.count <= before, "\(after)")
        }
      #endif
    }
  }

  extension Sequence {
    /// The results of waiting for one after the other.
    func asyncMap<Result>(_ body: (Element) async throws -> Result) async rethrows -> [Result] {
      var results: [Result] = []
      for element in self { results.append(try await body(element)) }
      return results
    }
  }
#endif
