#if CORELIBS_FOUNDATION
  import Foundation

  extension TaskInternals {
    /// What is known, as far as can be told without a session, and by the loads so far.
    static var report: InterceptionReport {
      let isThere = [workQueuePosition, sessionPosition, bodyPosition].allSatisfy { $0 != nil }
      return InterceptionReport(canIntercept: isThere && !hasFailed.withLock { $0 }, losses: losses)
    }

    /// What is lost where something that not every load needs is gone.
    private static let losses: [String] = [
      findsListeners
        ? nil
        : "the delegate of data(for:delegate:) is not asked, download tasks and sessions with a data delegate fail",
      closesTasks ? nil : "a resume() that crosses the end of a task may end the process (P31)",
      tellsInline == nil ? "a cancellation that crosses the end of an async call may stop all sessions (P34)" : nil,
      servesDownloads ? nil : "download tasks fail",
      TaskRecord.known == nil ? "error, currentRequest and the counts of a task stay as they were (P33)" : nil,
      findsTasks ? nil : "a mocked scope that ends does not wait for the tasks of its session",
    ].compactMap { $0 }

    static let findsSyncQueue = syncQueuePosition != nil

    /// Whether it can be told who is told about a task.
    static let findsListeners = TaskBehaviours() != nil

    private static let findsTasks =
      (storedPlace(of: "taskRegistry", in: URLSession.self)?.type as? AnyClass)
      .flatMap { storedPlace(of: "tasks", in: $0) } != nil
  }
#endif
