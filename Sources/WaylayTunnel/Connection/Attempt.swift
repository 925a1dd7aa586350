#if Tunnel
  import NIOCore
  import WaylayCore
  import WaylayHosts

  /// A connection to one address for a flow: until it has shown what it is, and as the server's side from then on.
  ///
  /// Unchecked: all that changes is touched on the flow's event loop alone.
  final class Attempt: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    /// What is known of a connection when it counts as the host's.
    struct Shown: Sendable {
      /// The time until it was open and had shown that it speaks TLS, where the client does.
      let time: Duration
      /// The head of the response, where that is looked at.
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
    /// The time that was spent waiting for the client, which is not the address's.
    private var connected: NIODeadline?
    private var sent: NIODeadline?
    var isConnected: Bool { connected != nil }
    /// How many of the client's bytes it has got, before it has won.
    private(set) var offered = 0
    private var late: Scheduled<Void>?
    private var isSettled = false
    private(set) var hasWon = false
    private var time = Duration.zero

    init(_ flow: Flow, _ endpoint: HostEndpoint, _ route: Route?) {
      (self.flow, self.endpoint, self.route) = (flow, endpoint, route)
      ticket = DialGate.Ticket(route)
      limit = route?.connectTimeout.map { TimeAmount($0) } ?? .seconds(20)
      promise = flow.loop.makePromise()
    }

    /// How long it has taken, without what it has waited for the client.
    private var elapsed: Duration {
      let dial = (connected ?? .now()) - begin
      return .nanoseconds(dial.nanoseconds + (sent.map { (NIODeadline.now() - $0).nanoseconds } ?? 0))
    }

    /// Another attempt was first.
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

    /// Sends the client's first message. What comes back decides.
    func sendHello(_ bytes: ByteBuffer) {
      guard sent == nil else { return }
      (sent, offered) = (.now(), bytes.readableBytes)
      let left = limit - ((connected ?? begin) - begin)
      late = flow.loop.scheduleTask(in: max(left, .milliseconds(1))) { [self] in
        fail(TransportError.unsent(.timedOut, "it has not answered the first message of TLS in time", "\(endpoint)"))
      }
      channel?.writeAndFlush(bytes, promise: nil)
    }

    /// Takes the flow, unless another has it.
    func win() {
      guard !isSettled, !hasWon, let channel else { return }
      guard route?.gate?.claim(ticket) ?? true, flow.winner == nil else {
        return fail(lost)
      }
      late?.cancel()
      (hasWon, time) = (true, elapsed)
      flow.won(by: self, channel)
    }

    /// It has shown what it is: the load is over, and the connection goes on.
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
      guard !isSettled, let first = bytes.readableBytesView.first else { return }
      if sent != nil, first != 22 {
        // An alert, or no TLS at all. A ClientHello holds nothing of a request, so another address may have it.
        return fail(
          first == 21
            ? TransportError.unsent(.secureConnectionFailed, "it refuses the handshake", "\(endpoint)")
            : TransportError.unsent(
              .secureConnectionFailed, code: .notTLS, "what it answers is not TLS", "\(endpoint)"))
      }
      win()
      if hasWon { flow.serverSent(bytes) }
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
      fail(TransportError.unsent(.networkConnectionLost, "it closed before it had said anything", "\(endpoint)"))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      if hasWon { flow.serverFailed() } else { channelInactive(context: context) }
    }
  }
#endif
