#if CORELIBS_FOUNDATION
  import Dispatch
  import Foundation

  /// Whether `URLSessionTask.cancel()` waits for the work queue. Detected at run time, because the Foundation in the
  /// process may have another version than the compiler.
  @_spi(Benchmarks) public enum Cancellation: Sendable {
    /// It waits for the queue, and traps if it is called on it (P27).
    case waits
    /// It returns at once.
    case returns

    private static let answer = Locked<Cancellation?>(nil)
    /// Starts the detection, once per process, without waiting for it.
    static let asked: Void = probe { found in answer.withLock { $0 = $0 ?? found } }

    /// The detected behavior; `nil` until it is known.
    static var current: Cancellation? { answer.withLock { $0 } }

    /// Sets the behavior, for tests and measurements; `nil` for unknown, which is safe in either case.
    @_spi(Benchmarks) public static func assume(_ assumed: Cancellation?) { answer.withLock { $0 = assumed } }

    static func probe(_ tell: @escaping @Sendable (Cancellation) -> Void) {
      // The task belongs to no session, and to a kind for which no protocol class is asked: cancelling it has no other
      // effect.
      let task = URLSessionDownloadTask()
      guard let hasNoProtocol = StoredProperty<Bool>("createdFromInvalidResumeData", in: URLSessionDownloadTask.self),
        let queue = try? TaskInternals.workQueue(of: task)
      else { return }
      hasNoProtocol.write(true, into: task)
      probe(queue, within: .seconds(1), { task.cancel() }, tell)
    }

    /// Calls `cancel()` while the queue is suspended. If the call returns within a time limit, it does not wait for the
    /// queue.
    static func probe(
      _ queue: DispatchQueue, within time: DispatchTimeInterval, _ cancel: @escaping @Sendable () -> Void,
      _ tell: @escaping @Sendable (Cancellation) -> Void
    ) {
      queue.suspend()
      let first = Promise<Void>()
      Thread.detachNewThread {
        cancel()
        if first.settle(.success(())) { tell(.returns) }
      }
      DispatchQueue.global().asyncAfter(deadline: .now() + time) {
        if first.settle(.success(())) { tell(.waits) }
        // Dispatch traps if a suspended queue is released.
        queue.resume()
      }
    }
  }
#endif
