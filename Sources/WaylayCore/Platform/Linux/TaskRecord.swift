#if CORELIBS_FOUNDATION
  import Foundation

  /// What Foundation's own protocols write down about a task, and a protocol class of others cannot: its error, where
  /// redirects have led, and how many bytes there were (P33).
  ///
  /// The properties have internal setters; they are written where they are stored, on the queues on which Foundation
  /// does it. Checked once per process by what the public getters say then. When anything is not as expected nothing is
  /// written, and they stay as they were.
  struct TaskRecord: Sendable {
    private let error: StoredProperty<(any Error)?>
    private let currentRequest: StoredProperty<URLRequest?>
    private let received: StoredProperty<Int64>
    private let sent: StoredProperty<Int64>
    private let expectedToReceive: StoredProperty<Int64>
    private let expectedToSend: StoredProperty<Int64>

    /// `nil` when this version of Foundation keeps them in another way.
    static let known: TaskRecord? = {
      guard let record = TaskRecord() else { return nil }
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

    private init?() {
      guard let error = StoredProperty<(any Error)?>("error"),
        let request = StoredProperty<URLRequest?>("_currentRequest"),
        let received = StoredProperty<Int64>("_countOfBytesReceived"),
        let sent = StoredProperty<Int64>("_countOfBytesSent"),
        let expectedToReceive = StoredProperty<Int64>("countOfBytesExpectedToReceive"),
        let expectedToSend = StoredProperty<Int64>("countOfBytesExpectedToSend"),
        (try? TaskInternals.syncQueue(of: URLSessionTask())) != nil
      else { return nil }
      self.error = error
      currentRequest = request
      self.received = received
      self.sent = sent
      self.expectedToReceive = expectedToReceive
      self.expectedToSend = expectedToSend
    }

    /// The task has failed; on the work queue.
    func fail(_ task: URLSessionTask, _ error: any Error) {
      self.error.write(error, into: task)
    }

    /// The task goes on with another request; from anywhere.
    func follow(_ task: URLSessionTask, _ request: URLRequest) {
      guard let queue = try? TaskInternals.syncQueue(of: task) else { return }
      queue.sync { currentRequest.write(request, into: task) }
    }

    /// So many bytes have been sent and received; on the work queue.
    func count(_ task: URLSessionTask, _ news: TaskMeter.News) {
      guard let queue = try? TaskInternals.syncQueue(of: task) else { return }
      queue.sync {
        sent.write(news.totalSent, into: task)
        received.write(news.totalReceived, into: task)
        // These two Foundation does not guard, neither do readers: they are written when they change, which is once in
        // most loads.
        let (toSend, toReceive) = (news.expectedToSend ?? 0, news.expectedToReceive ?? TaskMeter.News.unknown)
        if task.countOfBytesExpectedToSend != toSend { expectedToSend.write(toSend, into: task) }
        if task.countOfBytesExpectedToReceive != toReceive { expectedToReceive.write(toReceive, into: task) }
      }
    }
  }
#endif
