/// Runs work in a task that can be abandoned from outside, even if the work ignores cancellation.
///
/// The task is owned: an interruption and the cancellation of the caller cancel it.
final class Interruptible<Value: Sendable>: Sendable {
  private struct State {
    var promise: Promise<Value>?
    var task: Task<Void, Never>?
    var verdict: (any Error)?
  }

  private let state = Locked(State())

  /// Waits for `work`, for ``interrupt(_:)`` or for the caller's cancellation, whichever comes first.
  func run(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let promise = Promise<Value>()
    return try await promise.valueUnlessCancelled {
      let verdict = state.withLock { state -> (any Error)? in
        state.promise = promise
        return state.verdict
      }
      if let verdict {
        promise.settle(.failure(verdict))
        return
      }
      let task = PlatformClient.promptTask {
        do { promise.settle(.success(try await work())) } catch { promise.settle(.failure(error)) }
      }
      let isGivenUp = state.withLock { state in
        state.task = task
        return state.verdict != nil
      }
      if isGivenUp { task.cancel() }
    } onCancel: {
      interrupt(CancellationError())
    }
  }

  /// Fails the current run, and every later one.
  func interrupt(_ error: any Error) {
    let (promise, task) = state.withLock { state in
      if state.verdict == nil { state.verdict = error }
      defer {
        state.promise = nil
        state.task = nil
      }
      return (state.promise, state.task)
    }
    promise?.settle(.failure(error))
    task?.cancel()
  }
}
