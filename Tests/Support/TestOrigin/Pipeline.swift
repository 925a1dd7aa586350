import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL
import NIOTLS

/// Gives new connections the handlers that they need: plain or TLS, HTTP/1.1 or HTTP/2, or none but one that
/// misbehaves.
struct Pipeline: Sendable {
  let journal: Journal
  let contexts: SecureContexts?

  /// Prepares a connection that was accepted on an address. On its event loop.
  func configure(_ channel: any Channel, host: String) throws {
    let (local, remote) = (channel.localAddress, channel.remoteAddress)
    let number = journal.opened { number in
      TestOrigin.Connection(
        number: number, localAddress: local?.ipAddress ?? "", remoteAddress: remote?.ipAddress ?? "",
        remotePort: remote?.port ?? 0)
    }
    channel.closeFuture.whenComplete { _ in journal.closed(number) }

    let behaviour = journal.behaviour(on: host)
    switch behaviour {
    case .serve, .silentAfterHandshake, .serveWhenReleased:
      if case .serveWhenReleased = behaviour {
        _ = channel.setOption(.autoRead, value: false)
        let gate = "connection \(number)"
        journal.openGate(gate) {
          channel.eventLoop.execute {
            if journal.takeChunk(gate) != nil { _ = channel.setOption(.autoRead, value: true) }
          }
        }
      }
      if let contexts {
        try secure(channel, number, contexts, behaviour)
      } else {
        try serve(channel, number, behaviour, version: nil)
      }
    case .close, .reset, .silent, .garbage:
      try channel.pipeline.syncOperations.addHandler(MisbehavingHandler(behaviour, number, journal))
    }
  }

  /// Reads the name that the client asks for, then begins the handshake with the right certificate.
  private func secure(
    _ channel: any Channel, _ number: Int, _ contexts: SecureContexts, _ behaviour: TestOrigin.Behaviour
  ) throws {
    journal.update(number) { $0.isHandshaking = true }
    let handler = SNIHandler { result in
      let name: String? = if case .hostname(let name) = result { name } else { nil }
      journal.update(number) { $0.sni = name }
      return channel.eventLoop.makeCompletedFuture {
        let operations = channel.pipeline.syncOperations
        try operations.addHandler(NIOSSLServerHandler(context: contexts.context(for: name)))
        try operations.addHandler(
          HandshakeHandler(number, journal) { try serve(channel, number, behaviour, version: $0) })
      }
    }
    try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(handler))
  }

  /// Adds what parses and answers requests; `version` is what ALPN says.
  private func serve(_ channel: any Channel, _ number: Int, _ behaviour: TestOrigin.Behaviour, version: String?) throws
  {
    let operations = channel.pipeline.syncOperations
    if case .silentAfterHandshake = behaviour {
      return try operations.addHandler(MisbehavingHandler(behaviour, number, journal))
    }
    try operations.addHandler(Wire(number, journal))
    guard version == "h2" else {
      try operations.configureHTTPServerPipeline()
      return try operations.addHandler(RequestHandler(number, journal, connection: channel))
    }
    _ = try operations.configureHTTP2Pipeline(
      mode: .server, connectionConfiguration: .init(), streamConfiguration: .init()
    ) { stream in
      stream.eventLoop.makeCompletedFuture {
        try stream.pipeline.syncOperations.addHandlers(
          HTTP2FramePayloadToHTTP1ServerCodec(), RequestHandler(number, journal, connection: channel))
      }
    }
    try operations.addHandler(ErrorHandler(number, journal))
  }
}

/// Waits for the end of the TLS handshake, and notes what came of it.
private final class HandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  private let number: Int
  private let journal: Journal
  private let proceed: (_ applicationProtocol: String?) throws -> Void

  init(_ number: Int, _ journal: Journal, proceed: @escaping (_ applicationProtocol: String?) throws -> Void) {
    self.number = number
    self.journal = journal
    self.proceed = proceed
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case .handshakeCompleted(let applicationProtocol) = event as? TLSUserEvent else {
      return context.fireUserInboundEventTriggered(event)
    }
    let version = (try? context.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self))?.tlsVersion
    journal.update(number) { connection in
      connection.isHandshaking = false
      connection.alpn = applicationProtocol
      connection.tlsVersion = version.map(TestOrigin.TLS.Version.init)
    }
    do {
      try proceed(applicationProtocol)
      context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    } catch {
      context.close(promise: nil)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    journal.update(number) { $0.fail("\(error)") }
    context.close(promise: nil)
  }
}

/// Closes an HTTP/2 connection that cannot go on. Errors of a single stream are for that stream alone.
private final class ErrorHandler: ChannelInboundHandler {
  typealias InboundIn = Any

  private let number: Int
  private let journal: Journal

  init(_ number: Int, _ journal: Journal) {
    self.number = number
    self.journal = journal
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard !(error is NIOHTTP2Errors.StreamError) else { return }
    journal.update(number) { $0.protocolFailure = "\(error)" }
    context.close(promise: nil)
  }
}
