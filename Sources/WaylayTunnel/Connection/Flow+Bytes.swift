#if Tunnel
  import NIOCore
  import WaylayCore
  import WaylayHosts

  // MARK: - Bytes

  extension Flow {
    func clientSent(_ bytes: ByteBuffer) {
      guard !isOver else { return }
      lastActivity = .now()
      var bytes = bytes
      if body != nil {
        // One request per connection: bytes after it are dropped (RFC 9112, section 9.6).
        guard let passed = body?.take(&bytes) else { return fail() }
        bytes = passed
      }
      if case .unknown = trust, record.bytesSent == 0, bytes.readableBytesView.first == 22 { winner?.giveBack() }
      guard let origin else {
        flight.append(bytes)
        guard case .tunnel = kind, isEstablished else { return }
        // Back pressure: stop reading; bytes already received are buffered and sent once.
        if task == nil { findServer() } else { offer() }
        return
      }
      record.bytesSent += bytes.readableBytes
      watchSilence()
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
      write(bytes, to: origin)
    }

    func clientPaused() {
      if let origin, !isOver { return pass(from: client, to: origin) }
      if isOver || flight.verdict == .incomplete && isEstablished { client.channel.read() }
    }

    func serverSent(_ bytes: ByteBuffer) {
      lastActivity = .now()
      record.bytesReceived += bytes.readableBytes
      if held != nil { return hold(bytes) }
      isEstablished = true
      if case .unknown = trust { settle() }
      forward(bytes)
    }

    private func forward(_ bytes: ByteBuffer) {
      var bytes = bytes
      if responseBody != nil {
        guard let passed = responseBody?.take(&bytes) else { return fail() }
        bytes = passed
      }
      write(bytes, to: client)
    }

    func serverPaused() {
      guard let origin else { return }
      if held == nil { return pass(from: origin, to: client) }
      if case .unknown = trust { origin.channel.read() }
    }

    func clientIsWritable() { isWritable(client, readFrom: origin) }
    func serverIsWritable() { isWritable(origin, readFrom: client) }

    /// Demotes an address that stays silent although it has received all bytes of its client.
    func watchSilence() {
      silence?.cancel()
      guard case .rules = way, case .unknown = trust, body?.isOver ?? true,
        let limit = server.rewriter.policy.silenceTimeout
      else { return }
      silence = loop.scheduleTask(in: TimeAmount(limit)) { [self] in
        if case .unknown = trust, let winner { server.rewriter.demote(winner.endpoint, at: authority) }
      }
    }

    /// Each piece that a slow reader accepts counts as activity, so the connection is not idle.
    private func write(_ bytes: ByteBuffer, to side: Side) {
      guard !side.channel.isWritable else { return side.channel.write(bytes, promise: nil) }
      side.channel.write(bytes).whenComplete { [self] _ in lastActivity = .now() }
    }

    private func pass(from side: Side, to other: Side) {
      other.channel.flush()
      other.isFull = !other.channel.isWritable
      if !other.isFull { side.channel.read() }
    }

    private func isWritable(_ side: Side?, readFrom other: Side?) {
      guard let side, side.isFull else { return }
      side.isFull = false
      other?.channel.read()
    }

    /// Buffers the head of a response until it has passed the check.
    private func hold(_ bytes: ByteBuffer) {
      guard case .unknown = trust else { return _ = held?.bytes.writeImmutableBuffer(bytes) }
      do {
        guard let (interim, head) = try held?.append(bytes) else { return }
        // Forward interim responses at once: the client may wait for one, and the final response may depend on its
        // body.
        if interim.readableBytes > 0 { client.channel.writeAndFlush(interim, promise: nil) }
        guard let (status, fields) = head else { return }
        trust = .settled
        winner?.succeed(status, fields)
      } catch {
        trust = .settled
        // Without a check it is passed on as it is.
        if server.rewriter.policy.responseCheck == nil { return winner?.succeed() ?? () }
        winner?.fail(
          TransportError(
            .badServerResponse, phase: .receiving, requestBytesSent: 1, message: "its response is not HTTP."))
      }
    }

    /// Forwards the response, which has passed the check.
    func release() {
      guard let response = held else { return }
      (held, responseBody, isEstablished) = (nil, response.body, true)
      write(response.head, to: client)
      forward(response.bytes)
      serverPaused()
      if origin?.hasEnded ?? false { pass(endTo: client) }
    }
  }

  // MARK: - Ends

  extension Flow {
    func clientEnded() {
      guard !client.hasEnded else { return }
      client.hasEnded = true
      reject(byAlert: false)
      if let origin { return pass(endTo: origin) }
      // A client that closes before the server's TLS response has given up.
      guard case .tunnel = kind, flight.verdict != .other else { return }
      end()
      client.channel.close(promise: nil)
    }

    func serverEnded() {
      guard let origin, !origin.hasEnded else { return }
      origin.hasEnded = true
      failUnlessShown()
      if held == nil { pass(endTo: client) }
    }

    /// One side has ended: shuts the other side's output after the pending bytes; closes both if both have ended.
    private func pass(endTo side: Side) {
      guard !isOver, let origin else { return }
      if client.hasEnded, origin.hasEnded { close() } else { shut(side) }
    }

    /// Reports a server that closed without a byte after it alone had received the client's bytes, unless the client
    /// had ended before.
    private func failUnlessShown() {
      guard case .unknown = trust, let winner else { return }
      trust = .settled
      let isFault = record.bytesSent > 0 && !client.hasEnded
      winner.fail(
        isFault
          ? TransportError(
            .networkConnectionLost, phase: .receiving, requestBytesSent: 1, address: "\(winner.endpoint)",
            message: "it closed without sending a byte.") : CancellationError())
      if case .request = kind, !isEstablished { refuse(.failed("the server closed without sending a byte")) }
    }

    /// The server's connection is closed. If its output is shut, SwiftNIO reports the end of its input by this call
    /// alone.
    func serverClosed() {
      if origin?.isShut ?? false { serverEnded() }
      failUnlessShown()
      guard origin?.hasEnded ?? false else { return fail() }
      if held == nil { close() }
    }

    func serverFailed() {
      failUnlessShown()
      fail()
    }

    /// The client's connection is closed; see `serverClosed()`.
    func clientClosed() {
      if client.isShut { clientEnded() }
      reject(byAlert: false)
      fail()
    }

    /// The network has changed: open connections are dead.
    func networkChanged() { if winner != nil { fail() } }

    func refuse(_ refusal: Refusal) {
      guard !isOver else { return }
      record.failure = record.failure ?? refusal.text
      if isEstablished, alert.isEmpty { return fail() }
      var response = isEstablished ? alert : refusal.response
      if case .tunnel(isSOCKS: true) = kind, !isEstablished { response = SOCKS.reply(refusal.status == 504 ? 4 : 1) }
      end()
      TunnelNetwork.end(client.channel, saying: response)
    }

    /// Resets both sides, so that each detects the truncation.
    func fail() {
      guard !isOver else { return }
      end()
      reset(client)
    }

    /// Resets a side. A side that was shut has received everything, although the system may still have bytes to send:
    /// it is closed normally.
    private func reset(_ side: Side) {
      if side.isShut { side.channel.close(promise: nil) } else { TunnelNetwork.reset(side.channel) }
    }

    /// Closes both sides after their pending bytes.
    private func close() {
      guard !isOver else { return }
      let channels = [client, origin].compactMap { $0?.channel }
      end(closing: false)
      watchIdle()
      for channel in channels { channel.writeAndFlush(ByteBuffer()).whenComplete { _ in channel.close(promise: nil) } }
      EventLoopFuture.andAllComplete(channels.map(\.closeFuture), on: loop).whenComplete { [self] _ in idle?.cancel() }
    }

    /// Ends the server's side and all attempts; the caller ends the client's side.
    func end(closing: Bool = true) {
      guard !isOver else { return }
      isOver = true
      for timer in timers + [idle, silence].compactMap(\.self) { timer.cancel() }
      timers = []
      // The winner's own end reports its outcome; cancelling the task would hide it.
      if winner == nil { task?.cancel() }
      for attempt in attempts { drop(attempt) }
      winner?.fail(CancellationError())
      // Break the retain cycle.
      (attempts, winner) = ([], nil)
      if closing, let origin { reset(origin) }
      record.duration = server.rewriter.now - start
      server.records.send { record }
    }

    func shut(_ side: Side) {
      side.channel.writeAndFlush(ByteBuffer()).whenComplete { _ in
        side.channel.close(mode: .output).whenSuccess { side.isShut = true }
      }
    }

    /// Closes an idle connection. The limit is lower once one side has ended and the other side was shut.
    func watchIdle() {
      idle?.cancel()
      let isHalf =
        !isOver && (client.isShut || origin?.isShut ?? false) && !client.isFull && !(origin?.isFull ?? false)
      let limit = isHalf ? server.limits.halfClosedTime : TimeAmount(server.options.idleTimeout)
      let left = lastActivity + limit - .now()
      guard left > .nanoseconds(0) else {
        if !isOver { return fail() }
        for side in [client, origin] { side?.channel.close(promise: nil) }
        return
      }
      idle = loop.scheduleTask(in: min(left, server.limits.halfClosedTime)) { [self] in watchIdle() }
    }
  }
#endif
