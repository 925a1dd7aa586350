#if Tunnel
  import Testing
  import WaylayCore
  import WaylayHosts

  @testable import WaylayTunnel

  /// Starts and stops, side by side.
  @Suite("The start and the stop of a tunnel", .timeLimit(.minutes(5)))
  struct StartTests {
    /// Begins something, and returns while it is under way, or after it.
    private static func begin(
      _ tunnel: HostTunnel, _ work: @escaping @Sendable () async throws -> Void
    ) async -> Task<Void, any Error> {
      let isOver = Locked(false)
      let task = Task {
        defer { isOver.withLock { $0 = true } }
        try await work()
      }
      while !tunnel.isBusy, !isOver.withLock({ $0 }) { await Task.yield() }
      return task
    }

    @Test("a stop during a start waits for it, and then stops")
    func stopDuringStart() async throws {
      let tunnel = HostTunnel(HostRewriter(["api.test": ["127.0.0.1"]]))
      for _ in 0..<20 {
        let start = await Self.begin(tunnel) { try await tunnel.start() }
        await tunnel.stop()
        try await start.value
        #expect(tunnel.port == nil)
        await tunnel.stop()
      }
    }

    @Test("a stop that is cancelled while another call starts the tunnel has stopped it when it returns")
    func cancelledStop() async throws {
      let tunnel = HostTunnel(HostRewriter(["api.test": ["127.0.0.1"]]))
      for _ in 0..<20 {
        let start = await Self.begin(tunnel) { try await tunnel.start() }
        let stop = Task { await tunnel.stop() }
        stop.cancel()
        await stop.value
        #expect(tunnel.port == nil)
        try await start.value
      }
    }

    @Test("a request that is cancelled while the tunnel is being stopped waits no longer")
    func cancelledRunning() async throws {
      var options = HostTunnel.Options()
      options.gracePeriod = .seconds(600)
      try await TunnelRig.with(options: options) { rig in
        let tunnel = rig.tunnel
        let server = try #require(tunnel.server)
        let client = try await RawClient.connect(port: server.port, "CONNECT api.test:443 HTTP/1.1\r\n\r\n")
        await client.until("\r\n\r\n")
        let stop = await Self.begin(tunnel) { await tunnel.stop() }
        while tunnel.server != nil { await Task.yield() }
        let request = Task { _ = try await tunnel.running() }
        request.cancel()
        await #expect(throws: CancellationError.self) { try await request.value }
        #expect(tunnel.isBusy)
        client.close()
        try await stop.value
      }
    }

    @Test("a second stop returns when the first has closed all connections")
    func stopDuringStop() async throws {
      var options = HostTunnel.Options()
      options.gracePeriod = .milliseconds(100)
      try await TunnelRig.with(options: options) { rig in
        let server = try #require(rig.tunnel.server)
        let client = try await RawClient.connect(port: server.port, "CONNECT api.test:443 HTTP/1.1\r\n\r\n")
        await client.until("\r\n\r\n")
        let first = await Self.begin(rig.tunnel) { [tunnel = rig.tunnel] in await tunnel.stop() }
        await rig.tunnel.stop()
        #expect(server.connections.withLock { $0.count } == 0)
        try await first.value
      }
    }

    @Test("a request waits for whoever starts the tunnel")
    func runningDuringStart() async throws {
      let tunnel = HostTunnel(HostRewriter(["api.test": ["127.0.0.1"]]))
      for _ in 0..<20 {
        let start = await Self.begin(tunnel) { try await tunnel.start() }
        let server = try await tunnel.running()
        try await start.value
        #expect(server === tunnel.server)
        await tunnel.stop()
      }
    }
  }
#endif
