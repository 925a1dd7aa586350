/// Those who wait until something that a lock guards has changed: a part of the state behind the lock.
///
/// Code that changes the state takes them out and wakes them when the lock is free again; each looks anew.
package struct Waiters: Sendable {
  @usableFromInline var continuations: [UInt64: CheckedContinuation<Void, Never>] = [:]
  private var last: UInt64 = 0

  package init() {}

  /// Takes all of them out, to be woken when the lock is free.
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

  /// Suspends the task until somebody wakes the waiters, or until it is cancelled; not at all when that is not needed
  /// any more.
  ///
  /// - Parameter isCancellable: Whether cancelling the task ends the wait. A loop that waits again has to look for the
  ///   cancellation then.
  package func wait(
    at waiters: any WritableKeyPath<State, Waiters> & Sendable, isCancellable: Bool = true,
    unless isNeedless: (State) -> Bool
  ) async {
    guard let number = withLock({ isNeedless($0) ? nil : $0[keyPath: waiters].number() }) else { return }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let goesOn = withLock { state in
          // Asked here once: a cancellation after this finds the waiter.
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
  /// Wakes those who were taken out.
  @inlinable package func wake() {
    for waiter in self { waiter.resume() }
  }
}
