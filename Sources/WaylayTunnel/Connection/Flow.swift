#if Tunnel
  import NIOCore
  import WaylayCore
  import WaylayHosts

  /// What one client has asked for, from its head to the end of its connection.
  ///
  /// Unchecked: all that changes is touched on the event loop alone.
  final class Flow: @unchecked Sendable {
    enum Kind {
      /// Bytes both ways.
      case tunnel(isSOCKS: Bool)
      /// One request of plain http: the head for the origin.
      case request([UInt8], ProxyHead, URL)
    }

    /// Who decides.
    enum Way: Sendable {
      /// The rewriter.
      case rules
      /// The client has named the address.
      case route(RouteTable.Endpoint)
    }

    /// Whether it is known that the server is the right one.
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
    private(set) var winner: Attempt?
    private(set) var client: any Channel
    private let way: Way
    private let start: Duration
    private var task: Task<Void, Never>?
    private var attempts: [Attempt] = []
    private var flight = FirstFlight()
    private var body: BodyCount?
    /// The response that is not the client's yet.
    private var held: HeldResponse?
    private var trust = Trust.unknown
    /// Whether the client was told that its connection is there, or has bytes of the server's.
    private var isEstablished = false
    private var isOver = false
    private var clientHasEnded = false
    private var serverHasEnded = false
    private var clientIsHeld = false
    private var serverIsHeld = false
    private var lastActivity = NIODeadline.now()
    private var timers: [Scheduled<Void>] = []
    private var idle: Scheduled<Void>?
    private var record: TunnelRecord

    init(_ server: TunnelServer, _ client: any Channel, _ kind: Kind, _ authority: HostAuthority, _ way: Way) {
      (self.server, self.client, self.kind, self.authority, self.way) = (server, client, kind, authority, way)
      loop = client.eventLoop
      start = server.rewriter.clock.time()
      record = TunnelRecord(host: authority.host.description, port: authority.port)
    }

    // MARK: The decision

    /// Begins with what has come after the head.
    func start(with bytes: ByteBuffer) {
      server.dialer.add(self)
      if case .request(let head, let parsed, _) = kind {
        flight.append(ByteBuffer(bytes: head))
        flight.settle()
        body = BodyCount(parsed.body)
        if server.rewriter.policy.responseCheck != nil { held = HeldResponse() }
      }
      timers.append(loop.scheduleTask(in: server.limits.decisionTime) { [self] in if winner == nil { refuse(.late) } })
      if bytes.readableBytes > 0 { clientSent(bytes) }
      server.tasks.withLock { $0 += 1 }
      task = Task { [self] in
        var failure: (any Error)?
        do { try await decide() } catch { failure = error }
        loop.execute { [self, failure] in
          decided(failure)
          server.tasks.withLock { $0 -= 1 }
        }
      }
    }

    private func decide() async throws {
      var request = InterceptedRequest(.connect, url)
      if case .request(_, let head, _) = kind {
        for (name, value) in head.fields {
          if let name = HTTPField.Name(name), name.canonicalName != ProxyHead.credentials {
            request.fields.append(HTTPField(name: name, value: value))
          }
        }
        if head.body != .length(0) { request.body = .data(Data([0])) }
      }
      request[TunnelDialer.Key.self] = self
      if case .route(let endpoint) = way {
        request.route = try Route(
          endpoint.endpoint.address.literal, port: endpoint.endpoint.port,
          connectTimeout: server.routes.limit(of: endpoint))
        _ = try await server.dialer.load(request)
      } else {
        _ = try await server.rewriter.startLoading(
          request, next: .init { [dialer = server.dialer] in try await dialer.load($0) })
      }
    }

    private var url: URL {
      if case .request(_, _, let url) = kind { return url }
      let host = authority.host.description
      let text =
        "\(authority.port == 80 ? "http" : "https")://\(host.contains(":") ? "[\(host)]" : host):\(authority.port)/"
      guard let url = URL(string: text) else { preconditionFailure("a name and a port make a URL") }
      return url
    }

    /// Nothing is dialled any more, or the connection has shown what it is.
    private func decided(_ error: (any Error)?) {
      guard let error else { return release() }
      guard !isOver, winner == nil || !isEstablished else { return }
      if let host = (error as? URLError)?.cause(as: HostError.self) ?? error as? HostError {
        record.failure = host.message
      } else {
        record.failure = (error as? TransportError)?.message ?? "\(type(of: error))"
      }
      if case .route(let endpoint) = way, let error = error as? TransportError {
        server.routes.failed(endpoint, error, at: server.rewriter.clock.time())
      }
      refuse((error as? URLError)?.code == .timedOut ? .late : .failed(record.failure ?? ""))
    }

    /// One attempt at an address; returns when the connection counts as the host's.
    func attempt(_ endpoint: HostEndpoint, _ route: Route?) async throws -> Attempt.Shown {
      let attempt = Attempt(self, endpoint, route)
      return try await withTaskCancellationHandler {
        loop.execute { [self] in
          guard !isOver, winner == nil else { return attempt.fail(CancellationError()) }
          attempts.append(attempt)
          record.attempts += 1
          attempt.start()
        }
        return try await attempt.promise.futureResult.get()
      } onCancel: {
        loop.execute { attempt.fail(CancellationError()) }
      }
    }

    /// A connection is open: the first one is what the client is told of.
    func connected(_ attempt: Attempt) {
      if case .tunnel(let isSOCKS) = kind, !isEstablished {
        isEstablished = true
        client.writeAndFlush(
          ByteBuffer(bytes: isSOCKS ? SOCKS.reply(0) : Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)),
          promise: nil)
        timers.append(
          loop.scheduleTask(in: server.limits.firstFlightTime) { [self] in
            flight.settle()
            offer()
          })
        client.read()
      }
      offer(to: attempt)
    }

    /// Gives connections that wait for it what the client has said.
    private func offer() { for attempt in attempts { offer(to: attempt) } }

    private func offer(to attempt: Attempt) {
      guard attempt.channel != nil, winner == nil else { return }
      switch flight.verdict {
      case .incomplete: break
      case .hello: attempt.sendHello(flight.bytes)
      case .other: attempt.win()
      }
    }

    func won(by attempt: Attempt) {
      winner = attempt
      record.address = "\(attempt.endpoint)"
      if flight.verdict == .hello {
        trust = .shown(HandshakeWatch())
      } else if flight.bytes.readableBytes > 0 {
        attempt.channel?.writeAndFlush(flight.bytes, promise: nil)
      }
      record.bytesSent += flight.bytes.readableBytes
      flight = FirstFlight()
      attempts.removeAll { $0 === attempt }
      watchIdle()
      if clientHasEnded { endOutput(of: attempt.channel) }
      client.read()
    }

    /// The server is the right one, as far as can be seen.
    private func settle() {
      guard let winner else { return }
      if case .settled = trust { return }
      trust = .settled
      winner.succeed()
      server.routes.accepted(taken(winner))
    }

    private func taken(_ attempt: Attempt) -> RouteTable.Endpoint {
      .init(authority: authority, endpoint: attempt.endpoint)
    }

    /// The client ends right after the server's first flight: it has found the certificate bad, or was told to stop.
    private func reject(byAlert: Bool) {
      guard case .shown = trust, let winner else { return }
      trust = .settled
      let now = server.rewriter.clock.time()
      guard server.routes.rejected(taken(winner), since: start, at: now, byAlert: byAlert) else {
        return winner.fail(CancellationError())
      }
      winner.fail(
        TransportError(
          .serverCertificateUntrusted, phase: .securing, requestBytesSent: 1, address: "\(winner.endpoint)",
          message: "the client has ended two handshakes with it in a row: its certificate may be another host's."))
    }
  }

  // MARK: - Bytes

  extension Flow {
    func clientSent(_ bytes: ByteBuffer) {
      lastActivity = .now()
      if var body {
        guard let count = body.isOver ? 0 : body.take(bytes.readableBytesView) else { return fail() }
        self.body = body
        // One request: what comes after it belongs to nobody.
        if count < bytes.readableBytes { return fail() }
      }
      guard let winner, let channel = winner.channel else {
        flight.append(bytes)
        // Nothing is read from here on; what had come already is kept, and sent once.
        if case .tunnel = kind, isEstablished { offer() }
        return
      }
      record.bytesSent += bytes.readableBytes
      if case .shown(var watch) = trust {
        let verdict = watch.see(bytes.readableBytesView)
        trust = .shown(watch)
        switch verdict {
        case .undecided: break
        case .goesOn: timers.append(loop.scheduleTask(in: server.limits.settleTime) { [self] in settle() })
        case .accepted: settle()
        case .rejected: reject(byAlert: true)
        }
      }
      channel.write(bytes, promise: nil)
    }

    func clientPaused() {
      guard let channel = winner?.channel else {
        if flight.verdict == .incomplete, isEstablished { client.read() }
        return
      }
      channel.flush()
      clientIsHeld = !channel.isWritable
      if !clientIsHeld { client.read() }
    }

    func serverIsWritable() {
      guard clientIsHeld else { return }
      clientIsHeld = false
      client.read()
    }

    func serverSent(_ bytes: ByteBuffer) {
      lastActivity = .now()
      record.bytesReceived += bytes.readableBytes
      if held != nil { return hold(bytes) }
      isEstablished = true
      if case .unknown = trust { settle() }
      client.write(bytes, promise: nil)
    }

    /// Looks at the head of a response before the client has it.
    private func hold(_ bytes: ByteBuffer) {
      do {
        guard let (status, fields) = try held?.append(bytes) else { return }
        trust = .settled
        winner?.succeed(status, fields)
      } catch {
        trust = .settled
        winner?.fail(
          TransportError(
            .badServerResponse, phase: .receiving, requestBytesSent: 1, message: "what it answers is not HTTP."))
      }
    }

    /// The response has passed the check.
    private func release() {
      guard let response = held else { return }
      (held, isEstablished) = (nil, true)
      client.write(response.bytes, promise: nil)
      serverPaused()
      guard serverHasEnded else { return }
      if clientHasEnded { close() } else { endOutput(of: client) }
    }

    func serverPaused() {
      if held != nil {
        if case .unknown = trust { winner?.channel?.read() }
        return
      }
      client.flush()
      serverIsHeld = !client.isWritable
      if !serverIsHeld { winner?.channel?.read() }
    }

    func clientIsWritable() {
      guard serverIsHeld else { return }
      serverIsHeld = false
      winner?.channel?.read()
    }
  }

  // MARK: - Ends

  extension Flow {
    /// The client sends no more.
    func clientEnded() {
      guard !clientHasEnded else { return }
      clientHasEnded = true
      reject(byAlert: false)
      guard let winner else {
        // A client that waits for TLS has nothing else to say: it has gone.
        if case .request = kind { return }
        guard flight.verdict != .other else { return }
        end()
        return client.close(promise: nil)
      }
      if serverHasEnded { close() } else { endOutput(of: winner.channel) }
    }

    func serverEnded() {
      guard !serverHasEnded else { return }
      serverHasEnded = true
      failUnlessShown()
      guard !isOver, held == nil else { return }
      if clientHasEnded { close() } else { endOutput(of: client) }
    }

    /// A server that has said nothing to bytes that only it was sent.
    private func failUnlessShown() {
      guard case .unknown = trust, let winner else { return }
      trust = .settled
      winner.fail(
        TransportError(
          .networkConnectionLost, phase: .receiving, requestBytesSent: 1, address: "\(winner.endpoint)",
          message: "it closed before it had said anything."))
      if case .request = kind, !isEstablished { refuse(.failed("the server closed before it had said anything")) }
    }

    func serverClosed() {
      failUnlessShown()
      if serverHasEnded, held != nil { return }
      if serverHasEnded { close() } else { fail() }
    }

    func serverFailed() {
      failUnlessShown()
      fail()
    }

    /// The client's connection is closed.
    func clientClosed() {
      reject(byAlert: false)
      end()
    }

    /// The network is another one: what was open leads nowhere.
    func networkChanged() { loop.execute { [self] in if winner != nil { fail() } } }

    private func refuse(_ refusal: Refusal) {
      guard !isOver else { return }
      record.failure = record.failure ?? refusal.text
      switch kind {
      case _ where isEstablished: return fail()
      case .tunnel(isSOCKS: true):
        client.write(ByteBuffer(bytes: SOCKS.reply(refusal.status == 504 ? 4 : 1)), promise: nil)
      default: client.write(ByteBuffer(bytes: refusal.response), promise: nil)
      }
      close()
    }

    /// Ends both sides, so that each knows that something is missing.
    private func fail() {
      guard !isOver else { return }
      end()
      TunnelNetwork.reset(client)
    }

    /// Ends both sides when they have taken what there is.
    private func close() {
      guard !isOver else { return }
      let server = winner?.channel
      end(closing: false)
      for channel in [client, server] {
        guard let channel else { continue }
        channel.writeAndFlush(ByteBuffer()).whenComplete { _ in channel.close(promise: nil) }
        let late = loop.scheduleTask(in: self.server.limits.halfClosedTime) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in late.cancel() }
      }
    }

    /// Ends the server's side and all attempts; the client's is closing.
    func end(closing: Bool = true) {
      guard !isOver else { return }
      isOver = true
      for timer in timers + [idle].compactMap(\.self) { timer.cancel() }
      timers = []
      // What a winner has come to is told by its own end, which a cancellation would hide.
      if winner == nil { task?.cancel() }
      for attempt in attempts { attempt.fail(CancellationError()) }
      winner?.fail(CancellationError())
      if closing { winner?.channel?.close(promise: nil) }
      server.dialer.remove(self)
      record.duration = server.rewriter.clock.time() - start
      server.records.send { record }
    }

    private func endOutput(of channel: (any Channel)?) {
      guard let channel else { return }
      channel.writeAndFlush(ByteBuffer()).whenComplete { _ in channel.close(mode: .output, promise: nil) }
    }

    /// Closes a connection on which nothing has happened for too long.
    private func watchIdle() {
      let isHalfClosed = clientHasEnded || serverHasEnded
      let limit = isHalfClosed ? server.limits.halfClosedTime : TimeAmount(server.options.idleTimeout)
      let left = lastActivity + limit - .now()
      guard left > .nanoseconds(0) else { return fail() }
      idle = loop.scheduleTask(in: min(left, server.limits.halfClosedTime)) { [self] in watchIdle() }
    }
  }
#endif
