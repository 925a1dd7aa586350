import Foundation

/// Runs work in a task that can be given up from outside, even when the work does not listen to cancellation.
///
/// The task is owned: an interruption and the cancellation of the caller cancel it.
final class Interruptible<Value: Sendable>: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Value, any Error>?
    var task: Task<Void, Never>?
    var verdict: (any Error)?
  }

  private let state = Locked(State())

  /// Waits for `work`, for ``interrupt(_:)`` or for the caller's cancellation, whichever comes first.
  func run(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let verdict = state.withLock { state -> (any Error)? in
          if state.verdict == nil { state.continuation = continuation }
          return state.verdict
        }
        if let verdict { return continuation.resume(throwing: verdict) }
        let task = PlatformClient.promptTask {
          let result: Result<Value, any Error>
          do { result = .success(try await work()) } catch { result = .failure(error) }
          self.settle(result)
        }
        let isGivenUp = state.withLock { state in
          if state.continuation != nil { state.task = task }
          return state.verdict != nil
        }
        if isGivenUp { task.cancel() }
      }
    } onCancel: {
      interrupt(CancellationError())
    }
  }

  /// Fails the run that is going on, and every later one.
  func interrupt(_ error: any Error) {
    let task = state.withLock { state in
      if state.verdict == nil { state.verdict = error }
      return state.task
    }
    task?.cancel()
    settle(.failure(error))
  }

  private func settle(_ result: Result<Value, any Error>) {
    let continuation = state.withLock { state in
      defer {
        state.continuation = nil
        state.task = nil
      }
      return state.continuation
    }
    continuation?.resume(with: result)
  }
}
