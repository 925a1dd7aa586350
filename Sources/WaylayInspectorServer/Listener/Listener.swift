#if InspectorServer && !NO_SERVER
  import Foundation
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import WaylayCore

  /// Limits that protect the server from slow or too many clients.
  struct ConnectionLimits: Sendable {
    /// The maximum bytes of a field or the request line, and of a head. Browsers send the cookies of all ports.
    var field = 16 << 10
    var head = 32 << 10
    /// The maximum bytes of a body; no request of the page has one.
    var body = 64 << 10
    /// Whether a request is handled with its body, once that has arrived.
    var takesBodies = false
    /// The path of a stream of events: its client has left when it closes its half of the connection.
    var events: String?
    /// The maximum number of connections without a verified token; beyond it, the oldest is closed.
    var strangers = 64
    /// The maximum number of concurrent requests with the token.
    var requests = 512
    /// The time limits for a head, for a stalled write, and for closing.
    var headTime = TimeAmount.seconds(10)
    var stallTime = TimeAmount.seconds(30)
    var closeTime = TimeAmount.seconds(1)
  }

  /// Listens on the loopback address, on its own thread, and runs a task for each request with the token.
  final class Listener: Sendable {
    /// Responds to a request. The connection is closed when the handler returns.
    typealias Handler = @Sendable (ServerRequest, Responder) async -> Void

    private let channel: any Channel
    private let group: MultiThreadedEventLoopGroup
    private let connections: Connections

    /// Starts listening.
    ///
    /// - Parameter token: The required beginning of paths; `nil` to accept any request of this user.
    /// - Throws: `WaylayError.cannotListen`.
    init(port: UInt16, token: String?, limits: ConnectionLimits, handle: @escaping Handler) async throws {
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
              let access = token.map { AccessCheck(token: $0, port: UInt16(channel.localAddress?.port ?? 0)) }
              try channel.pipeline.syncOperations.addHandlers(
                ByteToMessageHandler(
                  HTTPRequestDecoder(limitConfiguration: decoder), maximumBufferSize: 2 * limits.head),
                Connection(access, connections, handle))
            }
          }
          .bind(to: SocketAddress(ipAddress: "127.0.0.1", port: Int(port))).get()
      } catch {
        try? await group.shutdownGracefully()
        let cause = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? error.localizedDescription
        throw WaylayError(
          .cannotListen, "No server can listen on port \(port) of the loopback address: \(cause)", underlying: error)
      }
      (self.group, self.connections) = (group, connections)
    }

    /// The URL of a path.
    func url(_ path: String = "") -> URL {
      guard let url = URL(string: "http://127.0.0.1:\(channel.localAddress?.port ?? 0)/\(path)") else {
        preconditionFailure("a port and hexadecimal digits make a URL")
      }
      return url
    }

    /// Serves until the task is cancelled. Then open requests get a moment to end, and all threads, descriptors and
    /// tasks are released.
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
  struct ServerRequest: Sendable {
    let head: HTTPRequestHead
    /// The path after the token.
    let path: String
    /// Empty unless the listener takes bodies.
    var body = ByteBuffer()

    var method: HTTPMethod { head.method }
  }

  /// The connections of a listener, each until it is closed and its task has ended.
  final class Connections: Sendable {
    /// A connection.
    struct Entry: Sendable {
      let channel: any Channel
      /// The task that responds to its request, once the token is verified.
      var task: Task<Void, Never>?
      var hasEnded = false
      var isClosed = false
    }

    let limits: ConnectionLimits
    /// In the order of arrival; `nil` after ``stop()``.
    private let entries = Locked<[Entry]?>([])

    init(_ limits: ConnectionLimits) {
      self.limits = limits
    }

    /// Adds a connection; closes the oldest one without a token if there are too many.
    func add(_ channel: any Channel) {
      let closed = entries.withLock { entries -> (any Channel)? in
        guard entries != nil else { return channel }
        entries?.append(Entry(channel: channel))
        let strangers = entries?.lazy.filter { $0.task == nil }
        return strangers.flatMap { $0.count > limits.strangers ? $0.first?.channel : nil }
      }
      closed?.close(promise: nil)
    }

    /// Starts the task of a connection; `false` if there are too many.
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

    /// Cancels the task of a closed connection: its response has no reader.
    func closed(_ channel: any Channel) {
      update(channel) { $0.isClosed = true }?.cancel()
    }

    /// Changes a connection, and removes it once it is closed and its task has ended.
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

    /// Refuses further connections, and returns the open ones.
    func stop() -> [Entry] {
      entries.withLock { $0.take() ?? [] }
    }
  }
#endif
