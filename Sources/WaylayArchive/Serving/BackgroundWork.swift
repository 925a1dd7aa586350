import Foundation

/// Owns the background tasks of served responses, at most one per key, and cancels them.
final class BackgroundWork: Sendable {
  private struct State {
    var tasks: [ArchiveKey: Task<Void, Never>] = [:]
    var isClosed = false
  }

  private let state = Locked(State())

  /// Starts `work`, unless work for that key is running; returns whether it started.
  ///
  /// - Parameters:
  ///   - seconds: The timeout after which the work is cancelled, for work without another timeout.
  ///   - clock: The clock of the timeout.
  @discardableResult
  func start(
    _ key: ArchiveKey, giveUpAfter seconds: TimeInterval = .infinity, on clock: TimerClock = .system,
    _ work: @escaping @Sendable () async -> Void
  ) -> Bool {
    let shared = SharedWork()
    let started = state.withLock { state -> Task<Void, Never>? in
      guard !state.isClosed, state.tasks[key] == nil else { return nil }
      let task = Task {
        await shared.run(work)
        self.state.withLock { $0.tasks[key] = nil }
      }
      state.tasks[key] = task
      return task
    }
    guard let task = started else { return false }
    if seconds < 1e9 { clock.schedule(clock.now() &+ UInt64(max(0, seconds) * 1e9)) { task.cancel() } }
    return true
  }

  /// Cancels all tasks, and refuses new ones.
  func close() {
    let tasks = state.withLock { state in
      state.isClosed = true
      defer { state.tasks = [:] }
      return Array(state.tasks.values)
    }
    for task in tasks { task.cancel() }
  }
}

/// Work whose caller may stop waiting at a deadline while the work continues.
final class TimedWork<Value: Sendable>: Sendable {
  private let result = Promise<Value>()
  /// Whether the work has ended before the deadline.
  private let isInTime = Promise<Bool>()
  private let task: Task<Void, Never>

  /// Starts the work. It ends by itself, by ``cancel()``, or when a waiting caller is cancelled.
  init(_ work: @escaping @Sendable () async throws -> Value) {
    let shared = SharedWork()
    task = Task { [result, isInTime] in
      do { result.settle(.success(try await shared.run(work))) } catch { result.settle(.failure(error)) }
      isInTime.settle(.success(true))
    }
  }

  /// Ends the wait at its deadline.
  func becomeLate() { isInTime.settle(.success(false)) }

  /// Waits for the result; `nil` if the deadline passes first.
  func outcome() async throws -> Value? {
    try await isInTime.valueUnlessCancelled(onCancel: cancel) ? try await lateOutcome() : nil
  }

  /// Waits for the result without a deadline.
  func lateOutcome() async throws -> Value { try await result.valueUnlessCancelled(onCancel: cancel) }

  /// Cancels the work, and discards a result that comes nevertheless.
  @Sendable func cancel() {
    task.cancel()
    result.settle(.failure(CancellationError()))
  }
}
