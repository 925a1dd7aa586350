/// A value that another task or thread sets once, for one waiting task.
///
/// The value goes through a lock rather than through the continuation: when a continuation is resumed before it is
/// awaited, the thread sanitizer of Swift 6.3 on Linux does not see that what came before is ordered before what comes
/// after (compare U13).
package final class Promise<Value: Sendable>: Sendable {
  private struct State {
    /// Until it is taken: what is kept here longer than it is wanted could not be dropped by its owner.
    var outcome: Result<Value, any Error>?
    var isSettled = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Locked(State())

  package init() {}

  /// Brings the value or the failure. Only the first call counts, and says so by returning `true`.
  @discardableResult
  package func settle(_ outcome: Result<Value, any Error>) -> Bool {
    let (isFirst, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
      guard !state.isSettled else { return (false, nil) }
      state.isSettled = true
      state.outcome = outcome
      defer { state.waiter = nil }
      return (true, state.waiter)
    }
    waiter?.resume()
    return isFirst
  }

  /// Starts what will settle the promise, then waits for it. Called once. Cancelling the task does not end the wait.
  package func value(_ start: () -> Void = {}) async throws -> Value {
    start()
    await withCheckedContinuation { continuation in
      let isSettled = state.withLock { state in
        if !state.isSettled { state.waiter = continuation }
        return state.isSettled
      }
      if isSettled { continuation.resume() }
    }
    let outcome = state.withLock { state in
      defer { state.outcome = nil }
      return state.outcome
    }
    guard let outcome else { preconditionFailure("a promise was waited for twice") }
    return try outcome.get()
  }

  /// Starts what will settle the promise, then waits for it, or until the task is cancelled. Called once.
  ///
  /// - Parameters:
  ///   - start: Not called when the task is cancelled already.
  ///   - takeBack: Undoes what `start` has begun: called when the task is cancelled, perhaps twice, and perhaps after
  ///     the promise was settled.
  /// - Throws: `CancellationError` when the task is cancelled before the promise is settled.
  package func valueUnlessCancelled(
    _ start: () -> Void = {}, onCancel takeBack: @Sendable () -> Void = {}
  ) async throws -> Value {
    try await withTaskCancellationHandler {
      try await value {
        guard !Task.isCancelled else { return }
        start()
        // A cancellation meanwhile may have found nothing to take back.
        if Task.isCancelled { takeBack() }
      }
    } onCancel: {
      takeBack()
      settle(.failure(CancellationError()))
    }
  }
}

extension Never {
  /// Waits until the task is cancelled; nothing is left behind.
  package static func comes() async throws -> Never {
    try await Promise<Void>().valueUnlessCancelled()
    throw CancellationError()
  }
}
