/// What comes to a round from its attempts and its alarm, for the one task that waits for it.
final class Signals: Alarms.Sleeper {
  private struct State {
    var signals: [Failover.Signal] = []
    /// The task of the round.
    var waiters = Waiters()
    var progress: [Int: Failover.Standing] = [:]
  }

  private let state = Locked(State())

  func send(_ signal: Failover.Signal) {
    state.change(waking: \.waiters) { $0.signals.append(signal) }
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

  /// The next signal. A cancellation does not end the wait: it ends the attempts, and each of them sends its end, which
  /// the round has yet to judge.
  func next() async -> Failover.Signal {
    while true {
      if let signal = state.withLock({ $0.signals.isEmpty ? nil : $0.signals.removeFirst() }) { return signal }
      await state.wait(at: \.waiters, isCancellable: false) { !$0.signals.isEmpty }
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
