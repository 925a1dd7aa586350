import Foundation
import WaylayHosts

@testable import WaylayCore

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
    var watchers: [(isDone: @Sendable ([Duration]) -> Bool, wake: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Locked(State())

  var clock: HostClock {
    HostClock(now: { self.now }, date: { Date(timeIntervalSince1970: self.now / .seconds(1)) }, sleep: { try await self.sleep($0) })
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

  /// Waits until somebody sleeps until so long after the clock's start.
  func sleeper(until time: Duration) async {
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        if state.sleepers.values.contains(where: { $0.deadline == time + .seconds(1) }) { return true }
        state.watchers.append(({ $0.contains(time + .seconds(1)) }, continuation))
        return false
      }
      if isDone { continuation.resume() }
    }
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
          let deadlines = state.sleepers.values.map(\.deadline)
          let done = state.watchers.filter { $0.isDone(deadlines) }
          state.watchers.removeAll { $0.isDone(deadlines) }
          return (false, done.map(\.wake))
        }
        if isOver { continuation.resume() }
        for watcher in watchers { watcher.resume() }
      }
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: number) }?.wake.resume()
    }
    try Task.checkCancellation()
  }
}
