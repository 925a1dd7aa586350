#if CORELIBS_FOUNDATION
  import Dispatch
  import Foundation

  /// The caller of an `async` function of a session, which Foundation resumes on the work queue.
  ///
  /// Where cancelling waits for that queue, it holds the lock that resuming takes, so that both wait forever (P34).
  /// There the handler in the task's entry is replaced by one that resumes the caller elsewhere: on another thread, or
  /// on the thread that delivers the response, once it has left the queue.
  ///
  /// Unchecked: `kept` and `keeps` are used on the work queue only.
  final class TaskCaller: @unchecked Sendable {
    private var keeps = false
    private var kept: (@Sendable () -> Void)?

    /// Sees to it that the caller of a task is not resumed on the work queue; at the beginning of `startLoading`, which
    /// comes before a cancellation's end of the task.
    ///
    /// - Returns: The caller, if its handler is replaced. A delegate of the call has to be told first, on the delegate
    ///   queue, and so the caller is told there, too.
    static func protect(_ task: URLSessionTask) -> TaskCaller? {
      guard Cancellation.current != .returns, let tellsInline = TaskInternals.tellsInline, tellsInline.read(from: task)
      else { return nil }
      let caller = TaskCaller()
      if TaskInternals.replaceHandler(of: task, with: caller) { return caller }
      tellsInline.write(false, into: task)
      return nil
    }

    /// The task has ended; on the work queue.
    func end(_ resume: @escaping @Sendable () -> Void) {
      if keeps { kept = resume } else { DispatchQueue.global().async(execute: resume) }
    }

    /// Delivers on the work queue, then resumes the caller on this thread, which must not be on that queue.
    func deliver(on queue: DispatchQueue, _ work: () -> Void) {
      let resume = queue.sync {
        keeps = true
        work()
        defer { (keeps, kept) = (false, nil) }
        return kept
      }
      resume?()
    }
  }

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
      @Sendable func tellFirst(_ answer: Cancellation) {
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
