import WaylayCore
@testable import WaylayHosts

/// A clock that only moves when it is told to.
final class VirtualClock: Sendable {
  private struct Sleeper {
    let deadline: Duration
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = Duration.seconds(1_000)
    var next = 0
    var sleepers: [Int: Sleeper] = [:]
    var cancelled: Set<Int> = []
    var watchers = Waiters()
  }

  private static let epoch = Date(timeIntervalSince1970: 1_800_000_000)
  private let state = Locked(State())

  var clock: HostClock {
    HostClock(now: { self.now }, date: { self.date }, sleep: { try await self.sleep($0) })
  }

  var now: Duration { state.withLock { $0.now } }

  /// The date goes with the time.
  var date: Date { Self.epoch.addingTimeInterval(Double(now.components.seconds)) }

  /// How many sleep now.
  var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// Moves the time on, and wakes who is due, in the order of their deadlines.
  func advance(by duration: Duration) {
    let due = state.withLock { state -> [Sleeper] in
      state.now += duration
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for key in due.keys { state.sleepers[key] = nil }
      return due.values.sorted { $0.deadline < $1.deadline }
    }
    for sleeper in due { sleeper.continuation.resume() }
  }

  /// Waits until at least so many sleep, or until the task is cancelled.
  func untilSleeping(_ count: Int = 1) async {
    let isThere: @Sendable (State) -> Bool = { $0.sleepers.count >= count }
    while !state.withLock({ isThere($0) }), !Task.isCancelled { await state.wait(at: \.watchers, unless: isThere) }
  }

  private func sleep(_ duration: Duration) async throws {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (isCancelled, watchers) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
          if state.cancelled.remove(number) != nil { return (true, []) }
          state.sleepers[number] = Sleeper(deadline: state.now + duration, continuation: continuation)
          return (false, state.watchers.takeAll())
        }
        watchers.wake()
        if isCancelled { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        guard let sleeper = state.sleepers.removeValue(forKey: number) else {
          state.cancelled.insert(number)
          return Sleeper?.none
        }
        return sleeper
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}
