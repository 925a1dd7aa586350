/// The tasks that wait for a change of the state behind a lock; they are a part of that state.
///
/// Code that changes the state removes the waiters, and resumes them after releasing the lock; each task then checks
/// the state again.
package struct Waiters: Sendable {
  @usableFromInline var continuations: [UInt64: CheckedContinuation<Void, Never>] = [:]
  private var last: UInt64 = 0

  package init() {}

  /// Removes and returns all waiters, to be resumed after the lock is released.
  @inlinable package mutating func takeAll() -> [CheckedContinuation<Void, Never>] {
    guard !continuations.isEmpty else { return [] }
    defer { continuations = [:] }
    return Array(continuations.values)
  }

  fileprivate mutating func number() -> UInt64 {
    last += 1
    return last
  }
}

extension Locked {
  /// Changes the state, and resumes the waiting tasks. Inlinable, because a mock records each request by it.
  @inlinable @discardableResult
  package func change<Result>(
    waking waiters: WritableKeyPath<State, Waiters>, _ change: (inout State) -> Result
  ) -> Result {
    let (result, woken) = withLock { state in (change(&state), state[keyPath: waiters].takeAll()) }
    woken.wake()
    return result
  }

  /// Suspends the task until the waiters are resumed, or until it is cancelled; returns at once if the wait is
  /// needless.
  ///
  /// - Parameter isCancellable: Whether cancelling the task ends the wait. A loop that waits again must then check for
  ///   cancellation.
  package func wait(
    at waiters: any WritableKeyPath<State, Waiters> & Sendable, isCancellable: Bool = true,
    unless isNeedless: (State) -> Bool
  ) async {
    guard let number = withLock({ isNeedless($0) ? nil : $0[keyPath: waiters].number() }) else { return }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let goesOn = withLock { state in
          // Check for cancellation under the lock: any later cancellation finds the waiter.
          if isNeedless(state) || isCancellable && Task.isCancelled { return true }
          state[keyPath: waiters].continuations[number] = continuation
          return false
        }
        if goesOn { continuation.resume() }
      }
    } onCancel: {
      if isCancellable { withLock { $0[keyPath: waiters].continuations.removeValue(forKey: number) }?.resume() }
    }
  }
}

extension [CheckedContinuation<Void, Never>] {
  /// Resumes the removed waiters.
  @inlinable package func wake() {
    for waiter in self { waiter.resume() }
  }
}
