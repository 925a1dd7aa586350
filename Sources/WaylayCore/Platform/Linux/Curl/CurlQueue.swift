#if CORELIBS_FOUNDATION
  internal import DequeModule
  internal import HeapModule
  import Foundation

  /// Admission to libcurl by destination: the exchanges that run, and a line of those that wait.
  ///
  /// libcurl itself has one waiting list for all hosts and wakes one transfer at a time, so a silent server would delay
  /// requests to every host. The queue therefore gives libcurl only transfers that it can begin at once. Each operation
  /// takes constant time, however long the lines are.
  ///
  /// Unchecked: used on the loop's thread only.
  final class CurlQueue: @unchecked Sendable {
    /// The key by which connections are shared: exchanges of different destinations never share one.
    struct Destination: Hashable {
      let scheme: String?
      let host: String?
      let port: Int?
      /// The address of the route, if there is one.
      let address: String?
      let addressPort: Int?
    }

    /// The place of an exchange in the queue.
    enum Position {
      case none
      case waiting(CurlLine)
      case connecting(CurlLine)
      /// Its connection is open; `port` is the local port, or zero if libcurl does not report it.
      case connected(CurlLine, port: Int32)
    }

    /// A time at which the state of an exchange or a line is checked again.
    private struct Alarm: Comparable {
      let time: ContinuousClock.Instant
      weak var exchange: CurlExchange?
      weak var line: CurlLine?
      /// The additional wait while all connections to the destination are busy; `nil` when the wait ends at `time`.
      var extra: Duration?

      static func == (one: Alarm, other: Alarm) -> Bool { one.time == other.time }
      static func < (one: Alarm, other: Alarm) -> Bool { one.time < other.time }
    }

    /// How long the first connection to a destination may take before further ones are opened in parallel.
    private static let firstConnectionDelay: Duration = .seconds(1)

    private let connectionsPerDestination: Int
    private let streamsPerConnection: Int
    private var lines: [Destination: CurlLine] = [:]
    /// Lines whose first exchange may begin.
    private var ready: [CurlLine] = []
    private var alarms = Heap<Alarm>()
    /// Lines whose first connection timed out.
    private var late: [CurlLine] = []
    /// How long a connection without an exchange stays open for the next one.
    private static let grace: Duration = .seconds(2)
    /// Cancelled exchanges whose connection no other exchange took over in time.
    private(set) var superfluous: [CurlExchange] = []

    /// At most 100 streams are put on one connection, which is libcurl's limit.
    init(connectionsPerDestination: Int, streamsPerConnection: Int = CurlTransport.canMultiplex ? 100 : 1) {
      self.connectionsPerDestination = max(1, min(connectionsPerDestination, 100_000))
      self.streamsPerConnection = streamsPerConnection
    }

    /// Whether no exchange waits or runs.
    var isEmpty: Bool { lines.isEmpty }

    /// Whether an exchange may begin.
    var isReady: Bool { !ready.isEmpty }

    /// Whether ``expired(now:)`` has work.
    var isOverdue: Bool { !late.isEmpty || alarms.min.map { $0.time <= .now } ?? false }

    /// The time of the next check if nothing happens before.
    var nextAlarm: ContinuousClock.Instant? { alarms.min?.time }

    /// Adds an exchange; `true` if it may begin at once.
    func enter(_ exchange: CurlExchange, now: ContinuousClock.Instant) -> Bool {
      let line =
        lines[exchange.destination]
        ?? CurlLine(exchange.destination, limit: connectionsPerDestination, mostStreams: streamsPerConnection)
      lines[exchange.destination] = line
      // An exchange that replaces a silent connection need not wait until that connection is closed.
      if !line.hasWaiters && line.hasRoom || exchange.request.route?.opensNewConnection == true && line.hasRoomBeside {
        take(exchange, line, now)
        return true
      }
      exchange.position = .waiting(line)
      line.append(exchange)
      if let limit = exchange.connectLimit { alarms.insert(Alarm(time: now + limit, exchange: exchange, extra: limit)) }
      if let limit = exchange.waitLimit { alarms.insert(Alarm(time: now + limit, exchange: exchange)) }
      if let first = line.firstSince, !line.hasAlarm {
        line.hasAlarm = true
        alarms.insert(Alarm(time: first + Self.firstConnectionDelay, line: line))
      }
      return false
    }

    /// Begins waiting exchanges, in the order of their lines, while there is room.
    func serve(now: ContinuousClock.Instant, _ begin: (CurlExchange) -> Void) {
      while let line = ready.popLast() {
        line.isReady = false
        while line.hasRoom, let exchange = line.popFirst() {
          take(exchange, line, now)
          begin(exchange)
        }
        forget(line)
      }
    }

    private func take(_ exchange: CurlExchange, _ line: CurlLine, _ now: ContinuousClock.Instant) {
      exchange.position = .connecting(line)
      line.connecting += 1
      if line.firstSince == nil { line.firstSince = now }
    }

    /// Records that the connection of an exchange is open.
    func connected(_ exchange: CurlExchange, port: Int32) {
      switch exchange.position {
      case .connecting(let line):
        line.connecting -= 1
        line.connected += 1
        line.claim(port)
        exchange.position = .connected(line, port: port)
        makeReady(line)
      case .connected(let line, let old) where old != port:
        // libcurl moved the exchange to another connection.
        line.release(old)
        line.claim(port)
        exchange.position = .connected(line, port: port)
      default: break
      }
    }

    /// Whether a cancelled exchange continues until its connection is open, because waiting or later exchanges can
    /// share it. Its request is not sent.
    func mustFinishConnecting(_ exchange: CurlExchange, now: ContinuousClock.Instant) -> Bool {
      guard case .connecting(let line) = exchange.position, line.sharesFirst else { return false }
      alarms.insert(Alarm(time: now + Self.grace, exchange: exchange))
      return true
    }

    /// Records from the first response whether a connection to the destination takes several requests.
    func learned(_ exchange: CurlExchange, isMultiplexed: Bool) {
      guard case .connected(let line, _) = exchange.position, line.learn(isMultiplexed) else { return }
      makeReady(line)
    }

    func takeSuperfluous() -> [CurlExchange] { exchange(&superfluous, with: []) }

    /// Records that libcurl opens a new connection for an exchange.
    func reconnecting(_ exchange: CurlExchange) {
      guard case .connected(let line, let port) = exchange.position else { return }
      line.release(port)
      line.connected -= 1
      line.connecting += 1
      exchange.position = .connecting(line)
    }

    /// Removes an exchange that has ended, with the result code of libcurl or without one.
    func left(_ exchange: CurlExchange, code: Int32?) {
      switch exchange.position {
      case .none: return
      case .waiting(let line):
        exchange.position = .none
        line.dropWaiting()
        forget(line)
      case .connecting(let line):
        line.connecting -= 1
        if code == CurlCode.timedOut, line.connected == 0, line.connecting == 0 {
          // Waiting exchanges with the same connect timeout would fail one after the other.
          late.append(line)
        } else if let code, code != 0 {
          // The exchanges that wait for the first connection no longer do.
          line.isOpen = true
        }
        makeReady(line)
      case .connected(let line, let port):
        line.release(port)
        line.connected -= 1
        makeReady(line)
      }
      exchange.position = .none
    }

    /// Removes and returns the exchanges that have waited too long.
    func expired(now: ContinuousClock.Instant) -> [CurlExchange] {
      var expired = late.flatMap { $0.takeWithConnectTimeout() }
      for exchange in expired { exchange.position = .none }
      for line in late { forget(line) }
      late = []
      while let alarm = alarms.min, alarm.time <= now {
        alarms.removeMin()
        if let line = alarm.line {
          line.hasAlarm = false
          guard line.connected == 0 else { continue }
          line.isOpen = true
          makeReady(line)
        } else if let exchange = alarm.exchange, exchange.isCancelled, case .connecting(let line) = exchange.position {
          if line.hasWaiters {
            alarms.insert(Alarm(time: now + Self.grace, exchange: exchange))
          } else {
            superfluous.append(exchange)
          }
        } else if let exchange = alarm.exchange, case .waiting(let line) = exchange.position {
          if let more = alarm.extra, line.connected > 0 {
            alarms.insert(Alarm(time: now + more, exchange: exchange, extra: more))
          } else {
            left(exchange, code: CurlCode.timedOut)
            expired.append(exchange)
          }
        }
      }
      return expired
    }

    /// Removes and returns all waiting exchanges.
    func clear() -> [CurlExchange] {
      let waiting = lines.values.flatMap { $0.clear() }
      for exchange in waiting { exchange.position = .none }
      // An alarm holds a line, the line holds removed exchanges, and these hold the loop.
      alarms = []
      return waiting
    }

    private func makeReady(_ line: CurlLine) {
      if line.connecting == 0, line.connected == 0 { line.firstSince = nil }
      guard line.hasWaiters else { return forget(line) }
      guard !line.isReady else { return }
      line.isReady = true
      ready.append(line)
    }

    private func forget(_ line: CurlLine) {
      if line.isUnused { lines[line.destination] = nil }
    }
  }

  /// The exchanges of one destination.
  final class CurlLine {
    let destination: CurlQueue.Destination
    private let limit: Int
    /// Whether the first connection must be open before further exchanges begin: all may fit on it, or the address may
    /// be unreachable.
    private let needsFirst: Bool
    /// Exchanges on libcurl whose connection is not open yet.
    var connecting = 0
    /// Exchanges on libcurl whose connection is open.
    var connected = 0
    /// The start of the oldest running exchange.
    var firstSince: ContinuousClock.Instant?
    /// Whether waiting exchanges may begin before the first connection is open.
    var isOpen = false
    var isReady = false
    var hasAlarm = false
    private var waiting = Deque<CurlExchange>()
    /// The number of removed exchanges that are still in `waiting`.
    private var goneCount = 0
    /// The number of exchanges on each connection, by local port.
    private var ports: [Int32: Int] = [:]
    /// The number of exchanges that fit on one connection, as far as known.
    private var streams: Int
    /// Whether a response has shown if the server multiplexes.
    private var isKnown: Bool
    /// The maximum of `streams`.
    private let mostStreams: Int

    init(_ destination: CurlQueue.Destination, limit: Int, mostStreams: Int) {
      self.destination = destination
      self.limit = limit
      self.mostStreams = mostStreams
      streams = destination.scheme == "https" ? mostStreams : 1
      isKnown = streams == 1
      needsFirst = !isKnown || destination.address != nil
    }

    var hasWaiters: Bool { waiting.count > goneCount }
    var isUnused: Bool { !hasWaiters && connecting == 0 && connected == 0 }

    /// Whether another exchange may begin.
    var hasRoom: Bool {
      if needsFirst, connected == 0, !isOpen { return connecting == 0 }
      guard streams > 1 else { return connecting + connected < limit }
      // Each exchange without an open connection may be opening one, and does so if the server does not multiplex.
      return connecting < max(isKnown ? 1 : 0, limit - ports.count) && connecting + connected < limit * streams
    }

    /// Whether all waiting exchanges may share the connection that is being opened.
    var sharesFirst: Bool { needsFirst && streams > 1 && connected == 0 }

    /// Records whether the server multiplexes; `false` if that was known.
    func learn(_ isMultiplexed: Bool) -> Bool {
      guard !isKnown else { return false }
      isKnown = true
      if !isMultiplexed { streams = 1 }
      return true
    }

    /// Whether another exchange may begin that needs a new connection.
    var hasRoomBeside: Bool { connecting + ports.count < limit * 2 }

    /// Assigns an exchange to the connection with a local port.
    func claim(_ port: Int32) {
      isOpen = false
      guard port > 0 else { return }
      // A new connection means that the existing ones are full. A connection that was closing may look the same.
      if ports[port] == nil, !ports.isEmpty { streams = max(1, (connected - 1) / ports.count) }
      ports[port, default: 0] += 1
      streams = min(max(streams, ports[port] ?? 1), mostStreams)
    }

    func release(_ port: Int32) {
      guard let count = ports[port] else { return }
      ports[port] = count > 1 ? count - 1 : nil
    }

    func append(_ exchange: CurlExchange) {
      waiting.append(exchange)
    }

    func popFirst() -> CurlExchange? {
      while let first = waiting.popFirst() {
        if case .waiting(let line) = first.position, line === self { return first }
        goneCount -= 1
      }
      return nil
    }

    /// Counts an exchange that no longer waits. It is removed when it reaches the head of the queue, or when half of
    /// the queued exchanges no longer wait.
    func dropWaiting() {
      goneCount += 1
      guard goneCount > 16, goneCount * 2 > waiting.count else { return }
      waiting.removeAll { if case .waiting(let line) = $0.position { line !== self } else { true } }
      goneCount = 0
    }

    /// Removes and returns the exchanges that have a connect timeout.
    func takeWithConnectTimeout() -> [CurlExchange] {
      let all = clear()
      waiting = Deque(all.lazy.filter { $0.connectLimit == nil })
      return all.filter { $0.connectLimit != nil }
    }

    func clear() -> [CurlExchange] {
      defer {
        waiting = []
        goneCount = 0
      }
      return waiting.filter { if case .waiting(let line) = $0.position { line === self } else { false } }
    }
  }
#endif
