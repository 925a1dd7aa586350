/// Runs work, one piece after another, in tasks that can be abandoned from outside, even if the work ignores
/// cancellation.
///
/// The task is owned: an interruption and the cancellation of the caller cancel it.
final class Interruptible: Sendable {
  private struct State {
    var fail: (@Sendable (any Error) -> Void)?
    var task: Task<Void, Never>?
    var verdict: (any Error)?
  }

  private let state = Locked(State())

  /// The error of the first interruption.
  var verdict: (any Error)? { state.withLock { $0.verdict } }

  /// Waits for `work`, for ``interrupt(_:)`` or for the caller's cancellation, whichever comes first.
  func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let promise = Promise<Value>()
    return try await promise.valueUnlessCancelled {
      let verdict = state.withLock { state -> (any Error)? in
        state.fail = { promise.settle(.failure($0)) }
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
    let (fail, task) = state.withLock { state in
      if state.verdict == nil { state.verdict = error }
      return (state.fail.take(), state.task.take())
    }
    fail?(error)
    task?.cancel()
  }
}

extension Clock where Duration == Swift.Duration {
  /// The result of work, or `nil` if it takes longer than that: the work is then cancelled.
  package func value<Result: Sendable>(
    within limit: Duration, of work: @escaping @Sendable () async throws -> Result
  ) async throws -> Result? {
    try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask { try await work() }
      group.addTask {
        try await self.sleep(for: limit.upToAYear)
        return nil
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
  }
}
