import Foundation

/// A value that somebody else brings, once, for one who waits.
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

  /// Brings the value or the failure. Only the first call counts.
  package func settle(_ outcome: Result<Value, any Error>) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard !state.isSettled else { return nil }
      state.isSettled = true
      state.outcome = outcome
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  /// Starts what will settle the promise, then waits for it. Called once.
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
}

/// Runs work in a task that can be given up from outside, even when the work does not listen to cancellation.
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
    return try await withTaskCancellationHandler {
      try await promise.value {
        let verdict = state.withLock { state -> (any Error)? in
          state.promise = promise
          return state.verdict
        }
        if let verdict { return promise.settle(.failure(verdict)) }
        let task = PlatformClient.promptTask {
          do { promise.settle(.success(try await work())) } catch { promise.settle(.failure(error)) }
        }
        let isGivenUp = state.withLock { state in
          state.task = task
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

/// Those who wait until something that a lock guards has changed: a part of the state behind the lock.
///
/// Code that changes the state takes them out and wakes them when the lock is free again; each looks anew.
package struct Waiters: Sendable {
  private var continuations: [UInt64: CheckedContinuation<Void, Never>] = [:]
  private var last: UInt64 = 0

  package init() {}

  /// Takes all of them out, to be woken when the lock is free.
  package mutating func takeAll() -> [CheckedContinuation<Void, Never>] {
    guard !continuations.isEmpty else { return [] }
    defer { continuations = [:] }
    return Array(continuations.values)
  }

  fileprivate mutating func number() -> UInt64 {
    last += 1
    return last
  }

  fileprivate mutating func add(_ continuation: CheckedContinuation<Void, Never>, _ number: UInt64) {
    continuations[number] = continuation
  }

  fileprivate mutating func take(_ number: UInt64) -> CheckedContinuation<Void, Never>? {
    continuations.removeValue(forKey: number)
  }
}

extension Locked {
  /// Suspends the task until somebody wakes the waiters, or until it is cancelled; not at all when that is not needed
  /// any more.
  package func wait(
    at waiters: any WritableKeyPath<State, Waiters> & Sendable, unless isNeedless: (State) -> Bool
  ) async {
    let number = withLock { $0[keyPath: waiters].number() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let goesOn = withLock { state in
          // Asked here once: a cancellation after this finds the waiter.
          if isNeedless(state) || Task.isCancelled { return true }
          state[keyPath: waiters].add(continuation, number)
          return false
        }
        if goesOn { continuation.resume() }
      }
    } onCancel: {
      withLock { $0[keyPath: waiters].take(number) }?.resume()
    }
  }
}

extension [CheckedContinuation<Void, Never>] {
  /// Wakes those who were taken out.
  package func wake() {
    for waiter in self { waiter.resume() }
  }
}
