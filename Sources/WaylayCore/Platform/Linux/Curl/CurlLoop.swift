#if canImport(FoundationNetworking)
  internal import CWaylayCurl
  import Foundation

  /// One thread with all transfers of a transport: nothing of libcurl is used on any other, but for waking this one.
  ///
  /// The thread starts with the first exchange and ends when there has been none for a while, or with the transport.
  final class CurlLoop: Sendable {
    enum Command {
      case start(CurlExchange)
      /// The reader of a response wants more, or a request body has more.
      case resume(CurlExchange)
      case cancel(CurlExchange)
      case closeIdle(address: String, port: Int)
    }

    struct State: @unchecked Sendable {
      // Unchecked: the pointer is used under the lock, or on the loop's thread.
      var commands: [Command] = []
      var multi: UnsafeMutableRawPointer?
      var sockets: UnsafeMutableRawPointer?
      var isRunning = false
      /// Whether the thread sleeps, or is about to, and so has to be woken.
      var isPolling = false
      var isInvalidated = false
      /// Whether nobody is expected to come any more.
      var isResting = false
    }

    /// Milliseconds without an exchange after which the thread ends and idle connections are closed.
    static let linger: Int32 = 60_000
    /// Handles that are kept for the next exchange: making one costs more than cleaning one.
    static let spareHandles = 16

    let state = Locked(State())
    /// Touched on the loop's thread only.
    let queue: CurlQueue
    /// The connections on which a request has begun by our end's port, those that are closed again included: a port is
    /// one of 65 535. Touched on the loop's thread only.
    let connections = CurlConnections()
    /// Those of them on which one answer comes after the other, as in HTTP/1.
    private let sequentialPorts = Locked<Set<Int32>>([])

    init(connectionsPerHost: Int) {
      queue = CurlQueue(connectionsPerDestination: connectionsPerHost)
    }

    // MARK: From any thread

    /// Starts an exchange.
    func start(_ exchange: CurlExchange) throws {
      let needsThread = try state.withLock { state in
        guard !state.isInvalidated else { throw InterceptorRegistry.invalidatedError(url: exchange.request.url) }
        state.commands.append(.start(exchange))
        state.isResting = false
        defer { state.isRunning = true }
        if state.isRunning { state.wake() }
        return !state.isRunning
      }
      if needsThread { Thread.detachNewThread { self.run() } }
    }

    /// Tells a running exchange something; one that has ended does not care.
    func send(_ command: Command) {
      state.withLock { state in
        guard state.isRunning else { return }
        state.commands.append(command)
        state.wake()
      }
    }

    /// Ends the connections to an address, or all; how many there were.
    func closeConnections(to address: String?) -> Int {
      state.withLock { state in
        guard let sockets = state.sockets else { return 0 }
        return Int(waylay_curl_sockets_shutdown(sockets, address))
      }
    }

    /// Closes all connections and ends the thread as soon as no exchange is under way. Exchanges may come all the same.
    func rest() {
      state.withLock { state in
        state.isResting = true
        state.wake()
      }
    }

    func invalidate() {
      state.withLock { state in
        state.isInvalidated = true
        state.wake()
      }
    }

    // MARK: On the loop's thread

    /// A request begins on the connection from a local port; zero where libcurl does not say.
    func noteBegun(_ exchange: CurlExchange, from port: Int32) -> CurlConnection {
      queue.connected(exchange, port: port)
      return connections.connection(from: port)
    }

    /// An exchange on the connection from a local port has ended.
    func noteEnded(on port: Int32, isHTTP1: Bool) {
      sequentialPorts.withLock { ports in
        if isHTTP1 { ports.insert(port) } else { ports.remove(port) }
      }
    }

    /// Whether there are bytes on a kept connection of HTTP/1 that nobody has asked for (RFC 9112, section 9.2); it is
    /// of no use any more then.
    func hasUnread(on port: Int32) -> Bool {
      guard sequentialPorts.withLock({ $0.contains(port) }), let sockets = state.withLock({ $0.sockets }) else {
        return false
      }
      return waylay_curl_sockets_drop_unread(sockets, port)
    }
  }

  extension CurlLoop.State {
    fileprivate mutating func wake() {
      guard isPolling, let multi else { return }
      isPolling = false
      _ = waylay_curl_multi_wakeup(multi)
    }
  }
#endif
