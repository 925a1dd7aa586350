/// The queue of a round: its attempts and its alarm send signals, and the round's task reads them.
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

  /// Drops unread signals, which may hold probes that other requests wait for.
  func close() {
    let unread = state.withLock { exchange(&$0.signals, with: []) }
    // Released outside of the lock.
    _ = unread
  }

  /// Returns the next signal. Cancellation does not end the wait: it cancels the attempts, and the round must still
  /// handle the end of each.
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
  /// The progress of an attempt in the transport.
  enum Progress: Sendable {
    /// The transport has received it; it may wait for a free connection.
    case queued
    /// A connection was reused, or is being opened.
    case begun
    /// The connection is open and verified.
    case connected
  }

  /// The progress of an attempt in the transport so far.
  struct Standing: Sendable {
    /// Whether it may be waiting for a free connection.
    var isQueued = false
    var begun: Duration?
    var connected: Duration?
  }
}
