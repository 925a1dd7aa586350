/// The state of a ``Promise`` without its value.
private struct PromiseState {
  var isSettled = false
  var waiter: CheckedContinuation<Void, Never>?
}

/// A value that another task or thread sets once, for one waiting task.
///
/// The value goes through a lock rather than through the continuation: when a continuation is resumed before it is
/// awaited, the thread sanitizer of Swift 6.3 on Linux does not see that the code before the call is ordered before the
/// code after the `await` (compare U13).
///
/// The state beside the value is not generic: each use of a generic type in generic code looks up its metadata, which
/// costs some 300 instructions.
package final class Promise<Value: Sendable>: @unchecked Sendable {
  // Unchecked: `outcome` is set under the lock, and taken by its one waiter after that.
  private let state = Locked(PromiseState())
  /// Reset when the waiter takes it, so that the promise does not retain the value any longer.
  private var outcome: Result<Value, any Error>?

  package init() {}

  /// Sets the value or the failure. Only the first call has an effect, and returns `true`.
  @discardableResult
  package func settle(_ outcome: Result<Value, any Error>) -> Bool {
    let (isFirst, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
      guard !state.isSettled else { return (false, nil) }
      state.isSettled = true
      self.outcome = outcome
      defer { state.waiter = nil }
      return (true, state.waiter)
    }
    waiter?.resume()
    return isFirst
  }

  /// Calls `start`, which begins the work that settles the promise, and waits for the result. Call it once. Cancelling
  /// the task does not end the wait.
  package func value(_ start: () -> Void = {}) async throws -> Value {
    start()
    await withCheckedContinuation { continuation in
      let isSettled = state.withLock { state in
        if !state.isSettled { state.waiter = continuation }
        return state.isSettled
      }
      if isSettled { continuation.resume() }
    }
    // The lock orders this access after that of `settle`; from then on, the waiter alone uses the outcome.
    state.withLock { _ in }
    guard let outcome = outcome.take() else { preconditionFailure("a promise was waited for twice") }
    return try outcome.get()
  }

  /// Calls `start`, which begins the work that settles the promise, and waits for the result or until the task is
  /// cancelled. Call it once.
  ///
  /// - Parameters:
  ///   - start: Begins the work; not called if the task is already cancelled.
  ///   - takeBack: Cancels that work. Called when the task is cancelled, possibly twice, and possibly after the promise
  ///     was settled.
  /// - Throws: `CancellationError` when the task is cancelled before the promise is settled.
  package func valueUnlessCancelled(
    _ start: () -> Void = {}, onCancel takeBack: @Sendable () -> Void = {}
  ) async throws -> Value {
    try await withTaskCancellationHandler {
      try await value {
        guard !Task.isCancelled else { return }
        start()
        // A cancellation during `start` may have found no work to cancel.
        if Task.isCancelled { takeBack() }
      }
    } onCancel: {
      takeBack()
      settle(.failure(CancellationError()))
    }
  }
}

extension Never {
  /// Waits until the task is cancelled, and then throws.
  package static func comes() async throws -> Never {
    try await Promise<Void>().valueUnlessCancelled()
    throw CancellationError()
  }
}
