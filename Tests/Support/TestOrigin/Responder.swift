import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// Writes one reply. Everything happens on the event loop of the connection.
struct Responder: Sendable {
  /// Where the parts of the reply go: the connection, or a stream of it.
  private let channel: any Channel
  private let connection: any Channel
  private let journal: Journal
  private let reply: Reply
  private let isHTTP2: Bool
  private let isHead: Bool
  private let keepsAlive: Bool

  init(
    _ channel: any Channel, _ connection: any Channel, _ journal: Journal, _ request: TestOrigin.Request,
    _ reply: Reply, keepsAlive: Bool
  ) {
    self.channel = channel
    self.connection = connection
    self.journal = journal
    self.reply = reply
    self.isHTTP2 = request.httpVersion == "2"
    self.isHead = request.method == "HEAD"
    self.keepsAlive = keepsAlive
  }

  func send() {
    if let gate = reply.gate {
      return journal.openGate(gate) { channel.eventLoop.execute { if journal.takeChunk(gate) != nil { sendNow() } } }
    }
    guard reply.delay > 0 else { return sendNow() }
    channel.eventLoop.scheduleTask(in: .milliseconds(Int64(reply.delay))) { sendNow() }
  }

  private func sendNow() {
    if reply.isBytewise { wire?.isBytewise = true }
    for interim in reply.interim {
      head(interim.status, HTTPHeaders(interim.fields.map { ($0.name, $0.value) }))
      channel.flush()
    }
    switch reply.body {
    case .never: return
    case .close: hangUp()
    case .raw(let bytes): raw(bytes)
    case .whole(let data):
      head(length: data.count)
      if hasBody { body(data) }
      end()
    case .zeros(let count):
      head(length: count)
      zeros(hasBody ? count : 0)
    case .chunks(let chunks, let pause):
      head(length: nil)
      stream(chunks[...], pause: pause)
    case .gated(let name):
      head(length: nil)
      guard hasBody else { return end() }
      channel.flush()
      journal.openGate(name) { channel.eventLoop.execute { drain(name) } }
    case .truncated(let data, let declared):
      head(length: declared)
      if hasBody { body(data) }
      flush().whenComplete { _ in breakOff() }
    case .reset(let data):
      head(length: nil)
      body(data)
      flush().whenComplete { _ in reset() }
    }
  }
}

// MARK: - Parts

extension Responder {
  /// Whether the status is one of those that come with a body (RFC 9110, section 6.4.1).
  private var mayHaveBody: Bool { reply.status >= 200 && reply.status != 204 && reply.status != 304 }

  private var hasBody: Bool { mayHaveBody && !isHead }

  private func head(length: Int?) {
    var headers = HTTPHeaders(reply.fields.map { ($0.name, $0.value) })
    if let length, mayHaveBody { headers.replaceOrAdd(name: "Content-Length", value: String(length)) }
    if !isHTTP2 {
      if length == nil { headers.replaceOrAdd(name: "Transfer-Encoding", value: "chunked") }
      if !keepsAlive { headers.replaceOrAdd(name: "Connection", value: "close") }
    }
    head(reply.status, headers)
  }

  private func head(_ status: Int, _ headers: HTTPHeaders) {
    let head = HTTPResponseHead(
      version: isHTTP2 ? .http2 : .http1_1, status: .init(statusCode: status), headers: headers)
    channel.write(HTTPServerResponsePart.head(head), promise: nil)
  }

  private func body(_ data: Data) {
    guard !data.isEmpty else { return }
    channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: data))), promise: nil)
    journal.didSend(data.count)
  }

  private func flush() -> EventLoopFuture<Void> {
    channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer())))
  }

  private func end() {
    let trailers = reply.trailers.isEmpty ? nil : HTTPHeaders(reply.trailers.map { ($0.name, $0.value) })
    channel.writeAndFlush(HTTPServerResponsePart.end(trailers)).whenComplete { _ in
      if reply.isBytewise { wire?.isBytewise = false }
      if reply.hangsUp {
        hangUp()
      } else if !keepsAlive {
        channel.close(promise: nil)
      }
    }
  }

  private func stream(_ chunks: ArraySlice<Data>, pause: Int) {
    var rest = chunks
    while hasBody, let chunk = rest.popFirst() {
      body(chunk)
      channel.flush()
      guard pause > 0, !rest.isEmpty else { continue }
      let later = rest
      channel.eventLoop.scheduleTask(in: .milliseconds(Int64(pause))) { stream(later, pause: pause) }
      return
    }
    end()
  }

  private func drain(_ gate: String) {
    while let chunk = journal.takeChunk(gate) {
      guard let chunk else { return end() }
      body(Data(chunk.utf8))
      channel.flush()
    }
  }

  /// Sends as the reader takes: the next piece only when the last one is on the wire.
  private func zeros(_ count: Int) {
    guard count > 0 else { return end() }
    let size = min(count, 64 * 1024)
    let piece = ByteBuffer(repeating: 0, count: size)
    channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(piece))).whenSuccess {
      journal.didSend(size)
      // Not from here: a write that is done at once would nest the next one in it.
      channel.eventLoop.execute { zeros(count - size) }
    }
  }

  private func raw(_ bytes: Data) {
    guard let wire else { return }
    let promise = channel.eventLoop.makePromise(of: Void.self)
    promise.futureResult.whenComplete { _ in
      // The handler that takes one HTTP/1.1 request after the other has to see a reply: a head and an end, which go no
      // further.
      if isHTTP2 {
        if reply.hangsUp { hangUp() }
      } else {
        self.wire?.dropsWrites = 2
        head(length: 0)
        end()
      }
    }
    wire.write(ByteBuffer(bytes: bytes), promise: promise)
  }
}

// MARK: - Bad endings

extension Responder {
  private var wire: Wire? { try? connection.pipeline.syncOperations.handler(type: Wire.self) }

  /// The place from which closing goes straight to the network, past TLS. `nil` when the connection is gone.
  private var network: ChannelHandlerContext? {
    let operations = connection.pipeline.syncOperations
    return (try? operations.context(handlerType: NIOSSLServerHandler.self))
      ?? (try? operations.context(handlerType: Wire.self))
  }

  /// Ends a reply in the middle: HTTP/2 resets the stream, HTTP/1.1 has nothing but the end of the connection.
  private func breakOff() {
    wire?.isBytewise = false
    if isHTTP2 { channel.close(promise: nil) } else { hangUp() }
  }

  /// Closes the connection without a word, also where TLS or HTTP/2 have one for it.
  private func hangUp() {
    network?.close(promise: nil)
  }

  private func reset() {
    if let network { connection.reset(from: network) }
  }
}
