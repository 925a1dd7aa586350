#if InspectorServer
  import NIOCore
  import NIOHTTP1

  /// A connection, for one request. Until the token is verified, all work is on the listener's thread, and limited in
  /// bytes and time.
  final class Connection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private enum State {
      case waiting, responding, closing
    }

    private let access: AccessCheck
    private let connections: Connections
    private let handle: Listener.Handler
    private var state = State.waiting
    private var isListening = false
    private var hasInputClosed = false
    private var late: Scheduled<Void>?

    init(_ access: AccessCheck, _ connections: Connections, _ handle: @escaping Listener.Handler) {
      self.access = access
      self.connections = connections
      self.handle = handle
    }

    func channelActive(context: ChannelHandlerContext) {
      let channel = context.channel
      connections.add(channel)
      late = context.eventLoop.scheduleTask(in: connections.limits.headTime) { channel.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
      late?.cancel()
      connections.closed(context.channel)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      // Ignore the body, and further requests.
      guard case .head(let head) = unwrapInboundIn(data), state == .waiting else { return }
      guard let request = allowed(head, context.channel) else {
        return refuse(context, .forbidden, "Access is denied.")
      }
      let length = head.headers["content-length"].first.map { Int($0) ?? .max } ?? 0
      guard length <= connections.limits.body, !head.headers.contains(name: "transfer-encoding") else {
        return refuse(context, .payloadTooLarge, "A request has no body here.")
      }
      late?.cancel()
      state = .responding
      isListening = request.path == RequestHandler.events
      let responder = Responder(channel: context.channel, limits: connections.limits)
      let hasBegun = connections.begin(context.channel) { [handle] in
        await handle(request, responder)
        responder.finish()
      }
      if !hasBegun { refuse(context, .serviceUnavailable, "Too many requests at once.") }
    }

    /// The request, if the token, the host and the peer's user are right.
    private func allowed(_ head: HTTPRequestHead, _ channel: any Channel) -> PageRequest? {
      let path = head.uri.utf8.prefix { $0 != UInt8(ascii: "?") }
      let facts = AccessCheck.Request(
        method: head.method.rawValue, path: String(Substring(path)),
        field: { name in
          let values = head.headers[name]
          return values.isEmpty ? nil : values.joined(separator: ", ")
        })
      guard let rest = access.check(facts), let peer = channel.remoteAddress,
        let own = channel.localAddress, PeerOwner.isThisUser(peer, own: own)
      else { return nil }
      return PageRequest(method: head.method, path: rest, token: access.token)
    }

    private func refuse(_ context: ChannelHandlerContext, _ status: HTTPResponseStatus, _ text: String) {
      state = .closing
      late?.cancel()
      let responder = Responder(channel: context.channel, limits: connections.limits)
      context.channel.writeAndFlush(Response.text(status, text).bytes, promise: nil)
      responder.finish()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      switch event as? ChannelEvent {
      case .inputClosed?: hasInputClosed = true
      case .outputClosed?: state = .closing
      default: return
      }
      // After its input has ended, a client without a request will never send one, and a listening page has
      // disconnected.
      if hasInputClosed, state != .responding || isListening { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      // After the first error, discard input until the client closes.
      guard error is HTTPParserError || error is ByteToMessageDecoderError.PayloadTooLargeError else {
        return context.close(promise: nil)
      }
      guard state == .waiting else { return }
      let isLong = error as? HTTPParserError == .headerOverflow
      refuse(context, isLong ? .requestHeaderFieldsTooLarge : .badRequest, "The request cannot be understood.")
    }
  }

  /// A response that ends with the connection.
  struct Response {
    var status = HTTPResponseStatus.ok
    var type = "text/plain; charset=utf-8"
    /// Fields in addition to those of every response.
    var fields: [(String, String)] = []
    /// `nil` for a streamed body.
    var body: ByteBuffer?

    static func text(_ status: HTTPResponseStatus, _ text: String) -> Response {
      Response(status: status, body: ByteBuffer(string: text))
    }

    /// The head and the body, if present: no caching, no sniffing, no framing, no referrer.
    var bytes: ByteBuffer {
      var fields = fields
      fields += [
        ("Content-Type", type), ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("X-Frame-Options", "DENY"), ("Connection", "close"),
      ]
      if let body { fields.append(("Content-Length", "\(body.readableBytes)")) }
      let lines = ["HTTP/1.1 \(status.code) \(status.reasonPhrase)"] + fields.map { "\($0.0): \($0.1)" }
      var bytes = ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n")
      if let body { bytes.writeImmutableBuffer(body) }
      return bytes
    }
  }

  /// Sends the response to a request.
  struct Responder: Sendable {
    let channel: any Channel
    let limits: ConnectionLimits

    /// Sends bytes; returns once the system has accepted them. Waits for a slow client, within a limit.
    func send(_ bytes: ByteBuffer) async throws {
      var rest = bytes
      while let part = rest.readSlice(length: min(1 << 16, rest.readableBytes)), part.readableBytes > 0 {
        let late = channel.eventLoop.scheduleTask(in: limits.stallTime) { channel.close(promise: nil) }
        defer { late.cancel() }
        try await channel.writeAndFlush(part).get()
      }
    }

    /// Shuts the output, and closes once the client has closed: closing while the client still sends could lose the
    /// response.
    func finish() {
      channel.close(mode: .output, promise: nil)
      channel.eventLoop.scheduleTask(in: limits.closeTime) { channel.close(promise: nil) }
    }
  }
#endif
