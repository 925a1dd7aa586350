/// Captures the task-local values of the place where a mock's scope began, for closures of the stub's author.
///
/// The loading system starts loads on queues without task-local values, such as the running test: an expectation that
/// fails in a stub's closure would belong to no test. Closures therefore run in tasks that inherit from one task, made
/// where the scope began.
package final class TaskContext: Sendable {
  private typealias Job = @Sendable () -> Void

  private let jobs = Locked<AsyncStream<Job>.Continuation?>(nil)
  private let keeper = Locked<Task<Void, Never>?>(nil)

  package init() {}

  deinit {
    end()
  }

  /// Captures the values of the current task. Earlier operations run without them.
  package func begin() {
    let (stream, continuation) = AsyncStream.makeStream(of: Job.self)
    jobs.withLock { $0 = continuation }
    // Ends with the stream, which ``end()`` finishes.
    let task = Task { for await job in stream { job() } }
    keeper.withLock { $0 = task }
  }

  /// Releases the values. Operations that run are not affected; later ones run without the values.
  package func end() {
    let continuation = jobs.withLock { $0.take() }
    continuation?.finish()
  }

  /// Waits until the values are released, after ``end()``.
  package func ended() async {
    await keeper.withLock { $0 }?.value
  }

  /// Runs an operation with the values, and waits for it. Cancelling the caller cancels the operation.
  package func run<Value: Sendable>(_ operation: @escaping @Sendable () async throws -> Value) async throws -> Value {
    guard let jobs = jobs.withLock({ $0 }) else { return try await operation() }
    let origin = LoadOrigin()
    let started = Promise<Task<Value, any Error>>()
    let outcome = jobs.yield {
      // The caller owns the task: it waits for it and cancels it.
      started.settle(.success(Task { try await origin.run(operation) }))
    }
    guard case .enqueued = outcome else { return try await operation() }
    let task = try await started.value()
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }
}
