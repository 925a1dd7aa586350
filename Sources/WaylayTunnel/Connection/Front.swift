#if Tunnel
  import NIOCore
  import WaylayCore
  import WaylayHosts

  /// A client's connection: parses its request, within limits, and passes it to a flow.
  ///
  /// Unchecked: the mutable state is confined to the tunnel's event loop.
  final class Front: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    private enum State {
      case head, login, socksRequest(Flow.Way), flowing(Flow), closing
    }

    private let server: TunnelServer
    private let channel: any Channel
    private var state = State.head
    private var bytes = ByteBuffer()
    /// The number of bytes already searched for the end of a head.
    private var searched = 0
    private var challenges = 0
    private var late: Scheduled<Void>?

    init(_ server: TunnelServer, _ channel: any Channel) { (self.server, self.channel) = (server, channel) }

    /// The flow of an authenticated client; `nil` before authentication and after the end.
    var flow: Flow? { if case .flowing(let flow) = state { flow } else { nil } }

    func end() {
      flow?.end()
      channel.close(promise: nil)
    }

    /// Callable from any thread.
    func networkChanged() { channel.eventLoop.execute { [self] in flow?.networkChanged() } }

    func channelActive(context: ChannelHandlerContext) {
      late = context.eventLoop.scheduleTask(in: server.limits.headTime) { [channel] in channel.close(promise: nil) }
      context.read()
    }

    func channelInactive(context: ChannelHandlerContext) {
      late?.cancel()
      flow?.clientClosed()
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
      if let flow { flow.clientPaused() } else { context.read() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
      if channel.isWritable { flow?.clientIsWritable() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      guard event as? ChannelEvent == .inputClosed else { return }
      if let flow { flow.clientEnded() } else { channel.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      flow?.clientClosed()
      channel.close(promise: nil)
    }

    /// Parses the available bytes.
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
      } catch let refusal as Refusal where refusal.keepsOpen {
        say(refusal.response)
        advance()
      } catch {
        finish(saying: (error as? Refusal)?.response ?? (error as? SOCKS.Refusal)?.message ?? [])
      }
    }

    /// Sends the last bytes to the client, and ignores all further bytes from it.
    private func finish(saying last: [UInt8]) {
      state = .closing
      late?.cancel()
      bytes.clear()
      TunnelNetwork.end(channel, saying: last)
    }

    private func say(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

    private func begin(_ kind: Flow.Kind, _ authority: HostAuthority, _ way: Flow.Way) {
      late?.cancel()
      let flow = Flow(server, channel, kind, authority, way)
      state = .flowing(flow)
      flow.start(with: bytes)
      bytes = ByteBuffer()
    }
  }

  // MARK: - HTTP

  extension Front {
    private func readHead() throws {
      // Empty lines before a request are ignored (RFC 9112, section 2.2).
      while bytes.readableBytesView.starts(with: [13, 10]) { bytes.moveReaderIndex(forwardBy: 2) }
      bytes.discardReadBytes()
      let view = bytes.readableBytesView
      guard view.first.map({ $0 == 13 || (65...90).contains($0) }) ?? true else { throw ChannelError.eof }
      let end = view.endOfHead(from: view.startIndex + max(0, searched - 3))
      guard (end ?? view.endIndex) - view.startIndex <= server.limits.head else { throw Refusal.tooLong }
      searched = end == nil ? view.count : 0
      guard let end else { return }
      let head = try ProxyHead(view[..<end])
      bytes.moveReaderIndex(to: end)
      let credentials = head.fields[values: .proxyAuthorization]
      guard let way = credentials.count == 1 ? server.way(credentials[0]) : nil else {
        challenges += 1
        throw Refusal.challenge(keepsOpen: head.path == nil && challenges <= server.limits.challenges)
      }
      if let refusal = server.refusal(of: head.authority, way) { throw refusal }
      guard head.path != nil else { return begin(.tunnel(isSOCKS: false), head.authority, way) }
      guard case .rules = way else { throw Refusal.forbidden("a route is for CONNECT") }
      guard head.hopsLeft != 0 else { return finish(saying: head.finalResponse) }
      begin(.request(head), head.authority, way)
    }
  }

  // MARK: - SOCKS

  extension Front {
    /// Parses and removes a complete message of the client; `nil` if it is incomplete.
    private func take<Message>(_ read: (inout ByteBuffer) throws -> Message?) rethrows -> Message? {
      var rest = bytes
      guard let message = try read(&rest) else { return nil }
      bytes = rest
      return message
    }

    private func greet() throws {
      guard try take(SOCKS.greeting) != nil else { return }
      say(SOCKS.usesPassword)
      state = .login
      advance()
    }

    private func login() throws {
      guard let (user, password) = try take(SOCKS.login) else { return }
      guard let way = server.way(user: user.readableBytesView, password: password.readableBytesView) else {
        throw SOCKS.Refusal.wrongPassword
      }
      say(SOCKS.welcome)
      state = .socksRequest(way)
      advance()
    }

    private func socksRequest(_ way: Flow.Way) throws {
      guard let (host, port) = try take(SOCKS.request) else { return }
      let authority = HostAuthority(host, port: port)
      guard server.refusal(of: authority, way) == nil else { throw SOCKS.Refusal.notAllowed }
      begin(.tunnel(isSOCKS: true), authority, way)
    }
  }
#endif
