import Foundation
import NIOCore
import NIOPosix
import WaylayCore

/// A connection that sends what it is told to, whatever that is, and keeps all that comes.
final class RawClient: Sendable {
  private struct State {
    var received = ByteBuffer()
    var isOver = false
    var waiters = Waiters()
  }

  private final class Collector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    let state: Locked<State>

    init(_ state: Locked<State>) { self.state = state }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      change { $0.received.writeImmutableBuffer(unwrapInboundIn(data)) }
    }

    func channelInactive(context: ChannelHandlerContext) { change { $0.isOver = true } }

    // A reset is an end.
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func change(_ body: (inout State) -> Void) {
      state.withLock { state in
        body(&state)
        return state.waiters.takeAll()
      }.wake()
    }
  }

  private let channel: any Channel
  private let state: Locked<State>

  /// - Parameter isReading: Whether it takes what comes.
  init(_ url: URL, isReading: Bool = true) async throws {
    let state = Locked(State())
    self.state = state
    channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.autoRead, value: isReading)
      // One that does not read is full soon.
      .channelOption(.socketOption(.so_rcvbuf), value: isReading ? 1 << 20 : 1 << 16)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Collector(state)) }
      }
      .connect(to: SocketAddress(ipAddress: "127.0.0.1", port: url.port ?? 0)).get()
  }

  func send(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)).get() }

  /// All that has come until a text is in it, or until the end.
  func text(until text: String? = nil) async -> String {
    while true {
      let (received, isOver) = state.withLock { (String(buffer: $0.received), $0.isOver) }
      if isOver || text.map({ received.contains($0) }) ?? false { return received }
      let count = received.utf8.count
      await state.wait(at: \.waiters) { $0.isOver || $0.received.readableBytes != count }
    }
  }

  var isOpen: Bool { state.withLock { !$0.isOver } }

  func close() { channel.close(promise: nil) }

  func closed() async throws {
    channel.close(promise: nil)
    try await channel.closeFuture.get()
  }

  /// Says that it has no more to send.
  func endSending() { channel.close(mode: .output, promise: nil) }
}
