import Dispatch
package import Testing
import WaylayCore

/// Has tests that would get in each other's way wait for each other: so many of them run at a time.
///
/// All tests of a run share a few processors, and as few threads of tasks. A test that keeps a thread, or much of a
/// processor, makes each step of the small ones wait, and loads run into time limits that have nothing to do with them.
///
/// A test waits for its turn before any of its cases begins, and with it their time limit: how long the others take does
/// not count. Its cases run one after the other.
package struct TurnTrait: TestTrait, SuiteTrait, TestScoping {
  /// The turns of the cases of a test that has its own turn.
  @TaskLocal private static var cases: Turns?
  /// The turns that the test holds, in the order in which it took them.
  @TaskLocal private static var held: [Turns] = []

  fileprivate let turns: Turns

  package var isRecursive: Bool { true }

  package func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { test.isSuite ? nil : self }

  @concurrent package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    let turns = testCase == nil ? needed : Self.cases
    await turns?.take()
    defer { turns?.giveBack() }
    try await Self.$held.withValue(Self.held + [turns].compactMap(\.self)) {
      // A case takes its turn once, also where its test and its suite have a trait each.
      try await Self.$cases.withValue(testCase == nil ? Turns(atOnce: 1) : nil) {
        if testCase == nil { try await function() } else { try await run(function) }
      }
    }
  }

  /// The turns to take: each once, and none after that of an exit test, or two tests could wait for each other.
  private var needed: Turns? { Self.held.contains { $0 === turns || $0 === Turns.exitTest } ? nil : turns }

  /// Runs a case where it has to run.
  private func run(_ function: @concurrent @Sendable () async throws -> Void) async throws {
    guard let thread = turns.thread, #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else {
      return try await function()
    }
    try await withTaskExecutorPreference(OwnThread(thread)) { try await function() }
  }
}

/// Runs tasks on a queue, so that they keep none of the threads that all tasks share.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class OwnThread: TaskExecutor {
  private let queue: DispatchQueue

  init(_ queue: DispatchQueue) {
    self.queue = queue
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

extension Trait where Self == TurnTrait {
  /// For tests that take half a second of processor time or more.
  package static var heavy: Self { TurnTrait(turns: .heavy) }

  /// For tests that await the end of a process with `processExitsWith`: each runs on a thread of its own, since Testing
  /// reads what comes of the process by a call that blocks. There are as many threads of tasks as processors: without
  /// one of them, tests that need two at once would wait for the process.
  package static var exitTest: Self { TurnTrait(turns: .exitTest) }
}

/// What so many at a time have, in the order in which they asked.
final class Turns: Sendable {
  private struct State {
    var free: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  static let heavy = Turns(atOnce: 4)
  static let exitTest = Turns(atOnce: 1, on: DispatchQueue(label: "waylay.tests.exit"))

  /// Where they run, if not where all tests do.
  let thread: DispatchQueue?
  private let state: Locked<State>

  init(atOnce count: Int, on thread: DispatchQueue? = nil) {
    self.thread = thread
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
