#if CORELIBS_FOUNDATION
  import Dispatch
  import Foundation

  extension InterceptorRegistry {
    /// Takes for granted whether cancelling a task waits for the loading system's queue; `nil` for what is safe in
    /// either case.
    @_spi(Benchmarks) public static func assume(cancellationWaits waits: Bool?) {
      Cancellation.assume(waits.map { $0 ? .waits : .returns })
    }
  }

  /// What `URLSessionTask.cancel()` does about the work queue. It is a question to the library in the process, about
  /// which the compiler knows nothing.
  enum Cancellation: Sendable {
    /// It waits for the queue: called on it, it ends the process (P27).
    case waits
    /// It returns at once.
    case returns

    private static let answer = Locked<Cancellation?>(nil)
    private static let asked: Void = probe { found in answer.withLock { $0 = $0 ?? found } }

    /// `nil` until it is known.
    static var current: Cancellation? { answer.withLock { $0 } }

    /// Sets the answer, for tests and measurements.
    static func assume(_ assumed: Cancellation?) { answer.withLock { $0 = assumed } }

    /// Finds the answer, once per process, without a wait.
    static func find() { asked }

    static func probe(_ tell: @escaping @Sendable (Cancellation) -> Void) {
      // Of no session, and of a kind for which no protocol class is looked for: cancelling it has no other effect.
      let task = URLSessionDownloadTask()
      guard let hasNoProtocol = StoredProperty<Bool>("createdFromInvalidResumeData", in: URLSessionDownloadTask.self),
        let queue = try? TaskInternals.workQueue(of: task)
      else { return }
      hasNoProtocol.write(true, into: task)
      probe(queue, within: .seconds(1), { task.cancel() }, tell)
    }

    /// Cancels while the queue is suspended. That the call returns meanwhile proves that it does not wait; that it has
    /// not returned in time is taken for the opposite.
    static func probe(
      _ queue: DispatchQueue, within time: DispatchTimeInterval, _ cancel: @escaping @Sendable () -> Void,
      _ tell: @escaping @Sendable (Cancellation) -> Void
    ) {
      queue.suspend()
      let isTold = Locked(false)
      let tellFirst: @Sendable (Cancellation) -> Void = { answer in
        let isFirst = isTold.withLock { isTold in
          defer { isTold = true }
          return !isTold
        }
        if isFirst { tell(answer) }
      }
      Thread.detachNewThread {
        cancel()
        tellFirst(.returns)
      }
      DispatchQueue.global().asyncAfter(deadline: .now() + time) {
        tellFirst(.waits)
        // Dispatch ends the process when a suspended queue is released.
        queue.resume()
      }
    }
  }
#endif
