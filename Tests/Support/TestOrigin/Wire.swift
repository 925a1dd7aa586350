import NIOCore

/// Sits between HTTP and the network (or TLS): keeps a copy of every byte before it is parsed, and can put a reply on
/// the wire in other ways than HTTP would.
final class Wire: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let number: Int
  private let journal: Journal
  private var context: ChannelHandlerContext?
  /// Whether each byte is a write of its own.
  var isBytewise = false
  /// So many writes are yet to be dropped.
  var dropsWrites = 0

  init(_ number: Int, _ journal: Journal) {
    self.number = number
    self.journal = journal
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    journal.received(unwrapInboundIn(data).readableBytesView, on: number)
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if dropsWrites > 0 {
      dropsWrites -= 1
      promise?.succeed()
    } else if isBytewise {
      write(unwrapOutboundIn(data), context, promise)
    } else {
      context.write(data, promise: promise)
    }
  }

  /// Writes bytes that are not HTTP's.
  func write(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>) {
    guard let context else { return promise.fail(ChannelError.ioOnClosedChannel) }
    write(bytes, context, promise)
  }

  private func write(_ bytes: ByteBuffer, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
    var bytes = bytes
    while isBytewise, bytes.readableBytes > 1, let byte = bytes.readSlice(length: 1) {
      context.writeAndFlush(wrapOutboundOut(byte), promise: nil)
    }
    context.writeAndFlush(wrapOutboundOut(bytes), promise: promise)
  }
}
