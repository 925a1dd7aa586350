#if InspectorServer && !NO_SERVER
  import NIOCore
  import NIOHTTP1

  /// A connection, for one request. Until the token is verified, all work is on the listener's thread, and limited in
  /// bytes and time.
  final class Connection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private enum State {
      case waiting, responding, closing
    }

    private let access: AccessCheck?
    private let connections: Connections
    private let handle: Listener.Handler
    private var state = State.waiting
    /// The request whose body is arriving.
    private var pending: ServerRequest?
    private var isListening = false
    private var hasInputClosed = false
    private var late: Scheduled<Void>?
    /// Looks whether a client that has ended its output is still there.
    private var watch: RepeatedTask?

    init(_ access: AccessCheck?, _ connections: Connections, _ handle: @escaping Listener.Handler) {
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
      watch?.cancel()
      connections.closed(context.channel)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head): read(head, context)
      case .body(let bytes):
        pending?.body.writeImmutableBuffer(bytes)
        guard let size = pending?.body.readableBytes, size > connections.limits.body else { return }
        pending = nil
        refuse(context, .payloadTooLarge, "The body is too large.")
      case .end:
        guard let request = pending else { return }
        pending = nil
        begin(request, context)
      }
    }

    private func read(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
      // Ignore further requests.
      guard state == .waiting, pending == nil else { return }
      guard let request = allowed(head, context.channel) else {
        return refuse(context, .forbidden, "Access is denied.")
      }
      let (limits, length) = (connections.limits, head.headers["content-length"].first.map { Int($0) ?? .max } ?? 0)
      guard length <= limits.body, limits.takesBodies || !head.headers.contains(name: "transfer-encoding") else {
        return refuse(context, .payloadTooLarge, "The body is too large, or not accepted.")
      }
      guard limits.takesBodies else { return begin(request, context) }
      pending = request
      // A program of this user may take its time.
      if access == nil { late?.cancel() }
      if head.version != .http1_0, head.headers["expect"].contains(where: { $0.lowercased() == "100-continue" }) {
        context.channel.writeAndFlush(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"), promise: nil)
      }
    }

    private func begin(_ request: ServerRequest, _ context: ChannelHandlerContext) {
      late?.cancel()
      state = .responding
      isListening = request.path == connections.limits.events
      let responder = Responder(channel: context.channel, limits: connections.limits)
      let hasBegun = connections.begin(context.channel) { [handle] in
        await handle(request, responder)
        responder.finish()
      }
      if !hasBegun { refuse(context, .serviceUnavailable, "Too many requests at once.") }
    }

    /// The request, if the token, the host and the peer's user are right.
    private func allowed(_ head: HTTPRequestHead, _ channel: any Channel) -> ServerRequest? {
      let path = head.uri.utf8.prefix { $0 != UInt8(ascii: "?") }
      let facts = AccessCheck.Request(
        method: head.method.rawValue, path: String(Substring(path)),
        field: { name in
          let values = head.headers[name]
          return values.isEmpty ? nil : values.joined(separator: ", ")
        })
      let rest = access == nil ? head.uri : access?.check(facts)
      guard let rest, PeerOwner.isThisUser(channel) else { return nil }
      return ServerRequest(head: head, path: rest)
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
      guard hasInputClosed else { return }
      // After its input has ended, a client without a request will never send one, and a listening page has
      // disconnected. Any other may wait for its response, as long as a process has its socket.
      let channel = context.channel
      guard state == .responding, !isListening else { return context.close(promise: nil) }
      watch = context.eventLoop.scheduleRepeatedTask(initialDelay: .milliseconds(50), delay: .seconds(1)) { _ in
        if !PeerOwner.isThisUser(channel) { channel.close(promise: nil) }
      }
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

    static func json(_ status: HTTPResponseStatus, _ text: String) -> Response {
      Response(status: status, type: "application/json", body: ByteBuffer(string: text))
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
