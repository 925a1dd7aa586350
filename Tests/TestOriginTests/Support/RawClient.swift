import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import TestOrigin

/// How a client speaks TLS.
struct ClientTLS: Sendable {
  /// Whom it trusts; nobody in particular, and so everybody, without one.
  var authority: TestAuthority?
  /// The name it asks for. Without one, the certificate has to be for the address.
  var serverName: String?
  var applicationProtocols: [String] = []
  var maximumVersion: TLSVersion?

  func makeHandler() throws -> NIOSSLClientHandler {
    var configuration = TLSConfiguration.makeClientConfiguration()
    if let authority {
      configuration.trustRoots = .certificates([try NIOSSLCertificate(bytes: Array(authority.der), format: .der)])
    } else {
      configuration.certificateVerification = .none
    }
    configuration.applicationProtocols = applicationProtocols
    configuration.minimumTLSVersion = .tlsv1
    configuration.maximumTLSVersion = maximumVersion
    configuration.shutdownTimeout = .milliseconds(50)
    return try NIOSSLClientHandler(context: NIOSSLContext(configuration: configuration), serverHostname: serverName)
  }
}

/// A client that writes bytes and shows what comes back, with nothing of HTTP in between.
final class RawClient {
  let channel: any Channel
  /// What was received and not yet taken.
  private(set) var text = ""
  private let incoming: AsyncThrowingStream<String, any Error>
  private let handshake: EventLoopFuture<String?>
  private let records: RecordCounter.Count
  private let uncleanEnd: NIOLockedValueBox<Bool>

  init(_ origin: TestOrigin, host: String = "127.0.0.1", tls: ClientTLS? = nil) async throws {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: String.self, throwing: (any Error).self)
    let records = RecordCounter.Count(0)
    let uncleanEnd = NIOLockedValueBox(false)
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let handshake = loop.makePromise(of: String?.self)
    self.records = records
    self.uncleanEnd = uncleanEnd
    self.handshake = handshake.futureResult
    incoming = stream
    do {
      channel = try await ClientBootstrap(group: loop)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let operations = channel.pipeline.syncOperations
            if let tls { try operations.addHandlers(RecordCounter(records), try tls.makeHandler()) }
            try operations.addHandler(Inbox(continuation, handshake, uncleanEnd))
          }
        }
        .connect(host: host, port: origin.port).get()
    } catch {
      handshake.fail(error)
      throw error
    }
  }

  /// The protocol that TLS agreed on, once the handshake is over.
  func applicationProtocol() async throws -> String? { try await handshake.get() }

  /// TLS records with data that came so far.
  var recordCount: Int { records.withLockedValue { $0 } }

  /// Whether the server ended the connection without TLS's goodbye, or with a reset.
  var endedUncleanly: Bool { uncleanEnd.withLockedValue { $0 } }

  func send(_ text: String) async throws {
    try await channel.writeAndFlush(ByteBuffer(string: text)).get()
  }

  /// Sends a request without a body.
  func request(_ path: String, method: String = "GET", fields: [String] = []) async throws {
    try await send((["\(method) \(path) HTTP/1.1", "Host: test"] + fields).joined(separator: "\r\n") + "\r\n\r\n")
  }

  /// Waits until what was received ends like this, and takes it. Takes what there is when the connection ends.
  func read(through end: String) async throws -> String {
    defer { text = "" }
    if text.hasSuffix(end) { return text }
    for try await part in incoming {
      text += part
      if text.hasSuffix(end) { break }
    }
    return text
  }

  /// Takes everything until the server closes the connection.
  func readToEnd() async throws -> String {
    defer { text = "" }
    for try await part in incoming { text += part }
    return text
  }

  func close() async { try? await channel.close().get() }
}

/// Hands on what a connection receives.
private final class Inbox: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let continuation: AsyncThrowingStream<String, any Error>.Continuation
  private let handshake: EventLoopPromise<String?>
  private let uncleanEnd: NIOLockedValueBox<Bool>

  init(
    _ continuation: AsyncThrowingStream<String, any Error>.Continuation, _ handshake: EventLoopPromise<String?>,
    _ uncleanEnd: NIOLockedValueBox<Bool>
  ) {
    self.continuation = continuation
    self.handshake = handshake
    self.uncleanEnd = uncleanEnd
  }

  // Text, as the pool that the buffers come from uses them again once nobody else does, which the thread sanitizer
  // cannot follow.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    continuation.yield(String(buffer: unwrapInboundIn(data)))
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted(let applicationProtocol) = event as? TLSUserEvent {
      handshake.succeed(applicationProtocol)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    handshake.fail(ChannelError.eof)
    continuation.finish()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    handshake.fail(error)
    uncleanEnd.withLockedValue { $0 = true }
    // A server that leaves without TLS's goodbye ends the connection all the same.
    if let error = error as? NIOSSLError, case .uncleanShutdown = error { continuation.finish() }
    continuation.finish(throwing: error)
    context.close(promise: nil)
  }
}

/// Counts the TLS records with application data, by their headers (RFC 8446, section 5.1).
private final class RecordCounter: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias Count = NIOLockedValueBox<Int>

  private let count: Count
  private var bytes = ByteBuffer()

  init(_ count: Count) { self.count = count }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    bytes.writeImmutableBuffer(unwrapInboundIn(data))
    while let type = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self),
      let length = bytes.getInteger(at: bytes.readerIndex + 3, as: UInt16.self), bytes.readableBytes >= 5 + Int(length)
    {
      bytes.moveReaderIndex(forwardBy: 5 + Int(length))
      if type == 23 { count.withLockedValue { $0 += 1 } }
    }
    context.fireChannelRead(data)
  }
}
