package import WaylayCore

/// A clock for the timeouts of loads that only moves when it is told to.
package final class ManualClock: Sendable {
  private struct State {
    var now: UInt64 = 1_000_000_000
    var pending: [(deadline: UInt64, wake: @Sendable () -> Void)] = []
  }

  private let state = Locked(State())
  private let epoch = ContinuousClock.now

  package init() {}

  package var clock: TimerClock {
    TimerClock(now: { self.state.withLock { $0.now } }, instant: { self.instant }) { deadline, wake in
      self.state.withLock { $0.pending.append((deadline, wake)) }
    }
  }

  /// The same moment, for the deadline of a request.
  package var instant: ContinuousClock.Instant { epoch + .nanoseconds(Int64(state.withLock { $0.now })) }

  /// Seconds that have passed.
  package var seconds: UInt64 { state.withLock { $0.now } / 1_000_000_000 - 1 }

  /// Whether somebody is to be woken.
  package var isAwaited: Bool { state.withLock { !$0.pending.isEmpty } }

  /// Waits until somebody is to be woken within so many seconds.
  package func awaited(within seconds: UInt64) async {
    while !state.withLock({ state in state.pending.contains { $0.deadline <= state.now + seconds * 1_000_000_000 } }) {
      await Task.yield()
    }
  }

  /// Moves the time on by so many seconds, and wakes who is due.
  package func advance(by seconds: UInt64) {
    let due = state.withLock { state in
      state.now += seconds * 1_000_000_000
      let due = state.pending.filter { $0.deadline <= state.now }
      state.pending.removeAll { $0.deadline <= state.now }
      return due
    }
    for entry in due { entry.wake() }
  }
}
