#if InspectorServer
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import WaylayCore

  /// What keeps a server from being held up, or filled, by whoever connects to it.
  struct ConnectionLimits: Sendable {
    /// The bytes of a field or of the request line, and of a whole head. Browsers send the cookies of all ports.
    var field = 16 << 10
    var head = 32 << 10
    /// The bytes of a body, which no request of the page has.
    var body = 64 << 10
    /// The connections that have not shown the token yet: one more, and the oldest is closed.
    var strangers = 64
    /// The requests with the token at one time.
    var requests = 512
    /// How long a head may take, how long a client may take nothing of its response, and how long it may take to close.
    var headTime = TimeAmount.seconds(10)
    var stallTime = TimeAmount.seconds(30)
    var closeTime = TimeAmount.seconds(1)
  }

  /// Listens on the loopback address, on a thread of its own, and has each request with the token answered by a task.
  final class Listener: Sendable {
    /// Answers a request. The connection is closed when it returns.
    typealias Handler = @Sendable (PageRequest, Responder) async -> Void

    let port: Int
    private let channel: any Channel
    private let group: MultiThreadedEventLoopGroup
    private let connections: Connections

    /// Begins to listen.
    init(port: UInt16, token: String, limits: ConnectionLimits, handle: @escaping Handler) async throws {
      let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      let connections = Connections(limits)
      do {
        channel = try await ServerBootstrap(group: group)
          .serverChannelOption(.backlog, value: 256)
          .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
          .childChannelOption(.allowRemoteHalfClosure, value: true)
          .childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
              var decoder = NIOHTTPDecoderLimitConfiguration()
              (decoder.maxHeaderFieldSize, decoder.maxHeaderListSize) = (limits.field, limits.head)
              decoder.maxHeaderFieldCount = 100
              let access = AccessCheck(token: token, port: UInt16(channel.localAddress?.port ?? 0))
              try channel.pipeline.syncOperations.addHandlers(
                ByteToMessageHandler(
                  HTTPRequestDecoder(limitConfiguration: decoder), maximumBufferSize: 2 * limits.head),
                Connection(access, connections, handle))
            }
          }
          .bind(to: SocketAddress(ipAddress: "127.0.0.1", port: Int(port))).get()
      } catch {
        try? await group.shutdownGracefully()
        throw error
      }
      (self.group, self.connections) = (group, connections)
      self.port = channel.localAddress?.port ?? 0
    }

    /// Serves until the task is cancelled. Then open requests have a moment to end, and nothing is left: no thread, no
    /// descriptor, no task.
    func run() async {
      await withTaskCancellationHandler {
        try? await channel.closeFuture.get()
      } onCancel: {
        channel.close(promise: nil)
      }
      let open = connections.stop()
      let late = group.next().scheduleTask(in: connections.limits.closeTime) {
        for connection in open { connection.channel.close(promise: nil) }
      }
      for connection in open {
        if connection.task == nil { connection.channel.close(promise: nil) }
        connection.task?.cancel()
      }
      for connection in open {
        await connection.task?.value
        try? await connection.channel.closeFuture.get()
      }
      late.cancel()
      try? await group.shutdownGracefully()
    }
  }

  /// A request with the token.
  struct PageRequest: Sendable {
    let method: HTTPMethod
    /// The path after the token.
    let path: String
    let token: String
  }

  /// The connections of a listener, until each is closed and its task has ended.
  final class Connections: Sendable {
    /// One of them.
    struct Entry: Sendable {
      let channel: any Channel
      /// What answers its request, once it has shown the token.
      var task: Task<Void, Never>?
      var hasEnded = false
      var isClosed = false
    }

    let limits: ConnectionLimits
    /// In the order in which they came; `nil` after ``stop()``.
    private let entries = Locked<[Entry]?>([])

    init(_ limits: ConnectionLimits) {
      self.limits = limits
    }

    /// Adds one, and closes the one that has said nothing for longest when there are too many.
    func add(_ channel: any Channel) {
      let closed = entries.withLock { entries -> (any Channel)? in
        guard entries != nil else { return channel }
        entries?.append(Entry(channel: channel))
        let strangers = entries?.lazy.filter { $0.task == nil }
        return strangers.flatMap { $0.count > limits.strangers ? $0.first?.channel : nil }
      }
      closed?.close(promise: nil)
    }

    /// Begins a task for one; `false` where there are too many.
    func begin(_ channel: any Channel, _ work: @escaping @Sendable () async -> Void) -> Bool {
      entries.withLock { entries in
        guard let all = entries, all.lazy.filter({ $0.task != nil && !$0.hasEnded }).count < limits.requests,
          let index = all.firstIndex(where: { $0.channel === channel })
        else { return false }
        entries?[index].task = Task {
          await work()
          update(channel) { $0.hasEnded = true }
        }
        return true
      }
    }

    /// Notes that one is closed: nobody waits for what its task does.
    func closed(_ channel: any Channel) {
      update(channel) { $0.isClosed = true }?.cancel()
    }

    /// Changes one, and removes it when it is over.
    @discardableResult
    private func update(_ channel: any Channel, _ change: (inout Entry) -> Void) -> Task<Void, Never>? {
      entries.withLock { entries in
        guard let index = entries?.firstIndex(where: { $0.channel === channel }), var entry = entries?[index] else {
          return nil
        }
        change(&entry)
        if entry.isClosed, entry.task == nil || entry.hasEnded {
          entries?.remove(at: index)
        } else {
          entries?[index] = entry
        }
        return entry.task
      }
    }

    /// Takes no more, and returns those that there are.
    func stop() -> [Entry] {
      entries.withLock { entries in
        defer { entries = nil }
        return entries ?? []
      }
    }
  }
#endif
