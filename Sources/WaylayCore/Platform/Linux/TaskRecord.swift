#if CORELIBS_FOUNDATION
  import Foundation

  /// The properties of a task that only Foundation's own protocols can set: its error, its current request, and its
  /// counts of bytes (P33).
  ///
  /// Their setters are internal, so they are written where they are stored, on the same queues as in Foundation. The
  /// public getters check it once per process. If a value is not as expected, nothing is written.
  struct TaskRecord: Sendable {
    private let error = StoredProperty<(any Error)?>("error")
    private let currentRequest = StoredProperty<URLRequest?>("_currentRequest")
    private let received = StoredProperty<Int64>("_countOfBytesReceived")
    private let sent = StoredProperty<Int64>("_countOfBytesSent")
    private let expectedToReceive = StoredProperty<Int64>("countOfBytesExpectedToReceive")
    private let expectedToSend = StoredProperty<Int64>("countOfBytesExpectedToSend")

    /// `nil` if this version of Foundation stores them differently.
    static let known: TaskRecord? = {
      guard storedPlace(of: "syncQ", in: URLSessionTask.self) != nil else { return nil }
      let record = TaskRecord()
      let probe = URLSessionTask()
      let request = URLRequest(url: URL(fileURLWithPath: "/waylay"))
      record.fail(probe, URLError(.cannotLoadFromNetwork))
      record.follow(probe, request)
      record.count(probe, TaskMeter.News(totalSent: 1, totalReceived: 2, expectedToSend: 3, expectedToReceive: 4))
      let isRead =
        (probe.error as? URLError)?.code == .cannotLoadFromNetwork && probe.currentRequest?.url == request.url
        && probe.countOfBytesSent == 1 && probe.countOfBytesReceived == 2 && probe.countOfBytesExpectedToSend == 3
        && probe.countOfBytesExpectedToReceive == 4
      return isRead ? record : nil
    }()

    /// Sets the error of a task; on the work queue.
    func fail(_ task: URLSessionTask, _ error: any Error) {
      self.error?.write(error, into: task)
    }

    /// Sets the task's current request; from any thread.
    func follow(_ task: URLSessionTask, _ request: URLRequest) {
      guard let queue = try? TaskInternals.syncQueue(of: task) else { return }
      queue.sync { currentRequest?.write(request, into: task) }
    }

    /// Sets the counts of sent and received bytes; on the work queue.
    func count(_ task: URLSessionTask, _ news: TaskMeter.News) {
      guard let queue = try? TaskInternals.syncQueue(of: task) else { return }
      queue.sync {
        sent?.write(news.totalSent, into: task)
        received?.write(news.totalReceived, into: task)
        // Foundation reads and writes these two without a lock: write them only if they change, which is once in most
        // loads.
        let (toSend, toReceive) = (news.expectedToSend ?? 0, news.expectedToReceive ?? TaskMeter.News.unknown)
        if task.countOfBytesExpectedToSend != toSend { expectedToSend?.write(toSend, into: task) }
        if task.countOfBytesExpectedToReceive != toReceive { expectedToReceive?.write(toReceive, into: task) }
      }
    }
  }
#endif
