#if Tunnel
  import NIOCore
  import WaylayCore
  import WaylayHosts

  /// One client's tunnel or request, from its head to the end of its connection.
  ///
  /// Unchecked: the mutable state is confined to the event loop.
  final class Flow: @unchecked Sendable {
    enum Kind {
      /// Bytes in both directions.
      case tunnel(isSOCKS: Bool)
      /// One plain `http` request, with its head.
      case request(ProxyHead)
    }

    /// One of the two connections, and its progress towards its end.
    ///
    /// Unchecked: confined to the event loop.
    final class Side: @unchecked Sendable {
      let channel: any Channel
      /// Its input has ended.
      var hasEnded = false
      /// Its output is shut.
      var isShut = false
      /// Its write buffer is full, so the other side is not read (back pressure).
      var isFull = false

      init(_ channel: any Channel) { self.channel = channel }
    }

    /// The source of the addresses.
    enum Way: Sendable {
      /// The rewriter's rules.
      case rules
      /// The client names the address.
      case route(RouteTable.Endpoint)
    }

    /// Whether the server is verified as the host's.
    enum Trust {
      case unknown
      /// The server has spoken TLS.
      case shown(HandshakeWatch)
      case settled
    }

    let server: TunnelServer
    let loop: any EventLoop
    let kind: Kind
    let authority: HostAuthority
    let client: Side
    /// The server's side, once an attempt has won.
    var origin: Side?
    var winner: Attempt?
    var flight = FirstFlight()
    var body: FramedBody?
    /// The body of a chunked response.
    var responseBody: FramedBody?
    /// The response that waits for the check.
    var held: HeldResponse?
    var trust = Trust.unknown
    /// The alert of the last server that refused the handshake.
    var alert: [UInt8] = []
    /// Whether the client was told that the connection is open, or has received bytes of the server.
    var isEstablished = false
    var isOver = false
    var lastActivity = NIODeadline.now()
    var timers: [Scheduled<Void>] = []
    var idle: Scheduled<Void>?
    /// The timer for the silence of a server that has received all bytes of its client.
    var silence: Scheduled<Void>?
    var record: TunnelRecord
    var task: Task<Void, Never>?
    var attempts: [Attempt] = []
    let start: Duration
    let way: Way

    init(_ server: TunnelServer, _ client: any Channel, _ kind: Kind, _ authority: HostAuthority, _ way: Way) {
      (self.server, self.client, self.kind, self.authority, self.way) = (server, Side(client), kind, authority, way)
      loop = client.eventLoop
      start = server.rewriter.now
      record = TunnelRecord(host: authority.host.description, port: authority.port)
    }

    // MARK: The decision

    /// Starts the flow with the bytes after the head.
    func start(with bytes: ByteBuffer) {
      if case .request(let head) = kind {
        flight.append(ByteBuffer(bytes: head.forwarded()))
        flight.settle()
        body = FramedBody(head.body, dropping: head.dropped)
        held = HeldResponse()
      }
      if bytes.readableBytes > 0 { clientSent(bytes) }
      findServer()
    }

    func findServer() {
      server.users.enter()
      task = Task { [self] in
        var failure: (any Error)?
        do { try await decide() } catch { failure = error }
        loop.execute { [self, failure] in
          decided(failure)
          server.users.leave()
        }
      }
      timers.append(loop.scheduleTask(in: server.limits.decisionTime) { [self] in if winner == nil { refuse(.late) } })
    }

    /// Drops the connections, none of which has carried a byte, until the client speaks: its silence says nothing about
    /// any server, and its first message may go to each of them.
    func dropUnused() {
      task?.cancel()
      for timer in timers { timer.cancel() }
      for attempt in attempts { drop(attempt) }
      (attempts, timers, task) = ([], [], nil)
      watchIdle()
    }

    /// Whether the port is that of TLS, in which the client speaks first.
    var isForTLS: Bool { authority.port == 443 }

    private func decide() async throws {
      var request = InterceptedRequest(.connect, url)
      if case .request(let head) = kind {
        request.fields = head.fields
        request.fields[.proxyAuthorization] = nil
        if head.body != .length(0) { request.body = .data(Data([0])) }
      }
      request[TunnelServer.Key.self] = self
      if case .route(let endpoint) = way {
        request.route = try Route(
          endpoint.endpoint.address.literal, port: endpoint.endpoint.port,
          connectTimeout: server.routes.limit(of: endpoint))
        _ = try await server.load(request)
      } else {
        _ = try await server.rewriter.startLoading(
          request, next: .init { [server] in try await server.load($0) })
      }
    }

    private var url: URL {
      if case .request(let head) = kind, let url = head.url { return url }
      let host = authority.host.description
      // `https` for any port: this URL is not for the response check, which applies to plain `http` alone.
      let text = "https://\(host.contains(":") ? "[\(host)]" : host):\(authority.port)/"
      guard let url = URL(string: text) else { preconditionFailure("a name and a port make a URL") }
      return url
    }

    /// The rewriter's load has ended: it has failed, or the server is verified.
    private func decided(_ error: (any Error)?) {
      guard let error else { return release() }
      guard !isOver, !(error is CancellationError), winner == nil || !isEstablished else { return }
      if let host = error.first(as: HostError.self) {
        record.failure = host.message
      } else {
        record.failure = (error as? TransportError)?.message ?? "\(type(of: error))"
      }
      if case .route(let endpoint) = way, let error = error as? TransportError {
        server.routes.failed(endpoint, error, at: server.rewriter.now)
      }
      refuse((error as? URLError)?.code == .timedOut ? .late : .failed(record.failure ?? ""))
    }

    /// Runs one attempt at an address; returns once the connection is verified as the host's.
    func attempt(_ endpoint: HostEndpoint, _ route: Route?) async throws -> Attempt.Shown {
      let attempt = Attempt(self, endpoint, route)
      return try await withTaskCancellationHandler {
        loop.execute { [self] in
          guard !isOver, winner == nil else { return drop(attempt) }
          attempts.append(attempt)
          record.attempts += 1
          attempt.start()
        }
        return try await attempt.promise.futureResult.get()
      } onCancel: {
        loop.execute { attempt.fail(CancellationError()) }
      }
    }

    /// Abandons an attempt. If another attempt has won, it counts as lost, which does not end the winner's load.
    func drop(_ attempt: Attempt) { attempt.fail(origin == nil ? CancellationError() : attempt.lost) }

    /// A connection is open. The first one makes the tunnel report success to the client.
    func connected(_ attempt: Attempt) {
      if case .tunnel(let isSOCKS) = kind {
        if !isEstablished {
          isEstablished = true
          client.channel.writeAndFlush(
            ByteBuffer(bytes: isSOCKS ? SOCKS.reply(0) : Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)),
            promise: nil)
          client.channel.read()
        }
        // Report the connection even if the client stays silent: other requests wait for the attempt's outcome.
        timers.append(
          loop.scheduleTask(in: .milliseconds(250)) { [self] in
            if flight.verdict == .incomplete, !attempt.isSettled { attempt.route?.onConnected?() }
          })
        timers.append(
          loop.scheduleTask(in: server.limits.firstFlightTime) { [self] in
            guard winner == nil, flight.verdict == .incomplete else { return }
            if isForTLS { return dropUnused() }
            flight.settle()
            offer()
          })
      }
      offer(to: attempt)
    }

    /// Sends the client's first bytes to the connections that wait for them.
    func offer() { for attempt in attempts { offer(to: attempt) } }

    private func offer(to attempt: Attempt) {
      guard attempt.isConnected, winner == nil else { return }
      switch flight.verdict {
      case .incomplete: break
      case .hello: attempt.sendHello(flight.bytes)
      case .other:
        // An address of the system's resolver can only be verified by TLS.
        if case .tunnel = kind, attempt.route == nil, !flight.isTLS,
          server.rewriter.canInit(with: URLRequest(url: url))
        {
          return refuse(.failed("no address of its rule answered, and the system's resolver is only for TLS"))
        }
        attempt.win()
      }
    }

    func won(by attempt: Attempt, _ channel: any Channel) {
      let origin = Side(channel)
      (winner, self.origin) = (attempt, origin)
      record.address = "\(attempt.endpoint)"
      if flight.verdict == .hello { trust = .shown(HandshakeWatch()) }
      if case .tunnel = kind, isForTLS, !flight.isTLS {
        // The end of a connection without TLS says nothing about a server of TLS.
        trust = .settled
        attempt.fail(CancellationError())
      }
      record.bytesSent += flight.bytes.readableBytes
      // Skip the bytes that the attempt has already sent.
      var rest = flight.bytes
      rest.moveReaderIndex(forwardBy: attempt.offered)
      if rest.readableBytes > 0 { channel.writeAndFlush(rest, promise: nil) }
      flight = FirstFlight()
      attempts.removeAll { $0 === attempt }
      if record.bytesSent > 0 { watchSilence() }
      watchIdle()
      if client.hasEnded { shut(origin) }
      client.channel.read()
    }

    /// Marks the server as verified.
    func settle() {
      guard let winner else { return }
      if case .settled = trust { return }
      trust = .settled
      winner.succeed()
      server.routes.accepted(taken(winner))
    }

    private func taken(_ attempt: Attempt) -> RouteTable.Endpoint {
      .init(authority: authority, endpoint: attempt.endpoint)
    }

    /// The client closes after the server's first flight: it has rejected the certificate, or was cancelled.
    func reject(byAlert: Bool) {
      guard case .shown = trust, let winner else { return }
      trust = .settled
      let now = server.rewriter.now
      guard server.routes.rejected(taken(winner), since: start, at: now, byAlert: byAlert) else {
        return winner.fail(CancellationError())
      }
      winner.fail(
        TransportError(
          .serverCertificateUntrusted, phase: .securing, requestBytesSent: 1, address: "\(winner.endpoint)",
          message: "the client has ended two handshakes with it in a row: its certificate may be another host's."))
    }
  }
#endif
