#if CORELIBS_FOUNDATION
  import Foundation

  extension TaskInternals {
    /// The state without a session, and after the loads so far.
    static var report: InterceptionReport {
      InterceptionReport(canIntercept: findsEssentials && !hasFailed.withLock { $0 }, losses: losses)
    }

    private static let findsEssentials = ["workQueue", "session", "knownBody"].allSatisfy {
      storedPlace(of: $0, in: URLSessionTask.self) != nil
    }

    /// The losses from missing properties that not every load needs.
    private static let losses: [String] = [
      findsListeners ? nil : "data(for:delegate:) ignores its delegate, download tasks and data delegates fail",
      closesTasks ? nil : "a resume() that crosses the end of a task may end the process (P31)",
      tellsInline == nil ? "a cancellation that crosses the end of an async call may stop all sessions (P34)" : nil,
      servesDownloads ? nil : "download tasks fail",
      TaskRecord.known == nil ? "error, currentRequest and the counts of a task stay as they were (P33)" : nil,
      findsTasks ? nil : "a mocked scope that ends does not wait for the tasks of its session",
    ].compactMap { $0 }

    /// Whether the receiver of a task's events can be read.
    static let findsListeners = TaskBehaviours() != nil

    private static let findsTasks =
      (storedPlace(of: "taskRegistry", in: URLSession.self)?.type as? AnyClass)
      .flatMap { storedPlace(of: "tasks", in: $0) } != nil
  }
#endif
