import TestSupport
import Testing
import WaylayCore

@Suite("Promises and waiters", .timeLimit(.minutes(1)))
struct WaitingTests {
  private struct State {
    var isOpen = false
    var waiters = Waiters()
  }

  /// A task that has been cancelled before it begins.
  private func cancelled<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async -> Result<Value, any Error> {
    let begin = Event()
    let task = Task {
      // Ends at once, because the task is cancelled.
      await begin.wait()
      return try await work()
    }
    task.cancel()
    return await task.result
  }

  @Test("a cancelled wait for a promise throws, and takes back what it has begun")
  func cancelledPromise() async {
    let promise = Promise<Int>()
    let (started, takenBack) = (Event(), Event())
    let task = Task {
      try await promise.valueUnlessCancelled {
        started.happen()
      } onCancel: {
        takenBack.happen()
      }
    }
    await started.wait()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(takenBack.hasHappened)
    #expect(!promise.settle(.success(1)))
  }

  @Test("a task that is cancelled already begins nothing")
  func cancelledBefore() async {
    let started = Event()
    let result = await cancelled { try await Promise<Int>().valueUnlessCancelled { started.happen() } }
    #expect(throws: CancellationError.self) { try result.get() }
    #expect(!started.hasHappened)
  }

  @Test("a promise that was settled before the cancellation has its value")
  func settledFirst() async throws {
    let promise = Promise<Int>()
    #expect(promise.settle(.success(1)))
    #expect(!promise.settle(.success(2)))
    let result = await cancelled { try await promise.valueUnlessCancelled() }
    #expect(try result.get() == 1)
  }

  @Test("a cancellation ends no wait for a value that cannot be taken back")
  func shieldedPromise() async throws {
    let promise = Promise<Int>()
    let result = await cancelled { try await promise.value { promise.settle(.success(Task.isCancelled ? 1 : 0)) } }
    #expect(try result.get() == 1)
  }

  @Test("a cancellation wakes the waiter of a cancelled task alone")
  func cancelledWaiter() async {
    let state = Locked(State())
    let first = Task { await state.wait(at: \.waiters) { $0.isOpen } }
    let second = Task {
      await state.wait(at: \.waiters) { $0.isOpen }
      return state.withLock { $0.isOpen }
    }
    first.cancel()
    await first.value
    state.withLock { state in
      state.isOpen = true
      return state.waiters.takeAll()
    }.wake()
    #expect(await second.value)
  }

  @Test("a wait that is not cancellable outlasts the cancellation")
  func shieldedWaiter() async throws {
    let state = Locked(State())
    let begun = Event()
    async let result = cancelled {
      begun.happen()
      await state.wait(at: \.waiters, isCancellable: false) { $0.isOpen }
      return state.withLock { $0.isOpen }
    }
    await begun.wait()
    state.withLock { state in
      state.isOpen = true
      return state.waiters.takeAll()
    }.wake()
    #expect(try await result.get())
  }
}
