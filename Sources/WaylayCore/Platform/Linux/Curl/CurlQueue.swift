#if CORELIBS_FOUNDATION
  internal import DequeModule
  internal import HeapModule
  import Foundation

  /// Who may be on libcurl and who waits, for each place that requests lead to.
  ///
  /// libcurl has one list of those that wait for a connection, for all hosts, and wakes one of them at a time: a server
  /// that says nothing would hold up everybody's requests. So libcurl gets only what it can begin at once, and has
  /// nobody wait. Everything here takes the same time however many wait.
  ///
  /// Unchecked: touched on the loop's thread only.
  final class CurlQueue: @unchecked Sendable {
    /// What connections are for: those to one place are kept apart from those to another.
    struct Destination: Hashable {
      let scheme: String?
      let host: String?
      let port: Int?
      /// The route's, where there is one.
      let address: String?
      let addressPort: Int?
    }

    /// Where an exchange is.
    enum Position {
      case none
      case waiting(CurlLine)
      case connecting(CurlLine)
      /// Its connection is open, and begins at that port of ours; zero where that is not known.
      case connected(CurlLine, port: Int32)
    }

    /// When to look at something again.
    private struct Alarm: Comparable {
      let time: ContinuousClock.Instant
      weak var exchange: CurlExchange?
      weak var line: CurlLine?
      /// How much longer it may wait while the place's connections are busy, which is nobody's fault; `nil` when the
      /// time is over then.
      var extra: Duration?

      static func == (one: Alarm, other: Alarm) -> Bool { one.time == other.time }
      static func < (one: Alarm, other: Alarm) -> Bool { one.time < other.time }
    }

    /// How long the first connection to a place is waited for before others are opened beside it.
    private static let firstConnectionDelay: Duration = .seconds(1)

    private let connectionsPerDestination: Int
    private let streamsPerConnection: Int
    private var lines: [Destination: CurlLine] = [:]
    /// Lines in which somebody may go on.
    private var ready: [CurlLine] = []
    private var alarms = Heap<Alarm>()
    /// Lines whose first one was not connected in its time.
    private var late: [CurlLine] = []
    /// How long a connection that is being opened for nobody waits for somebody to come.
    private static let grace: Duration = .seconds(2)
    /// Those that have opened a connection for nobody, for too long.
    private(set) var superfluous: [CurlExchange] = []

    /// libcurl puts no more than a hundred streams on one connection.
    init(connectionsPerDestination: Int, streamsPerConnection: Int = CurlTransport.canMultiplex ? 100 : 1) {
      self.connectionsPerDestination = max(1, min(connectionsPerDestination, 100_000))
      self.streamsPerConnection = streamsPerConnection
    }

    /// Whether nobody waits, and nobody is on libcurl.
    var isEmpty: Bool { lines.isEmpty }

    /// Whether somebody may go on.
    var isReady: Bool { !ready.isEmpty }

    /// Whether ``expired(now:)`` has something to do.
    var isOverdue: Bool { !late.isEmpty || alarms.min.map { $0.time <= .now } ?? false }

    /// When to look again though nothing has happened.
    var nextAlarm: ContinuousClock.Instant? { alarms.min?.time }

    /// An exchange comes: `true` when it may begin.
    func enter(_ exchange: CurlExchange, now: ContinuousClock.Instant) -> Bool {
      let line =
        lines[exchange.destination]
        ?? CurlLine(exchange.destination, limit: connectionsPerDestination, mostStreams: streamsPerConnection)
      lines[exchange.destination] = line
      // One that takes the place of a connection that is silent need not wait until that is closed.
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

    /// Begins those at the head of their lines for which there is room.
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

    /// The connection of an exchange is open.
    func connected(_ exchange: CurlExchange, port: Int32) {
      switch exchange.position {
      case .connecting(let line):
        line.connecting -= 1
        line.connected += 1
        line.claim(port)
        exchange.position = .connected(line, port: port)
        makeReady(line)
      case .connected(let line, let old) where old != port:
        // libcurl has tried again on another connection.
        line.release(old)
        line.claim(port)
        exchange.position = .connected(line, port: port)
      default: break
      }
    }

    /// Whether an exchange that was cancelled goes on until its connection is open, because others wait to share it, or
    /// may come; nothing of its request is sent.
    func mustFinishConnecting(_ exchange: CurlExchange, now: ContinuousClock.Instant) -> Bool {
      guard case .connecting(let line) = exchange.position, line.sharesFirst else { return false }
      alarms.insert(Alarm(time: now + Self.grace, exchange: exchange))
      return true
    }

    /// How many requests fit on a connection to the place of an exchange is known from the first response.
    func learned(_ exchange: CurlExchange, isMultiplexed: Bool) {
      guard case .connected(let line, _) = exchange.position, line.learn(isMultiplexed) else { return }
      makeReady(line)
    }

    func takeSuperfluous() -> [CurlExchange] {
      defer { superfluous = [] }
      return superfluous
    }

    /// An exchange begins anew on libcurl.
    func reconnecting(_ exchange: CurlExchange) {
      guard case .connected(let line, let port) = exchange.position else { return }
      line.release(port)
      line.connected -= 1
      line.connecting += 1
      exchange.position = .connecting(line)
    }

    /// An exchange is over, with libcurl's code or without one.
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
          // Those behind it that have as little time would find out the same, one after the other.
          late.append(line)
        } else if let code, code != 0 {
          // Those that wait for the first one to be connected go on without it.
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

    /// Those that have waited for too long, which have left.
    func expired(now: ContinuousClock.Instant) -> [CurlExchange] {
      var expired = late.flatMap { $0.takeHurried() }
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

    /// Everybody who waits, none of whom does any more.
    func clear() -> [CurlExchange] {
      let waiting = lines.values.flatMap { $0.clear() }
      for exchange in waiting { exchange.position = .none }
      // Who holds a line holds those that have gone from it, and they hold the loop.
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

  /// Those that want to the same place.
  final class CurlLine {
    let destination: CurlQueue.Destination
    private let limit: Int
    /// Whether one has to be connected before the others begin: they may all fit on its connection, or nobody may be
    /// there.
    private let needsFirst: Bool
    /// Exchanges on libcurl whose connection is not open yet.
    var connecting = 0
    /// Exchanges on libcurl whose connection is open.
    var connected = 0
    /// When the first of those on libcurl began.
    var firstSince: ContinuousClock.Instant?
    /// Whether the others need not wait for the first one any more.
    var isOpen = false
    var isReady = false
    var hasAlarm = false
    private var waiting = Deque<CurlExchange>()
    /// Of these, those that have gone.
    private var goneCount = 0
    /// How many exchanges are on each connection, by our end's port.
    private var ports: [Int32: Int] = [:]
    /// How many fit on one connection, as far as is known.
    private var streams: Int
    /// Whether a response has shown if several fit at all.
    private var isKnown: Bool
    /// No more are put on one connection.
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

    /// Whether one more may begin.
    var hasRoom: Bool {
      if needsFirst, connected == 0, !isOpen { return connecting == 0 }
      guard streams > 1 else { return connecting + connected < limit }
      // Each that is not connected yet may be opening a connection of its own, and does if only one fits on each.
      return connecting < max(isKnown ? 1 : 0, limit - ports.count) && connecting + connected < limit * streams
    }

    /// Whether the connection that is being opened may serve all who wait.
    var sharesFirst: Bool { needsFirst && streams > 1 && connected == 0 }

    /// Takes note whether several fit on one connection; `false` when that was known.
    func learn(_ isMultiplexed: Bool) -> Bool {
      guard !isKnown else { return false }
      isKnown = true
      if !isMultiplexed { streams = 1 }
      return true
    }

    /// Whether one more may begin that needs a connection of its own.
    var hasRoomBeside: Bool { connecting + ports.count < limit * 2 }

    /// An exchange is on the connection that begins at a port.
    func claim(_ port: Int32) {
      isOpen = false
      guard port > 0 else { return }
      // One more connection, though there were some: they were full. A connection that was closing may look the same.
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

    /// One that waited has gone. It stays in the line until it is at the head, or until half of the line have gone.
    func dropWaiting() {
      goneCount += 1
      guard goneCount > 16, goneCount * 2 > waiting.count else { return }
      waiting.removeAll { if case .waiting(let line) = $0.position { line !== self } else { true } }
      goneCount = 0
    }

    /// Takes out those that have a limit for their connection.
    func takeHurried() -> [CurlExchange] {
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
