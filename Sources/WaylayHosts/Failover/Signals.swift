/// What comes to a round from its attempts and its alarm, for the one task that waits for it.
final class Signals: Alarms.Sleeper {
  private struct State {
    var signals: [Failover.Signal] = []
    var waiter: CheckedContinuation<Void, Never>?
    var progress: [Int: Failover.Standing] = [:]
  }

  private let state = Locked(State())

  func send(_ signal: Failover.Signal) {
    let waiter = state.withLock { state in
      state.signals.append(signal)
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  func wake() { send(.look) }

  /// Drops what nobody reads any more: probes that others wait for among it.
  func close() {
    let unread = state.withLock { state in
      defer { state.signals = [] }
      return state.signals
    }
    // Released without the lock.
    _ = unread
  }

  func next() async -> Failover.Signal {
    while true {
      // Through the lock rather than through the continuation (compare U13).
      if let signal = state.withLock({ $0.signals.isEmpty ? nil : $0.signals.removeFirst() }) { return signal }
      await withCheckedContinuation { continuation in
        let isThere = state.withLock { state in
          if state.signals.isEmpty { state.waiter = continuation }
          return !state.signals.isEmpty
        }
        if isThere { continuation.resume() }
      }
    }
  }

  func note(_ progress: Failover.Progress, of index: Int, at time: Duration) {
    state.withLock { state in
      switch progress {
      case .queued: state.progress[index, default: .init()].isQueued = true
      case .begun: state.progress[index] = .init(begun: time)
      case .connected: state.progress[index, default: .init()].connected = time
      }
    }
  }

  func progress(of index: Int) -> Failover.Standing { state.withLock { $0.progress[index] } ?? .init() }
}

extension Failover {
  /// What has happened to an attempt at the transport.
  enum Progress: Sendable {
    /// The transport has it, and it may wait for a free connection.
    case queued
    /// A connection is taken, or begun to be opened.
    case begun
    /// The connection is open and verified.
    case connected
  }

  /// How far an attempt has come at the transport.
  struct Standing: Sendable {
    /// Whether it may be waiting for a free connection.
    var isQueued = false
    var begun: Duration?
    var connected: Duration?
  }
}
