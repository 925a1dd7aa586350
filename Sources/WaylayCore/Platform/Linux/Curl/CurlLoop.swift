#if CORELIBS_FOUNDATION
  internal import CWaylayCurl
  import Foundation

  /// A thread that runs all transfers of a transport. Other threads use libcurl only to wake this one.
  ///
  /// The thread starts with the first exchange, and ends after a minute without one, or with the transport.
  final class CurlLoop: Sendable {
    enum Command {
      case start(CurlExchange)
      /// The reader of a response wants more bytes, or a request body has more.
      case resume(CurlExchange)
      case cancel(CurlExchange)
      case closeIdle(address: String, port: Int)
    }

    struct State: @unchecked Sendable {
      // Unchecked: the pointer is used under the lock, or on the loop's thread.
      var commands: [Command] = []
      var loop: UnsafeMutableRawPointer?
      var isRunning = false
      /// Whether the thread sleeps or is about to, and must be woken for a command.
      var isAsleep = false
      var isInvalidated = false
      /// Whether the thread ends as soon as it is idle.
      var isResting = false
    }

    /// Milliseconds without an exchange after which the thread ends and idle connections are closed.
    static let linger: Int32 = 60_000
    /// The number of reset handles to keep for later exchanges: when idle, and at most. Creating a handle costs more
    /// than resetting one.
    static let spareHandles = (idle: 16, most: 256)

    let state = Locked(State())
    /// Used on the loop's thread only.
    let queue: CurlQueue
    /// The connections on which a request has begun, by local port. A closed connection stays until its port is used
    /// again; there are at most 65 535. Used on the loop's thread only.
    let connections = CurlConnections()
    /// Used on the loop's thread only.
    let arrivals = CurlArrivals()
    private let keptConnections: Int

    init(connectionsPerHost: Int) {
      queue = CurlQueue(connectionsPerDestination: connectionsPerHost)
      // libcurl also counts connections in use, and would close one for each request beyond this number.
      keptConnections = min(max(64, connectionsPerHost), 100_000)
    }

    // MARK: From any thread

    /// Starts an exchange.
    func start(_ exchange: CurlExchange) throws {
      guard !waylay_curl_is_over() else {
        throw TransportError(.resourceUnavailable, requestBytesSent: 0, message: "the process is ending.")
      }
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

    /// Posts a command to a running exchange; a no-op after its end.
    func send(_ command: Command) {
      state.withLock { state in
        guard state.isRunning else { return }
        state.commands.append(command)
        state.wake()
      }
    }

    /// Ends the connections to an address, or all, and returns their number.
    func closeConnections(to address: String?) -> Int {
      state.withLock { state in
        guard let loop = state.loop else { return 0 }
        return Int(waylay_curl_loop_shutdown(loop, address))
      }
    }

    /// Closes all connections and ends the thread as soon as no exchange runs. Later exchanges start it again.
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

    /// Records that a request begins on the connection with a local port; zero if libcurl does not report it.
    func noteBegun(_ exchange: CurlExchange, from port: Int32) -> CurlConnection {
      let connection = connections.connection(from: port)
      queue.connected(exchange, port: port)
      return connection
    }

    /// Whether a kept HTTP/1 connection has unread bytes, which belong to no response (RFC 9112, section 9.2): it
    /// cannot be used again.
    func hasUnread(_ easy: UnsafeMutableRawPointer?, from port: Int32, to address: UnsafePointer<CChar>) -> Bool {
      guard connections.connection(from: port).isSequential, let easy, let loop = state.withLock({ $0.loop }) else {
        return false
      }
      return waylay_curl_loop_drop_unread(loop, easy, address, port)
    }
  }

  extension CurlLoop.State {
    fileprivate mutating func wake() {
      guard isAsleep, let loop else { return }
      isAsleep = false
      waylay_curl_loop_wake(loop)
    }
  }

  // Used on the loop's thread only.
  extension CurlLoop {
    /// The state of the thread.
    private struct Transfers {
      let loop: UnsafeMutableRawPointer
      var active: [UnsafeMutableRawPointer: CurlExchange] = [:]
      var spare: [UnsafeMutableRawPointer] = []
    }

    func run() {
      waylay_curl_name_thread("waylay-curl")
      // Without this signal handler, an old libcurl lets a broken TLS connection end the process.
      var broken = sigset_t()
      sigemptyset(&broken)
      sigaddset(&broken, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &broken, nil)
      let made = waylay_curl_loop_new { context, port in CurlExchange.from(context).noteConnecting(from: port) }
      guard let loop = made else { return fail() }
      // The queue limits the connections per host.
      _ = waylay_curl_loop_set_number(loop, CurlMultiOption.maxConnects, keptConnections)
      if !CurlTransport.canMultiplex { _ = waylay_curl_loop_set_number(loop, CurlMultiOption.multiplexing, 0) }
      state.withLock { $0.loop = loop }
      var transfers = Transfers(loop: loop)
      while step(&transfers) {}
      for easy in transfers.spare { waylay_curl_easy_free(easy) }
      waylay_curl_loop_free(loop)
    }

    /// Processes all commands and events, and sleeps until there are more; `false` ends the thread.
    ///
    /// The processing is a separate function so that none of its objects is retained while the thread sleeps. An
    /// exchange retains its transport, which would otherwise keep its thread and descriptors until the next wake-up.
    private func step(_ transfers: inout Transfers) -> Bool {
      guard let mustGoOn = work(&transfers) else { return !stop() }
      return sleep(&transfers, for: mustGoOn ? 0 : nil)
    }

    /// Returns whether there is more to do at once; `nil` ends the thread.
    @inline(never)
    private func work(_ transfers: inout Transfers) -> Bool? {
      let (commands, isInvalidated) = state.withLock { state in
        state.isAsleep = false
        return (exchange(&state.commands, with: []), state.isInvalidated)
      }
      for command in commands { perform(command, &transfers) }
      if isInvalidated { return endAll(nil, &transfers) }
      // Exchanges that ended make room for waiting ones.
      repeat {
        if queue.isReady { queue.serve(now: .now) { begin($0, &transfers) } }
        guard waylay_curl_loop_act(transfers.loop) else { return endAll(CurlCode.outOfMemory, &transfers) }
        takeEnded(&transfers)
      } while queue.isReady
      for exchange in arrivals.take() {
        if let easy = exchange.easy, exchange.shouldRepeatUndecoded {
          again(exchange, easy, &transfers)
        } else {
          exchange.flush()
        }
      }
      if queue.isOverdue {
        for exchange in queue.expired(now: .now) { exchange.fail(Self.late) }
        for exchange in queue.takeSuperfluous() { end(exchange, nil, &transfers) }
      }
      return queue.isReady
    }

    /// Ends all exchanges, and then the thread.
    private func endAll(_ code: Int32?, _ transfers: inout Transfers) -> Bool? {
      for exchange in queue.clear() { exchange.ended(code, easy: nil) }
      for (_, exchange) in transfers.active { end(exchange, code, &transfers) }
      // The arrivals retain the loop, and nothing reads them any more.
      _ = arrivals.take()
      return nil
    }

    /// Removes the exchanges that libcurl has ended from the loop.
    private func takeEnded(_ transfers: inout Transfers) {
      var code: Int32 = 0
      var departing: [CurlExchange] = []
      while let easy = waylay_curl_loop_next(transfers.loop, &code) {
        guard let exchange = transfers.active[easy] else { continue }
        if exchange.connectionState.isSpoilt || exchange.shouldRepeatUndecoded {
          again(exchange, easy, &transfers)
        } else if exchange.shouldDepart(code, easy) {
          depart(exchange, easy, &transfers)
          departing.append(exchange)
        } else {
          end(exchange, code, &transfers)
        }
      }
      // Exchanges that left the same connection wait together for one new connection.
      for exchange in departing where queue.enter(exchange, now: .now) { begin(exchange, &transfers) }
    }

    /// Waits for a command or for activity of a transfer; `false` ends the thread.
    private func sleep(_ transfers: inout Transfers, for milliseconds: Int32?) -> Bool {
      let isIdle = transfers.active.isEmpty && queue.isEmpty
      let (mayWait, isOver) = state.withLock { state in
        let isOver = isIdle && state.isResting
        state.isAsleep = state.commands.isEmpty && !state.isInvalidated && !isOver
        return (state.isAsleep, isOver)
      }
      guard !isOver else { return !stop() }
      guard isIdle, mayWait else {
        _ = waylay_curl_loop_wait(transfers.loop, mayWait ? milliseconds ?? napTime : 0)
        return true
      }
      while transfers.spare.count > Self.spareHandles.idle, let easy = transfers.spare.popLast() {
        waylay_curl_easy_free(easy)
      }
      let sleptSince = ContinuousClock.now
      guard waylay_curl_loop_wait(transfers.loop, Self.linger) == 0,
        sleptSince.duration(to: .now) >= .milliseconds(Int64(Self.linger))
      else { return true }
      return !stop()
    }

    /// The milliseconds until the next alarm of the queue.
    private var napTime: Int32 {
      guard let alarm = queue.nextAlarm else { return Self.linger }
      let time = ContinuousClock.now.duration(to: alarm) / .milliseconds(1)
      return Int32(min(max(time, 0).rounded(.up), Double(Self.linger)))
    }

    /// The error of an exchange that has waited too long in the queue.
    private static let late = TransportError(
      .timedOut, phase: .connecting, requestBytesSent: 0,
      message: "no connection opened in time: other requests to the same server were waiting for one too.")

    /// Ends the thread, unless an exchange has been added meanwhile.
    private func stop() -> Bool {
      state.withLock { state in
        guard state.commands.isEmpty else { return false }
        state.isRunning = false
        state.loop = nil
        return true
      }
    }

    private func perform(_ command: Command, _ transfers: inout Transfers) {
      switch command {
      case .start(let exchange):
        guard !exchange.hasEnded, queue.enter(exchange, now: .now) else { return }
        begin(exchange, &transfers)
      case .resume(let exchange):
        exchange.resume()
      case .cancel(let exchange):
        guard let easy = exchange.easy, transfers.active[easy] === exchange else {
          queue.left(exchange, code: nil)
          return exchange.ended(nil, easy: nil)
        }
        guard !exchange.isOvertaken, queue.mustFinishConnecting(exchange, now: .now) else {
          return end(exchange, nil, &transfers)
        }
      case .closeIdle(let address, let port):
        // A connection on which no request has begun belongs to a transfer that is opening or securing it.
        let idle = Array(
          connections.ports.subtracting(transfers.active.values.lazy.compactMap(\.connectionState.localPort)))
        waylay_curl_loop_shutdown_idle(transfers.loop, address, Int32(truncatingIfNeeded: port), idle, idle.count)
      }
    }

    /// Removes an exchange from the loop; `code` is `nil` if it was cancelled.
    private func end(_ exchange: CurlExchange, _ code: Int32?, _ transfers: inout Transfers) {
      guard let easy = exchange.easy else { return }
      transfers.active[easy] = nil
      queue.left(exchange, code: code)
      // Until it is reset, the handle refers to the exchange, its lists and its error buffer.
      withExtendedLifetime(exchange) {
        let dead = exchange.deadConnection(code, easy)
        if code == nil { exchange.closeConnection() }
        _ = waylay_curl_loop_remove(transfers.loop, easy)
        if let dead {
          // With HTTP/2, libcurl would put the next request on this connection.
          waylay_curl_loop_shutdown_idle(transfers.loop, dead.address, dead.port, [dead.localPort], 1)
        }
        exchange.ended(code, easy: easy)
        recycle(easy, &transfers)
      }
    }

    /// Begins an exchange anew on the same handle.
    private func again(_ exchange: CurlExchange, _ easy: UnsafeMutableRawPointer, _ transfers: inout Transfers) {
      _ = waylay_curl_loop_remove(transfers.loop, easy)
      waylay_curl_easy_reset(easy)
      if exchange.connectionState.isSpoilt { exchange.forgetConnection() } else { exchange.forgetResponse() }
      queue.reconnecting(exchange)
      begin(exchange, easy, &transfers)
    }

    /// Removes an exchange whose connection has ended from the loop, and queues it for another connection. A hundred
    /// exchanges may leave at once, and fit on the next connection.
    private func depart(_ exchange: CurlExchange, _ easy: UnsafeMutableRawPointer, _ transfers: inout Transfers) {
      transfers.active[easy] = nil
      _ = waylay_curl_loop_remove(transfers.loop, easy)
      recycle(easy, &transfers)
      exchange.departures += 1
      exchange.forgetConnection()
      queue.left(exchange, code: nil)
    }

    /// Resets a handle and keeps it for a later exchange.
    private func recycle(_ easy: UnsafeMutableRawPointer, _ transfers: inout Transfers) {
      waylay_curl_easy_reset(easy)
      if transfers.spare.count < Self.spareHandles.most {
        transfers.spare.append(easy)
      } else {
        waylay_curl_easy_free(easy)
      }
    }

    /// Begins an exchange that the queue has admitted.
    private func begin(_ exchange: CurlExchange, _ transfers: inout Transfers) {
      guard let easy = transfers.spare.popLast() ?? waylay_curl_easy_new() else {
        queue.left(exchange, code: CurlCode.outOfMemory)
        return exchange.ended(CurlCode.outOfMemory, easy: nil)
      }
      begin(exchange, easy, &transfers)
    }

    private func begin(_ exchange: CurlExchange, _ easy: UnsafeMutableRawPointer, _ transfers: inout Transfers) {
      guard exchange.begin(easy, transfers.loop), waylay_curl_loop_add(transfers.loop, easy) == 0 else {
        transfers.active[easy] = nil
        queue.left(exchange, code: CurlCode.failedToBegin)
        exchange.ended(CurlCode.failedToBegin, easy: easy)
        return waylay_curl_easy_free(easy)
      }
      transfers.active[easy] = exchange
      exchange.request.route?.onBegin?()
    }

    /// The error of exchanges when no loop can be made.
    private static let cannotStart = TransportError(
      .resourceUnavailable, requestBytesSent: 0,
      message:
        "the connection thread cannot start: no file descriptors or no memory are left. Raise the limit of open files "
        + "(ulimit -n), or make fewer requests at once.")

    /// No loop can be made: fails all waiting exchanges.
    private func fail() {
      let commands = state.withLock { state in
        state.isRunning = false
        return exchange(&state.commands, with: [])
      }
      for case .start(let exchange) in commands { exchange.fail(Self.cannotStart) }
    }
  }

  /// The loop's record of a connection.
  ///
  /// Unchecked, as its table: used on the loop's thread only.
  final class CurlConnection: @unchecked Sendable {
    /// The time of the last byte of a request or a response.
    var lastActivity = ContinuousClock.now
    /// Whether responses arrive one after the other, as with HTTP/1.
    var isSequential = false
  }

  /// The exchanges whose received bytes have not been delivered.
  ///
  /// Unchecked: used on the loop's thread only.
  final class CurlArrivals: @unchecked Sendable {
    private var exchanges: [CurlExchange] = []

    /// Adds an exchange; returns whether it was not yet there.
    func note(_ exchange: CurlExchange) -> Bool {
      guard !exchange.hasArrivals else { return false }
      exchange.hasArrivals = true
      exchanges.append(exchange)
      return true
    }

    func take() -> [CurlExchange] {
      defer { exchanges = [] }
      for exchange in exchanges { exchange.hasArrivals = false }
      return exchanges
    }
  }

  /// The connections of a loop by local port.
  final class CurlConnections: @unchecked Sendable {
    private var known: [Int32: CurlConnection] = [:]

    var ports: Set<Int32> { Set(known.keys) }

    /// A new connection is being opened from a port: its record is that of a closed connection.
    func opening(from port: Int32) { known[port] = nil }

    /// The connection with a local port; a new record if libcurl does not report the port.
    func connection(from port: Int32) -> CurlConnection {
      guard port > 0 else { return CurlConnection() }
      let connection = known[port] ?? CurlConnection()
      known[port] = connection
      return connection
    }
  }
#endif
