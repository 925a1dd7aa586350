import Foundation
import NIOCore
import NIOHTTP1

/// Serves the requests of one HTTP/1.1 connection, or the one request of an HTTP/2 stream.
final class RequestHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let number: Int
  private let journal: Journal
  private let connection: any Channel
  private let localAddress: String
  private var request: TestOrigin.Request?
  private var keepsAlive = true
  /// Parts of a body that came after its request was answered.
  private var unread: Int?

  init(_ number: Int, _ journal: Journal, connection: any Channel) {
    self.number = number
    self.journal = journal
    self.connection = connection
    self.localAddress = connection.localAddress?.ipAddress ?? ""
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      keepsAlive = head.version.major > 1 || head.isKeepAlive
      request = TestOrigin.Request(
        connection: number, localAddress: localAddress,
        httpVersion: head.version.major > 1 ? "\(head.version.major)" : "\(head.version.major).\(head.version.minor)",
        method: head.method.rawValue, target: head.uri, fields: head.headers.map { (name: $0.name, value: $0.value) })
      // Answered before the body is there, which is not read.
      guard head.uri == "/unread" else { return }
      request = nil
      context.write(wrapOutboundOut(.head(HTTPResponseHead(version: head.version, status: .ok))), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
      unread = 0
    case .body(let buffer):
      if let unread {
        self.unread = unread + 1
        if unread == 20 { context.close(promise: nil) }
      }
      request?.body.append(contentsOf: buffer.readableBytesView)
    case .end:
      guard let request else { return }
      self.request = nil
      journal.add(request)
      Responder(context.channel, connection, journal, request, journal.reply(to: request), keepsAlive: keepsAlive)
        .send()
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
