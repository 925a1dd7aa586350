import Foundation

/// What goes on in the background of responses that were given: at most one task for a key, all of them owned and
/// cancelled here.
final class BackgroundWork: Sendable {
  private struct State {
    var tasks: [ArchiveKey: Task<Void, Never>] = [:]
    var running: Set<ArchiveKey> = []
    var isClosed = false
  }

  private let state = Locked(State())

  /// Starts `work`, unless some goes on for that key; says whether it did.
  ///
  /// - Parameters:
  ///   - seconds: After how long the work is cancelled, where nobody else watches over it.
  ///   - clock: By whose time.
  @discardableResult
  func start(
    _ key: ArchiveKey, giveUpAfter seconds: TimeInterval = .infinity, on clock: TimerClock = .system,
    _ work: @escaping @Sendable () async -> Void
  ) -> Bool {
    let isFirst = state.withLock { state in !state.isClosed && state.running.insert(key).inserted }
    guard isFirst else { return false }
    let task = Task {
      await work()
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

  /// Cancels everything, and starts nothing more.
  func close() {
    let tasks = state.withLock { state in
      state.isClosed = true
      defer { state.tasks = [:] }
      return Array(state.tasks.values)
    }
    for task in tasks { task.cancel() }
  }
}

/// Work that its owner waits for up to a point, and that may go on when he has stopped waiting.
final class TimedWork<Value: Sendable>: Sendable {
  private struct State {
    var outcome: Result<Value, any Error>?
    var isLate = false
    var waiters = Waiters()
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  private let state = Locked(State())

  /// Starts the work. It ends by itself, with ``cancel()``, or with the cancellation of its caller.
  func start(_ work: @escaping @Sendable () async throws -> Value) {
    let task = Task {
      let outcome: Result<Value, any Error>
      do { outcome = .success(try await work()) } catch { outcome = .failure(error) }
      state.change(waking: \.waiters) { state in
        state.task = nil
        // What nobody takes must be dropped here: it may be a response, whose transfer goes with it.
        state.outcome = state.isCancelled ? .failure(CancellationError()) : outcome
      }
    }
    let isCancelled = state.withLock { state in
      if state.outcome == nil { state.task = task }
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  /// Ends the wait of the caller.
  func becomeLate() { state.change(waking: \.waiters) { $0.isLate = true } }

  /// What has come of the work, taken out; `nil` when it is late, for one who is not ready to wait for that.
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

  /// Ends the work, wherever it is.
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
