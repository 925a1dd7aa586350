#if canImport(FoundationNetworking)
  import Foundation

  /// What the app hears of a load while it goes on, beside what the loading system tells it: how far uploads and
  /// downloads are, and what an answer to an `async` call with a delegate consists of (P25).
  extension PlatformClient {
    // MARK: From the load

    /// The head is there, and this is the length of what follows.
    func expect(_ length: Int64?) {
      meter.willReceive(length)
    }

    /// A part of the response's body is there.
    func received(_ chunk: Data) {
      if meter.received(chunk.count) { schedule { self.tell() } }
      // By way of the work queue, where the response was delivered before.
      if showsChunks, callersDelegate != nil { schedule { self.pass(chunk) } }
    }

    /// All of the response's body is there, in one piece.
    func receivedWhole(_ body: Data) {
      meter.receivedWhole(body.count)
    }

    /// The body will be collected; whoever wants to see it as it comes is shown it now.
    func collect() {
      showsChunks = true
    }

    /// The transport has sent so many bytes of the request's body.
    func sent(_ total: Int64) {
      if meter.sent(total) { schedule { self.tell() } }
    }

    // MARK: On the work queue

    /// Tells the task's `progress`, then the delegate. What came meanwhile is told in one.
    func tell() {
      guard let task, task.state == .running || task.state == .suspended else { return }
      let news = meter.take()
      TaskRecord.known?.count(task, news)
      let progress = task.progress
      if progress.totalUnitCount != news.total { progress.totalUnitCount = news.total }
      if progress.completedUnitCount != news.completed { progress.completedUnitCount = news.completed }
      guard news.sent > 0 || news.received > 0 && isDownload, let delegate = progressDelegate else { return }
      onDelegateQueue { session in
        if news.sent > 0 {
          delegate.urlSession(
            session, task: task, didSendBodyData: news.sent, totalBytesSent: news.totalSent,
            totalBytesExpectedToSend: news.expectedToSend ?? TaskMeter.News.unknown)
        }
        if news.received > 0, let task = task as? URLSessionDownloadTask,
          let delegate = delegate as? any URLSessionDownloadDelegate
        {
          delegate.urlSession(
            session, downloadTask: task, didWriteData: news.received, totalBytesWritten: news.totalReceived,
            totalBytesExpectedToWrite: news.expectedToReceive ?? TaskMeter.News.unknown)
        }
      }
    }

    /// The file of a download is the app's for as long as it is being told of it. What an `async` call returns is the
    /// caller's for good.
    func handOver(_ file: DownloadFile) {
      if case .caller = listener { return file.keep() }
      guard let task, let queue = try? TaskInternals.session(of: task).delegateQueue else { return }
      // Behind what the loading system has just put there; a queue of several threads has to wait for that.
      if queue.maxConcurrentOperationCount == 1 {
        queue.addOperation { file.remove() }
      } else {
        queue.addBarrierBlock { file.remove() }
      }
    }

    // MARK: The delegate of an async call

    /// Shows a part of the body to the delegate of an `async` call, whom the loading system tells of the head alone
    /// (P25).
    func pass(_ chunk: Data) {
      guard let delegate = callersDelegate, let task = task as? URLSessionDataTask else { return }
      onDelegateQueue { delegate.urlSession($0, dataTask: task, didReceive: chunk) }
    }

    private var callersDelegate: (any URLSessionDataDelegate)? {
      if case .caller(let delegate) = listener { delegate as? any URLSessionDataDelegate } else { nil }
    }

    /// Who hears of progress: nobody, when there is a completion handler.
    private var progressDelegate: (any URLSessionTaskDelegate)? {
      switch listener {
      case .delegate: task?.delegate
      case .handler: nil
      case .caller(let delegate): delegate
      }
    }

    private func onDelegateQueue(_ work: @escaping @Sendable (URLSession) -> Void) {
      guard let task, let session = try? TaskInternals.session(of: task) else { return }
      session.delegateQueue.addOperation { work(session) }
    }
  }
#endif
