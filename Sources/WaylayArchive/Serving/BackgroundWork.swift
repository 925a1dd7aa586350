import Foundation

/// Owns the background tasks of served responses, at most one per key, and cancels them.
final class BackgroundWork: Sendable {
  private struct State {
    var tasks: [ArchiveKey: Task<Void, Never>] = [:]
    var running: Set<ArchiveKey> = []
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
    let isFirst = state.withLock { state in !state.isClosed && state.running.insert(key).inserted }
    guard isFirst else { return false }
    let shared = SharedWork()
    let task = Task {
      await shared.run(work)
      self.state.withLock { state in
        state.running.remove(key)
        state.tasks[key] = nil
      }
    }
    let isClosed = state.withLock { state in
      if state.running.contains(key) { state.tasks[key] = task }
      return state.isClosed
    }
    if isClosed { task.cancel() }
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
  private struct State {
    var outcome: Result<Value, any Error>?
    var isLate = false
    var waiters = Waiters()
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  private let state = Locked(State())

  /// Starts the work. It ends by itself, by ``cancel()``, or when a waiting caller is cancelled.
  func start(_ work: @escaping @Sendable () async throws -> Value) {
    let shared = SharedWork()
    let task = Task {
      let outcome: Result<Value, any Error>
      do { outcome = .success(try await shared.run(work)) } catch { outcome = .failure(error) }
      state.change(waking: \.waiters) { state in
        state.task = nil
        // Drop an unwanted result here: it may be a response, whose release cancels its transfer.
        state.outcome = state.isCancelled ? .failure(CancellationError()) : outcome
      }
    }
    let isCancelled = state.withLock { state in
      if state.outcome == nil { state.task = task }
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  /// Ends the wait of callers that do not accept a late result.
  func becomeLate() { state.change(waking: \.waiters) { $0.isLate = true } }

  /// Takes the result; `nil` if the deadline has passed, unless `evenLate` is set.
  func outcome(evenLate: Bool = false) async throws -> Value? {
    while true {
      await state.wait(at: \.waiters) { $0.outcome != nil || $0.isLate && !evenLate }
      guard !Task.isCancelled else {
        cancel()
        throw CancellationError()
      }
      let (outcome, isLate) = state.withLock { state in
        defer { if state.outcome != nil { state.outcome = .failure(CancellationError()) } }
        return (state.outcome, state.isLate)
      }
      if let outcome { return try outcome.get() }
      if isLate, !evenLate { return nil }
    }
  }

  /// Cancels the work, and discards its result.
  func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      if state.outcome != nil { state.outcome = .failure(CancellationError()) }
      defer { state.task = nil }
      return state.task
    }
    task?.cancel()
  }
}
