import Foundation

@testable import WaylayCore
@testable import WaylayHosts

/// A clock that only moves when it is told to, and can be waited for: until somebody sleeps.
final class StepClock: Sendable {
  private struct Sleeper {
    let deadline: Duration
    let wake: CheckedContinuation<Void, Never>
  }

  private struct State {
    var now: Duration = .seconds(1)
    var sleepers: [UInt64: Sleeper] = [:]
    var lastSleeper: UInt64 = 0
    var watchers = Waiters()
  }

  private let state = Locked(State())

  var clock: HostClock {
    HostClock(
      now: { self.now }, date: { Date(timeIntervalSince1970: self.now / .seconds(1)) },
      sleep: { try await self.sleep($0) })
  }

  var now: Duration { state.withLock { $0.now } }

  /// Moves the time on, and wakes who is due.
  func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now += duration
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for number in due.keys { state.sleepers[number] = nil }
      return due
    }
    for sleeper in due.values { sleeper.wake.resume() }
  }

  /// Waits until somebody sleeps until so long after the clock's start, or until the task is cancelled.
  func sleeper(until time: Duration) async {
    let isThere: @Sendable (State) -> Bool = { $0.sleepers.values.contains { $0.deadline == time + .seconds(1) } }
    while !state.withLock({ isThere($0) }), !Task.isCancelled { await state.wait(at: \.watchers, unless: isThere) }
  }

  /// Waits until somebody sleeps until so long after the clock's start, and moves the time there.
  func sleep(until time: Duration) async {
    await sleeper(until: time)
    advance(by: time + .seconds(1) - now)
  }

  private func sleep(_ duration: Duration) async throws {
    let number = state.withLock { state in
      state.lastSleeper += 1
      return state.lastSleeper
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (isOver, watchers) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
          guard duration > .zero, !Task.isCancelled else { return (true, []) }
          state.sleepers[number] = Sleeper(deadline: state.now + duration, wake: continuation)
          return (false, state.watchers.takeAll())
        }
        if isOver { continuation.resume() }
        watchers.wake()
      }
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: number) }?.wake.resume()
    }
    try Task.checkCancellation()
  }
}
