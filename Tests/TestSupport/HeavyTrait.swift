package import Testing
import WaylayCore

/// Has tests that take much processor time wait for each other: three of them run at a time.
///
/// All tests of a run share a few processors. Were the heavy ones among them to run at once, each step of a small test
/// would wait for all of theirs, and loads would run into time limits that have nothing to do with them.
///
/// The time limit of a test goes on while it waits for its turn: ten minutes are not too many for a heavy one.
package struct HeavyTrait: TestTrait, SuiteTrait, TestScoping {
  private static let turns = Turns(atOnce: 3)

  package var isRecursive: Bool { true }

  @concurrent package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    await Self.turns.take()
    defer { Self.turns.giveBack() }
    try await function()
  }
}

extension Trait where Self == HeavyTrait {
  /// For tests that take half a second of processor time or more.
  package static var heavy: Self { HeavyTrait() }
}

/// What so many at a time have, in the order in which they asked.
final class Turns: Sendable {
  private struct State {
    var free: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Locked<State>

  init(atOnce count: Int) {
    state = Locked(State(free: count))
  }

  func take() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.free == 0 {
          state.waiting.append(continuation)
          return false
        }
        state.free -= 1
        return true
      }
      if isFree { continuation.resume() }
    }
  }

  func giveBack() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if state.waiting.isEmpty {
        state.free += 1
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}
