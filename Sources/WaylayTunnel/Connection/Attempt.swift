#if Tunnel
  import NIOCore
  import WaylayCore
  import WaylayHosts

  /// A connection to one address for a flow: unverified at first, then the server's side of the flow.
  ///
  /// Unchecked: the mutable state is confined to the flow's event loop.
  final class Attempt: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    /// The result of a connection that is verified as the host's.
    struct Shown: Sendable {
      /// The time until it was open and, if the client uses TLS, the server had spoken TLS.
      let time: Duration
      /// The head of the response, if the tunnel inspects it.
      let status: HTTPResponse.Status
      let fields: HTTPFields
    }

    let endpoint: HostEndpoint
    let promise: EventLoopPromise<Shown>
    private var channel: (any Channel)?
    let begin = NIODeadline.now()
    private let flow: Flow
    let route: Route?
    private let ticket: DialGate.Ticket
    private let limit: TimeAmount
    /// When it connected and when the ClientHello was sent. The wait for the client between them is not the address's
    /// time.
    private var connected: NIODeadline?
    private var sent: NIODeadline?
    var isConnected: Bool { connected != nil }
    /// The number of client bytes sent before the attempt won.
    private(set) var offered = 0
    private var late: Scheduled<Void>?
    private(set) var isSettled = false
    private var hasWon: Bool { flow.winner === self }
    /// The server's bytes before the attempt won.
    private var said = ByteBuffer()
    private var time = Duration.zero

    init(_ flow: Flow, _ endpoint: HostEndpoint, _ route: Route?) {
      (self.flow, self.endpoint, self.route) = (flow, endpoint, route)
      ticket = DialGate.Ticket(route)
      limit = route?.connectTimeout.map { TimeAmount($0) } ?? .seconds(20)
      promise = flow.loop.makePromise()
    }

    /// The time taken so far, without the wait for the client.
    private var elapsed: Duration {
      let dial = (connected ?? .now()) - begin
      return .nanoseconds(dial.nanoseconds + (sent.map { (NIODeadline.now() - $0).nanoseconds } ?? 0))
    }

    /// The error of an attempt that lost the race.
    var lost: TransportError {
      route?.gate?.lost(to: route) ?? TransportError.unsent(.cancelled, "another was first", "\(endpoint)")
    }

    func start() {
      guard !isSettled else { return }
      guard let address = try? SocketAddress(ipAddress: endpoint.address.literal, port: endpoint.port ?? 0) else {
        return fail(TransportError.unsent(.cannotConnectToHost, "it is no address", "\(endpoint)"))
      }
      route?.onBegin?()
      flow.server.network.connect(to: address, within: limit, on: flow.loop) { [self] channel in
        self.channel = channel
        return channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(self) }
      }.whenComplete { [self] result in
        switch result {
        case .failure(let error): fail(TunnelNetwork.error(error, at: "\(endpoint)"))
        case .success(let channel):
          guard !isSettled else { return channel.close(promise: nil) }
          connected = .now()
          channel.read()
          flow.connected(self)
        }
      }
    }

    /// Sends the ClientHello. The server's first bytes decide whether the attempt wins.
    func sendHello(_ bytes: ByteBuffer) {
      guard sent == nil else { return }
      (sent, offered) = (.now(), bytes.readableBytes)
      let left = limit - ((connected ?? begin) - begin)
      late = flow.loop.scheduleTask(in: max(left, .milliseconds(1))) { [self] in
        fail(TransportError.unsent(.timedOut, "it has not answered the first message of TLS in time", "\(endpoint)"))
      }
      channel?.writeAndFlush(bytes, promise: nil)
    }

    /// Claims the flow, unless another attempt has it.
    func win() {
      guard !isSettled, !hasWon, let channel else { return }
      guard route?.gate?.claim(ticket) ?? true, flow.winner == nil else {
        return fail(lost)
      }
      late?.cancel()
      time = elapsed
      flow.won(by: self, channel)
    }

    /// Releases the flow, of which nothing was sent: the address must first show that it speaks TLS.
    func giveBack() {
      route?.gate?.release(ticket)
      (flow.winner, flow.origin) = (nil, nil)
      flow.attempts.append(self)
    }

    /// The server is verified: the load completes, and the connection stays open.
    func succeed(_ status: HTTPResponse.Status = .ok, _ fields: HTTPFields = [:]) {
      guard !isSettled else { return }
      isSettled = true
      promise.succeed(Shown(time: time, status: status, fields: fields))
    }

    func fail(_ error: any Error) {
      late?.cancel()
      if !isSettled {
        isSettled = true
        if !hasWon { route?.gate?.release(ticket) }
        promise.fail(error)
      }
      if !hasWon { channel?.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let bytes = unwrapInboundIn(data)
      if hasWon { return flow.serverSent(bytes) }
      said.writeImmutableBuffer(bytes)
      guard !isSettled, let first = said.readableBytesView.first else { return }
      if sent != nil || flow.isForTLS, first != 22 {
        // An alert, or not TLS. A ClientHello contains no part of a request, so another address may receive it too.
        // The header of an alert's record is followed by the level and the description (RFC 8446, section 6).
        if first == 21, said.readableBytes < 7 { return }
        if first == 21 { flow.alert = Array(said.readableBytesView) }
        let message = first == 21 ? "it refuses the handshake" : "its response is not TLS"
        return fail(
          TransportError.unsent(
            .secureConnectionFailed, code: first == 21 ? .handshakeFailed : .notTLS, message, "\(endpoint)"))
      }
      win()
      if hasWon { flow.serverSent(said) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
      if hasWon { flow.serverPaused() } else if !isSettled { context.read() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
      if hasWon, context.channel.isWritable { flow.serverIsWritable() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      guard event as? ChannelEvent == .inputClosed else { return }
      if hasWon { flow.serverEnded() } else { channelInactive(context: context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
      if hasWon { return flow.serverClosed() }
      // A server may end a connection that its client does not use; one that ends it at once wants no client.
      if sent == nil, let connected, .now() - connected >= .seconds(1) { return fail(lost) }
      fail(TransportError.unsent(.networkConnectionLost, "it closed without sending a byte", "\(endpoint)"))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      if hasWon { flow.serverFailed() } else { channelInactive(context: context) }
    }
  }
#endif
