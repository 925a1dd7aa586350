import Foundation

/// Work that its owner waits for up to a point, and that may go on when he has stopped waiting.
final class PatientWork<Value: Sendable>: Sendable {
  private struct State {
    var outcome: Result<Value, any Error>?
    var isLate = false
    var waiters = Waiters()
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  private let state = Locked(State())

  /// Starts the work. It ends by itself, with ``cancel()``, or with the cancellation of whoever waits for it.
  func start(_ work: @escaping @Sendable () async throws -> Value) {
    let task = Task {
      let outcome: Result<Value, any Error>
      do { outcome = .success(try await work()) } catch { outcome = .failure(error) }
      let waiters = state.withLock { state in
        state.task = nil
        // What nobody takes must be dropped here: it may be a response, whose transfer goes with it.
        state.outcome = state.isCancelled ? .failure(CancellationError()) : outcome
        return state.waiters.takeAll()
      }
      waiters.wake()
    }
    let isCancelled = state.withLock { state in
      if state.outcome == nil { state.task = task }
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  /// Whoever waits need not wait any longer.
  func becomeLate() {
    let waiters = state.withLock { state in
      state.isLate = true
      return state.waiters.takeAll()
    }
    waiters.wake()
  }

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
