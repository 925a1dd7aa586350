import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import TestOrigin

/// One HTTP/2 connection.
struct HTTP2Client: Sendable {
  /// What came back for one request.
  struct Exchange: Sendable {
    /// All heads, the interim ones first.
    var heads: [HTTPResponseHead] = []
    var body = Data()
    var trailers: HTTPHeaders?
    /// Whether the stream came to its end.
    var isComplete = false

    var status: Int? { heads.last.map { Int($0.status.code) } }
    var text: String { String(decoding: body, as: UTF8.self) }
  }

  let channel: any Channel
  private let multiplexer: NIOHTTP2Handler.StreamMultiplexer

  init(_ origin: TestOrigin, authority: TestAuthority, serverName: String? = nil) async throws {
    let tls = ClientTLS(authority: authority, serverName: serverName, applicationProtocols: ["h2"])
    (channel, multiplexer) = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: "127.0.0.1", port: origin.port) { channel in
        channel.eventLoop.makeCompletedFuture {
          let operations = channel.pipeline.syncOperations
          try operations.addHandler(try tls.makeHandler())
          let multiplexer = try operations.configureHTTP2Pipeline(
            mode: .client, connectionConfiguration: .init(), streamConfiguration: .init()
          ) { stream in stream.eventLoop.makeSucceededVoidFuture() }
          return (channel, multiplexer)
        }
      }
  }

  func request(_ path: String, method: HTTPMethod = .GET, body: String = "") async throws -> Exchange {
    let promise = channel.eventLoop.makePromise(of: Exchange.self)
    let stream: any Channel
    do {
      stream = try await multiplexer.createStreamChannel { stream in
        stream.eventLoop.makeCompletedFuture {
          try stream.pipeline.syncOperations.addHandlers(
            HTTP2FramePayloadToHTTP1ClientCodec(httpProtocol: .https), ExchangeHandler(promise))
        }
      }.get()
    } catch {
      promise.fail(error)
      throw error
    }
    let head = HTTPRequestHead(version: .http2, method: method, uri: path, headers: ["Host": "test"])
    stream.write(HTTPClientRequestPart.head(head), promise: nil)
    if !body.isEmpty { stream.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(string: body))), promise: nil) }
    stream.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
    return try await promise.futureResult.get()
  }

  func close() async { try? await channel.close().get() }
}

/// Collects a response until its stream is closed.
private final class ExchangeHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart

  private let promise: EventLoopPromise<HTTP2Client.Exchange>
  private var exchange = HTTP2Client.Exchange()

  init(_ promise: EventLoopPromise<HTTP2Client.Exchange>) { self.promise = promise }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): exchange.heads.append(head)
    case .body(let buffer): exchange.body.append(contentsOf: buffer.readableBytesView)
    case .end(let trailers):
      exchange.trailers = trailers
      exchange.isComplete = true
      promise.succeed(exchange)
    }
  }

  func channelInactive(context: ChannelHandlerContext) { promise.succeed(exchange) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
