#if CORELIBS_FOUNDATION
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
      var loop: UnsafeMutableRawPointer?
      var isRunning = false
      /// Whether the thread sleeps, or is about to, and so has to be woken.
      var isAsleep = false
      var isInvalidated = false
      /// Whether nobody is expected to come any more.
      var isResting = false
    }

    /// Milliseconds without an exchange after which the thread ends and idle connections are closed.
    static let linger: Int32 = 60_000
    /// Handles that are kept for the next exchange, when there is none and at most: making one costs more than cleaning
    /// one.
    static let spareHandles = (idle: 16, most: 256)

    let state = Locked(State())
    /// Touched on the loop's thread only.
    let queue: CurlQueue
    /// The connections on which a request has begun, those that are closed again included until their port is another's:
    /// there are 65 535. Touched on the loop's thread only.
    let connections = CurlConnections()
    /// Touched on the loop's thread only.
    let arrivals = CurlArrivals()
    private let keptConnections: Int

    init(connectionsPerHost: Int) {
      queue = CurlQueue(connectionsPerDestination: connectionsPerHost)
      // libcurl counts those in use too, and would close one for every request where there are more.
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
        guard let loop = state.loop else { return 0 }
        return Int(waylay_curl_loop_shutdown(loop, address))
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
      let connection = connections.connection(from: port)
      queue.connected(exchange, port: port)
      return connection
    }

    /// Whether there are bytes on a kept connection of HTTP/1 that nobody has asked for (RFC 9112, section 9.2); it is
    /// of no use any more then.
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

  // On the loop's thread.
  extension CurlLoop {
    /// What only the thread touches.
    private struct Transfers {
      let loop: UnsafeMutableRawPointer
      var active: [UnsafeMutableRawPointer: CurlExchange] = [:]
      var spare: [UnsafeMutableRawPointer] = []
    }

    func run() {
      waylay_curl_name_thread("waylay-curl")
      // Without its signal handler an older libcurl lets a broken TLS connection end the process.
      var broken = sigset_t()
      sigemptyset(&broken)
      sigaddset(&broken, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &broken, nil)
      let made = waylay_curl_loop_new { context, port in CurlExchange.from(context).isConnecting(from: port) }
      guard let loop = made else { return fail() }
      // How many connections a host gets is the queue's business.
      _ = waylay_curl_loop_set_number(loop, CurlMultiOption.maxConnects, keptConnections)
      if !CurlTransport.canMultiplex { _ = waylay_curl_loop_set_number(loop, CurlMultiOption.multiplexing, 0) }
      state.withLock { $0.loop = loop }
      var transfers = Transfers(loop: loop)
      while step(&transfers) {}
      for easy in transfers.spare { waylay_curl_easy_free(easy) }
      waylay_curl_loop_free(loop)
    }

    /// Does what is to be done and sleeps until there is more; `false` ends the thread.
    ///
    /// The work is a function of its own because nothing of it may be held while the thread sleeps: an exchange holds
    /// its transport, which would not be released before the thread wakes up, and with it a thread and its descriptors.
    private func step(_ transfers: inout Transfers) -> Bool {
      guard let mustGoOn = work(&transfers) else { return !stop() }
      return sleep(&transfers, for: mustGoOn ? 0 : nil)
    }

    /// Whether there is more to do already; `nil` when all is over.
    @inline(never)
    private func work(_ transfers: inout Transfers) -> Bool? {
      let (commands, isInvalidated) = state.withLock { state in
        defer { (state.commands, state.isAsleep) = ([], false) }
        return (state.commands, state.isInvalidated)
      }
      for command in commands { perform(command, &transfers) }
      if isInvalidated { return endAll(nil, &transfers) }
      // Who has left makes room for those that wait.
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

    /// Ends everything, and then the thread.
    private func endAll(_ code: Int32?, _ transfers: inout Transfers) -> Bool? {
      for exchange in queue.clear() { exchange.ended(code, easy: nil) }
      for (_, exchange) in transfers.active { end(exchange, code, &transfers) }
      // They hold the loop, and nobody looks for them any more.
      _ = arrivals.take()
      return nil
    }

    /// Takes those exchanges off the loop that libcurl has ended.
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
      // When all have left their connection they wait for one new one together.
      for exchange in departing where queue.enter(exchange, now: .now) { begin(exchange, &transfers) }
    }

    /// Waits until somebody has something to be done, or a transfer goes on; `false` ends the thread.
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

    /// Milliseconds until somebody in the queue has waited for too long.
    private var napTime: Int32 {
      guard let alarm = queue.nextAlarm else { return Self.linger }
      let time = ContinuousClock.now.duration(to: alarm) / .milliseconds(1)
      return Int32(min(max(time, 0).rounded(.up), Double(Self.linger)))
    }

    /// What an exchange fails with that has waited for too long.
    private static let late = TransportError(
      .timedOut, phase: .connecting, requestBytesSent: 0,
      message: "no connection opened in time: other requests to the same server were waiting for one too.")

    /// Ends the thread, unless somebody has come meanwhile.
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
        // A connection on which nothing has begun belongs to a transfer that is opening or securing it.
        let idle = Array(
          connections.ports.subtracting(transfers.active.values.lazy.compactMap(\.connectionState.localPort)))
        waylay_curl_loop_shutdown_idle(transfers.loop, address, Int32(truncatingIfNeeded: port), idle, idle.count)
      }
    }

    /// Takes an exchange off the loop. Without a code it was ended from our side.
    private func end(_ exchange: CurlExchange, _ code: Int32?, _ transfers: inout Transfers) {
      guard let easy = exchange.easy else { return }
      transfers.active[easy] = nil
      queue.left(exchange, code: code)
      // Until it is reset the handle knows the exchange, its lists and its buffer for messages: these go after it.
      withExtendedLifetime(exchange) {
        let dead = exchange.deadConnection(code, easy)
        if code == nil { exchange.closeConnection() }
        _ = waylay_curl_loop_remove(transfers.loop, easy)
        if let dead {
          // With HTTP/2 libcurl would put the next request on it.
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

    /// Takes an exchange whose connection has ended off the loop, to queue for another one: there may be a hundred of
    /// them, and room for all on the next.
    private func depart(_ exchange: CurlExchange, _ easy: UnsafeMutableRawPointer, _ transfers: inout Transfers) {
      transfers.active[easy] = nil
      _ = waylay_curl_loop_remove(transfers.loop, easy)
      recycle(easy, &transfers)
      exchange.departures += 1
      exchange.forgetConnection()
      queue.left(exchange, code: nil)
    }

    /// Keeps a handle that has no exchange any more for the next one.
    private func recycle(_ easy: UnsafeMutableRawPointer, _ transfers: inout Transfers) {
      waylay_curl_easy_reset(easy)
      if transfers.spare.count < Self.spareHandles.most {
        transfers.spare.append(easy)
      } else {
        waylay_curl_easy_free(easy)
      }
    }

    /// Begins an exchange that the queue has handed out.
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

    /// What an exchange fails with for which there is no loop.
    private static let unequipped = TransportError(
      .resourceUnavailable, requestBytesSent: 0,
      message:
        "the thread of the connections cannot be equipped: no descriptors or no memory are left. Raise the limit "
        + "of open files (ulimit -n), or send less at once.")

    /// No loop can be made: what waits for it fails.
    private func fail() {
      let commands = state.withLock { state in
        defer { state.commands = [] }
        state.isRunning = false
        return state.commands
      }
      for case .start(let exchange) in commands { exchange.fail(Self.unequipped) }
    }
  }

  /// A connection, as far as the loop has to know it.
  ///
  /// Unchecked, as its table: touched on the loop's thread only.
  final class CurlConnection: @unchecked Sendable {
    /// When something of a request or a response was on it last.
    var lastActivity = ContinuousClock.now
    /// Whether one response comes on it after the other, as in HTTP/1.
    var isSequential = false
  }

  /// The exchanges that something has come for which was not handed over yet.
  ///
  /// Unchecked: touched on the loop's thread only.
  final class CurlArrivals: @unchecked Sendable {
    private var exchanges: [CurlExchange] = []

    /// Whether it is the first for that exchange.
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

  /// The connections of a loop, by our end's port.
  final class CurlConnections: @unchecked Sendable {
    private var known: [Int32: CurlConnection] = [:]

    var ports: Set<Int32> { Set(known.keys) }

    /// A connection is being opened from a port: what is known of that is about one that has been closed.
    func opening(from port: Int32) { known[port] = nil }

    /// The connection that begins at a port; one of its own where libcurl does not say which.
    func connection(from port: Int32) -> CurlConnection {
      guard port > 0 else { return CurlConnection() }
      let connection = known[port] ?? CurlConnection()
      known[port] = connection
      return connection
    }
  }
#endif
