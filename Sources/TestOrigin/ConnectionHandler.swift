import Foundation
import NIOCore
import NIOHTTP1

/// Keeps a copy of every byte before it is parsed.
final class RawRecorder: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let number: Int
  private let journal: Journal

  init(_ number: Int, _ journal: Journal) {
    self.number = number
    self.journal = journal
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    journal.received(unwrapInboundIn(data).readableBytesView, on: number)
    context.fireChannelRead(data)
  }
}

/// Serves the requests of one connection.
final class ConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let number: Int
  private let journal: Journal
  private var request: TestOrigin.Request?
  private var keepsAlive = true

  init(_ number: Int, _ journal: Journal) {
    self.number = number
    self.journal = journal
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      keepsAlive = head.isKeepAlive
      request = TestOrigin.Request(
        connection: number, method: head.method.rawValue, target: head.uri,
        fields: head.headers.map { (name: $0.name, value: $0.value) })
    case .body(let buffer):
      request?.body.append(contentsOf: buffer.readableBytesView)
    case .end:
      guard let request else { return }
      self.request = nil
      journal.add(request)
      let reply = journal.reply(to: request)
      Responder(context.channel, journal, isHead: request.method == "HEAD", keepsAlive: keepsAlive).send(reply)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    journal.closed()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}

/// Writes one reply to a connection.
struct Responder: Sendable {
  private let channel: any Channel
  private let journal: Journal
  private let isHead: Bool
  private let keepsAlive: Bool

  init(_ channel: any Channel, _ journal: Journal, isHead: Bool, keepsAlive: Bool) {
    self.channel = channel
    self.journal = journal
    self.isHead = isHead
    self.keepsAlive = keepsAlive
  }

  func send(_ reply: Reply) {
    switch reply.body {
    case .never: return
    case .close: channel.close(promise: nil)
    case .whole(let data):
      head(reply, length: data.count)
      if !isHead { body(data) }
      end()
    case .zeros(let count):
      head(reply, length: count)
      zeros(isHead ? 0 : count)
    case .chunks(let chunks, let pause):
      head(reply, length: nil)
      stream(chunks[...], pause: pause)
    case .gated(let name):
      head(reply, length: nil)
      channel.flush()
      journal.openGate(name) { chunk in
        guard let chunk else { return end() }
        body(Data(chunk.utf8))
        channel.flush()
      }
    case .truncated(let data, let declared):
      head(reply, length: declared)
      body(data)
      channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer())))
        .whenComplete { _ in channel.close(promise: nil) }
    case .reset(let data):
      head(reply, length: nil)
      body(data)
      channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer())))
        .flatMap {
          (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            ?? channel.eventLoop.makeSucceededVoidFuture()
        }
        .whenComplete { _ in channel.close(promise: nil) }
    }
  }

  private func head(_ reply: Reply, length: Int?) {
    var headers = HTTPHeaders(reply.fields.map { ($0.name, $0.value) })
    let hasBody = reply.status >= 200 && reply.status != 204 && reply.status != 304
    if let length, hasBody { headers.replaceOrAdd(name: "Content-Length", value: String(length)) }
    if length == nil { headers.replaceOrAdd(name: "Transfer-Encoding", value: "chunked") }
    if !keepsAlive { headers.replaceOrAdd(name: "Connection", value: "close") }
    channel.write(
      HTTPServerResponsePart.head(
        HTTPResponseHead(version: .http1_1, status: .init(statusCode: reply.status), headers: headers)),
      promise: nil)
  }

  private func body(_ data: Data) {
    guard !data.isEmpty else { return }
    channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: data))), promise: nil)
    journal.didSend(data.count)
  }

  private func end() {
    channel.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { _ in
      if !keepsAlive { channel.close(promise: nil) }
    }
  }

  private func stream(_ chunks: ArraySlice<Data>, pause: Int) {
    guard let first = chunks.first, !isHead else { return end() }
    body(first)
    channel.flush()
    let rest = chunks.dropFirst()
    if pause > 0, !rest.isEmpty {
      channel.eventLoop.scheduleTask(in: .milliseconds(Int64(pause))) { stream(rest, pause: pause) }
    } else {
      stream(rest, pause: pause)
    }
  }

  /// Sends as the reader takes: the next piece only when the last one is on the wire.
  private func zeros(_ count: Int) {
    guard count > 0 else { return end() }
    let size = min(count, 64 * 1024)
    let piece = ByteBuffer(repeating: 0, count: size)
    channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(piece))).whenSuccess {
      journal.didSend(size)
      zeros(count - size)
    }
  }
}
