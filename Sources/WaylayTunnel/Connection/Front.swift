#if Tunnel
  import NIOCore
  import WaylayCore
  import WaylayHosts

  /// A client's connection: reads what it asks for, within limits, and hands it to a flow.
  ///
  /// Unchecked: all that changes is touched on the connection's event loop alone, but for a flag behind a lock.
  final class Front: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    private enum State {
      case head, login, socksRequest(Flow.Way), flowing(Flow), closing
    }

    private let server: TunnelServer
    private let channel: any Channel
    private var state = State.head
    private var bytes = ByteBuffer()
    /// How much of the bytes is known not to hold the end of a head.
    private var searched = 0
    private var challenges = 0
    private var late: Scheduled<Void>?
    private let accepted = Locked(false)

    init(_ server: TunnelServer, _ channel: any Channel) { (self.server, self.channel) = (server, channel) }

    /// Whether the client may use the tunnel. From any thread.
    var hasShownSecret: Bool { accepted.withLock { $0 } }

    /// Closes the connection. From any thread.
    func end() {
      channel.eventLoop.execute { [self] in
        if case .flowing(let flow) = state { flow.end() }
        channel.close(promise: nil)
      }
    }

    func channelActive(context: ChannelHandlerContext) {
      late = context.eventLoop.scheduleTask(in: server.limits.headTime) { [channel] in channel.close(promise: nil) }
      context.read()
    }

    func channelInactive(context: ChannelHandlerContext) {
      late?.cancel()
      if case .flowing(let flow) = state { flow.clientClosed() }
      state = .closing
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let more = unwrapInboundIn(data)
      switch state {
      case .flowing(let flow): flow.clientSent(more)
      case .closing: break
      default:
        bytes.writeImmutableBuffer(more)
        advance()
      }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
      switch state {
      case .flowing(let flow): flow.clientPaused()
      default: context.read()
      }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
      if case .flowing(let flow) = state, channel.isWritable { flow.clientIsWritable() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      guard event as? ChannelEvent == .inputClosed else { return }
      if case .flowing(let flow) = state { flow.clientEnded() } else { channel.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      if case .flowing(let flow) = state { flow.fail() }
      channel.close(promise: nil)
    }

    /// Reads as much as there is.
    private func advance() {
      guard let first = bytes.readableBytesView.first else { return }
      do {
        switch state {
        case .head where first == SOCKS.version: try greet()
        case .head: try readHead()
        case .login: try login()
        case .socksRequest(let way): try socksRequest(way)
        case .flowing, .closing: break
        }
      } catch let refusal as Refusal {
        refuse(refusal)
      } catch {
        close()
      }
    }

    /// Nothing of what comes from here on is looked at.
    private func close(saying last: [UInt8] = []) {
      state = .closing
      bytes.clear()
      late?.cancel()
      TunnelNetwork.end(channel, saying: last)
    }

    private func refuse(_ refusal: Refusal) {
      guard refusal.keepsOpen else { return close(saying: refusal.response) }
      say(refusal.response)
      advance()
    }

    private func begin(_ flow: Flow) {
      accepted.withLock { $0 = true }
      late?.cancel()
      state = .flowing(flow)
      flow.start(with: bytes)
      bytes = ByteBuffer()
    }
  }

  // MARK: - HTTP

  extension Front {
    private func readHead() throws {
      let view = bytes.readableBytesView
      guard view.first.map({ (65...90).contains($0) }) ?? true else { throw ChannelError.eof }
      var index = max(view.startIndex, view.startIndex + searched - 3)
      while index + 4 <= view.endIndex {
        if view[index] == 13, view[index + 1] == 10, view[index + 2] == 13, view[index + 3] == 10 { break }
        index += 1
      }
      let isWhole = index + 4 <= view.endIndex
      guard (isWhole ? index + 4 - view.startIndex : view.count) <= server.limits.head else { throw Refusal.tooLong }
      searched = view.count
      guard isWhole else { return }
      searched = 0
      let head = try ProxyHead(bytes.readSlice(length: index + 4 - view.startIndex)?.readableBytesView ?? view)
      let isTunnel = if case .tunnel = head.target { true } else { false }
      let credentials = head.fields[values: .proxyAuthorization]
      guard let way = credentials.count == 1 ? server.way(credentials[0]) : nil else {
        challenges += 1
        throw Refusal.challenge(keepsOpen: isTunnel && challenges <= server.limits.challenges)
      }
      if let refusal = server.refusal(of: head.authority, way) { throw refusal }
      guard case .absolute(let path) = head.target else {
        return begin(Flow(server, channel, .tunnel(isSOCKS: false), head.authority, way))
      }
      guard case .rules = way else { throw Refusal.forbidden("a route is for CONNECT") }
      guard let url = URL(string: "http://\(head.written)\(path)") else {
        throw Refusal.malformed("the target is no URL")
      }
      begin(Flow(server, channel, .request(head, url, path: path), head.authority, way))
    }
  }

  // MARK: - SOCKS

  extension Front {
    /// A message of the client, once it is whole, taken out of the bytes.
    private func take<Message>(_ read: ([UInt8]) -> SOCKS.Reading<Message>) throws -> Message? {
      switch read(Array(bytes.readableBytesView)) {
      case .incomplete: return nil
      case .malformed: throw ChannelError.eof
      case .message(let message, let length):
        bytes.moveReaderIndex(forwardBy: length)
        return message
      }
    }

    private func say(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

    private func greet() throws {
      guard let mayLogIn = try take(SOCKS.greeting) else { return }
      guard mayLogIn else { return close(saying: SOCKS.noMethod) }
      say(SOCKS.usesPassword)
      state = .login
      advance()
    }

    private func login() throws {
      guard let (user, password) = try take(SOCKS.login) else { return }
      guard let way = server.way(user: user, password: password) else { return close(saying: SOCKS.wrongPassword) }
      say(SOCKS.welcome)
      state = .socksRequest(way)
      advance()
    }

    private func socksRequest(_ way: Flow.Way) throws {
      guard let request = try take(SOCKS.request) else { return }
      guard let (host, port) = request else { return close(saying: SOCKS.reply(7)) }
      let authority = HostAuthority(host, port: port)
      guard server.refusal(of: authority, way) == nil else { return close(saying: SOCKS.reply(2)) }
      begin(Flow(server, channel, .tunnel(isSOCKS: true), authority, way))
    }
  }
#endif
