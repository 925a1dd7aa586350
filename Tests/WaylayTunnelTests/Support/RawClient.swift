#if Tunnel
  import NIOCore
  import NIOPosix
  import WaylayCore

  /// A client that says what a test has it say.
  final class RawClient: ChannelInboundHandler, @unchecked Sendable {
    // Unchecked: what changes is behind a lock.
    typealias InboundIn = ByteBuffer

    private struct State {
      var received: [UInt8] = []
      var isClosed = false
      var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())
    private var channel: (any Channel)?

    /// - Parameter reads: Whether it takes what comes; otherwise from ``read()`` on, and until then hardly anything.
    static func connect(port: Int, _ text: String = "", reads: Bool = true) async throws -> RawClient {
      let client = RawClient()
      var bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .channelOption(.allowRemoteHalfClosure, value: false).channelOption(.autoRead, value: reads)
      if !reads { bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: 16 << 10) }
      client.channel =
        try await bootstrap
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(client) }
        }
        .connect(host: "127.0.0.1", port: port).get()
      if !text.isEmpty { client.send(text) }
      return client
    }

    func send(_ text: String) { send(Array(text.utf8)) }
    func send(_ bytes: [UInt8]) { channel?.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }
    /// Ends this half, after all that was said.
    func endOutput() {
      guard let channel else { return }
      channel.writeAndFlush(ByteBuffer()).whenComplete { _ in channel.close(mode: .output, promise: nil) }
    }
    func read() { channel?.setOption(.autoRead, value: true).whenComplete { _ in } }
    func close() { channel?.close(promise: nil) }
    /// Closes, and has the system throw away what was not sent.
    func reset() {
      guard let channel, let options = channel as? any SocketOptionProvider else { return }
      options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in channel.close(promise: nil) }
    }

    /// Whether the peer has closed.
    var isClosed: Bool { state.withLock { $0.isClosed } }
    var received: [UInt8] { state.withLock { $0.received } }
    var text: String { String(decoding: received, as: UTF8.self) }

    /// All that comes until the peer closes.
    func rest() async -> String {
      await until { _ in false }
      return text
    }

    /// What has come when it holds a text, or when the peer has closed.
    @discardableResult
    func until(_ part: String) async -> String {
      await until { String(decoding: $0, as: UTF8.self).contains(part) }
      return text
    }

    func until(_ condition: @escaping @Sendable ([UInt8]) -> Bool) async {
      while true {
        let isOver = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
          let isOver = state.withLock { $0.isClosed || condition($0.received) }
          continuation.resume(returning: isOver)
        }
        if isOver || Task.isCancelled { return }
        await withCheckedContinuation { continuation in
          let isOver = state.withLock { state in
            let isOver = state.isClosed || condition(state.received)
            if !isOver { state.waiters.append(continuation) }
            return isOver
          }
          if isOver { continuation.resume() }
        }
      }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let bytes = unwrapInboundIn(data)
      wake { $0.received += bytes.readableBytesView }
    }

    func channelInactive(context: ChannelHandlerContext) { wake { $0.isClosed = true } }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func wake(_ change: (inout State) -> Void) {
      let waiters = state.withLock { state in
        change(&state)
        defer { state.waiters = [] }
        return state.waiters
      }
      for waiter in waiters { waiter.resume() }
    }
  }
#endif
