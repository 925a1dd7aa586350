#if CORELIBS_FOUNDATION
  internal import CWaylayCurl
  import Dispatch
  import Foundation

  /// The loading system's side of one load, on Linux: its client, the queue of the client, and its task.
  ///
  /// Unchecked: the protocol object and its task are used on the task's work queue only (P1), except for `state`, which
  /// Foundation guards.
  final class PlatformClient: @unchecked Sendable {
    let loader: InterceptingProtocol
    let task: URLSessionTask
    let session: URLSession
    /// The context of the load, with the settings of the session rather than those of the intercepted configuration.
    let context: LoadContext
    let transports: Installation.Transports?
    /// The queue on which the client may be called.
    private let workQueue: DispatchQueue
    /// The request's body; `nil` if the session's delegate provides it.
    private let givenBody: MessageBody?
    /// The lineage of the code that made the request.
    private let outer: Lineage?
    /// Whether chunks go to a delegate one by one, rather than to a completion handler in one piece (P3).
    let reportsChunks: Bool
    /// The reader of `bytes(for:)`.
    private let bytes: TaskBytes?
    /// Waits until the reader has taken a chunk, in place of an event; `nil` where chunks are events.
    var pull: (@Sendable (Data) async -> Void)? { bytes?.take }
    /// Whether the body goes into a file.
    let isDownload: Bool
    /// Whether the body belongs to an upload task instead of its request.
    let isUpload: Bool
    /// The receiver of the task's events.
    let listener: TaskInternals.Listener
    let meter: TaskMeter
    /// Whether the last event has been delivered; used on the work queue only.
    private var isTold = false
    /// The caller of an `async` function without a delegate.
    private let caller: TaskCaller?
    /// The file of a download, until the app takes it over.
    private var downloaded: TemporaryFile?
    /// Whether the delegate of an `async` call gets the body chunk by chunk. Set before the first event, on the thread
    /// that posts it.
    var showsChunks = false
    /// The response, if it must be hidden from the challenge handling of the loading system (P14).
    private var guarded: ChallengeProofResponse?

    /// The properties of a task that are missing.
    static var report: InterceptionReport { TaskInternals.report }

    /// Starts the detection of ``Cancellation/current`` before the first load.
    static func prepare() { Cancellation.asked }

    /// Responses may be given inside `startLoading`, which runs on the work queue (P2).
    static let canRespondInline = true

    /// `canInit` is asked once, inside the app's `resume()`: the values of the Swift task that makes the request are
    /// seen there (P6, P7).
    static let asksInCallersTask = true

    /// A session puts its storage's cookies into a request when it makes the task.
    static let sessionAddsCookies = true

    /// The inner session answers no challenges (P14): the load does.
    static let transportAnswersChallenges = false

    /// Whether a load can determine its session, whose settings it uses.
    static let knowsSession = true

    /// Redirects are followed inside the load, so no hop comes from another protocol object (P5).
    let hop = 0
    let id = InterceptedRequest.ID.next()

    /// Reads the task; must be called inside `startLoading`.
    init(_ loader: InterceptingProtocol, in installation: Installation) throws {
      guard let task = loader.task else {
        throw WaylayError(.foundationChanged, "the loading system started a load without a task: update Waylay.")
      }
      self.loader = loader
      outer = loader.ownership?.outer
      caller = loader.caller
      self.task = task
      let found = try TaskInternals.session(of: task)
      let standIn = found as? BytesSession
      bytes = standIn?.bytes
      session = standIn?.original ?? found
      workQueue = try TaskInternals.workQueue(of: task)
      isDownload = task is URLSessionDownloadTask
      isUpload = task is URLSessionUploadTask
      givenBody = try isUpload ? TaskInternals.uploadBody(of: task) : loader.givenBody
      meter = TaskMeter(sending: givenBody?.length)
      if isDownload {
        // Without a file, the end of a download task traps (P13).
        guard TaskInternals.servesDownloads else {
          throw WaylayError(
            .downloadTaskUnsupported,
            "download tasks cannot be intercepted with this version of Foundation on Linux: use "
              + "registry.download(for:to:), or a data task.",
            url: loader.request.url)
        }
        listener = try caller == nil ? TaskInternals.listener(to: task, in: session) : .caller(nil)
        reportsChunks = false
      } else if caller != nil {
        listener = .caller(nil)
        reportsChunks = false
      } else if bytes != nil {
        listener = .handler
        reportsChunks = true
      } else if task.delegate is any URLSessionDataDelegate {
        // The delegate is the task's or else the session's, and a task with a completion handler has the session's too
        // (P4).
        listener = try TaskInternals.listener(to: task, in: session)
        reportsChunks = if case .delegate = listener { true } else { false }
      } else {
        let found = TaskInternals.findsListeners ? try? TaskInternals.listener(to: task, in: session) : nil
        listener = found ?? .handler
        reportsChunks = false
      }
      (context, transports) = installation.settings(of: session)
    }

    /// Calls `body` once a session and all its tasks are released; never, if Foundation is not as expected.
    static func onRelease(of session: URLSession, _ body: @escaping @Sendable () -> Void) {
      SessionEnd.await(session, body)
    }

    /// Starts `work` at once, except on the main thread, which that would block.
    static func promptTask(_ work: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
      waylay_curl_is_main_thread() ? Task(operation: work) : Task.immediate(operation: work)
    }

    /// Runs code that may use the loading system off the queue that all sessions share: on that queue, making, resuming
    /// or cancelling a task traps (P18, P22).
    static func leavingQueue(_ work: @escaping @Sendable () -> Void) {
      DispatchQueue.global().async(execute: work)
    }

    /// Cancels a task of a session, from any thread.
    static func cancel(_ task: URLSessionTask) {
      if Cancellation.current == .returns { task.cancel() } else { leavingQueue { task.cancel() } }
    }

    /// Removes the cache: it never stores a response, but each lookup hops to a background queue and lists a directory
    /// (P22, P24).
    static func adjust(_ configuration: URLSessionConfiguration) {
      configuration.urlCache = nil
    }

    /// The body is read inside of the load; the delegate, which is asked for it, is outside.
    var body: MessageBody { givenBody ?? Lineage.$current.withValue(outer) { .asking(self) } }
    var request: URLRequest { loader.request }

    /// Fails a load at once; must be called inside `startLoading`, or as the last call to the client.
    static func fail(_ loader: InterceptingProtocol, _ error: any Error) {
      let error = URLError(presenting: error, url: loader.request.url)
      if let task = loader.task {
        TaskRecord.known?.fail(task, error)
        TaskInternals.close(task)
      }
      loader.client?.urlProtocol(loader, didFailWithError: error)
    }

    // MARK: From anywhere

    /// Whether the app has suspended the task (P16).
    var isSuspended: Bool { task.state == .suspended }

    var isCancelled: Bool { loader.isCancelled }

    /// Called by `stopLoading`: a no-op, because the task's state shows whether the task is paused or over (P16).
    func stop() {}

    /// Runs `work` where the client may be called.
    func schedule(_ work: @escaping @Sendable () -> Void) {
      workQueue.async(execute: work)
    }

    /// Whether the app gets the whole response at its end.
    var tellsAtOnce: Bool { caller != nil && !isDownload }

    /// Runs the last `work` of a load where the client may be called. For a caller of an `async` function the chain's own
    /// thread waits for the queue, and then resumes the caller, which saves a change of threads.
    func conclude(_ work: @escaping @Sendable () -> Void) {
      guard let caller else { return schedule(work) }
      let resume = workQueue.sync {
        caller.keeps = true
        work()
        caller.keeps = false
        return caller.kept.take()
      }
      resume?()
    }

    /// Delivers an event to the loading system; on the work queue.
    func deliver(_ event: ClientRelay.Event) {
      switch event {
      case .response(let head):
        // A response within `startLoading` overtakes the scheduled report of the request's body.
        if meter.hasUnreportedUpload { tell() }
        guarded = head as? ChallengeProofResponse
        loader.client?.urlProtocol(loader, didReceive: head, cacheStoragePolicy: .notAllowed)
        bytes?.begin(head)
      case .data(let data):
        loader.client?.urlProtocol(loader, didLoad: data)
        if !showsChunks { pass(data) }
      case .whole(let body):
        meter.receivedWhole(body.count)
        if !body.isEmpty { deliver(.data(body)) }
      case .downloaded(let file):
        downloaded = file
      case .finished:
        finish()
      case .failed(let error):
        Self.fail(loader, error)
      case .redirected:
        // Never posted on Linux: the call would be a `fatalError` (P5), so redirects are followed inside the load.
        break
      }
    }

    private func finish() {
      // Report now: after the terminal call, it would be too late.
      tell(isLast: true)
      let file = downloaded
      downloaded = nil
      if let file {
        do { try TaskInternals.setDownloadedFile(file.url, of: loader) } catch {
          return Self.fail(loader, error)
        }
      }
      guarded?.hideFromLoader(true)
      TaskInternals.close(task)
      loader.client?.urlProtocolDidFinishLoading(loader)
      guarded?.hideFromLoader(false)
      if let file { handOver(file) }
    }
  }

  extension InterceptingProtocol {
    /// Whether the loading system itself is ending the task: then it makes the terminal call.
    var isCancelled: Bool {
      guard let state = task?.state else { return true }
      return state == .canceling || state == .completed
    }

    /// The body that the request carries.
    fileprivate var givenBody: MessageBody {
      if let data = request.httpBody { return .data(data) }
      return request.httpBodyStream.map { .stream(reading: $0) } ?? .empty
    }
  }

  /// The events that the loading system does not report: the progress of uploads and downloads, and the body's chunks
  /// for the delegate of an `async` call (P25).
  extension PlatformClient {
    // MARK: From the load

    /// Records the length of the response's body when its head arrives.
    func expect(_ length: Int64?) {
      meter.willReceive(length)
    }

    /// Records a received part of the response's body.
    func received(_ chunk: Data) {
      if meter.received(chunk.count, endIsTold: tellsAtOnce) { schedule { self.tell() } }
      // Use the work queue, on which the response was delivered before.
      if showsChunks, callersDelegate != nil { schedule { self.pass(chunk) } }
    }

    /// Collects the body, and also passes it chunk by chunk to a delegate that receives chunks.
    func collect() {
      showsChunks = true
    }

    /// Records that the transport has sent `total` bytes of the request's body.
    func sent(_ total: Int64) {
      if meter.sent(total) { schedule { self.tell() } }
    }

    // MARK: On the work queue

    /// Updates the task's `progress`, then calls the delegate; reports are coalesced.
    ///
    /// - Parameter isLast: Whether the response is complete. Progress is complete then, even of an empty body.
    func tell(isLast: Bool = false) {
      let task = task
      guard !isTold, task.state == .running || task.state == .suspended else { return }
      isTold = isLast
      let news = meter.take()
      TaskRecord.known?.count(task, news)
      let progress = task.progress
      let total = isLast ? max(news.total, news.completed, 1) : news.total
      let completed = isLast ? total : news.completed
      if progress.totalUnitCount != total { progress.totalUnitCount = total }
      if progress.completedUnitCount != completed { progress.completedUnitCount = completed }
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

    /// Leaves the file of a download to the app: until its delegate or handler returns, or, for an `async` call,
    /// permanently.
    func handOver(_ file: TemporaryFile) {
      if case .caller = listener { return file.keep() }
      let queue = session.delegateQueue
      // Remove the file after the loading system's operation; on a queue of several threads, by a barrier.
      if queue.maxConcurrentOperationCount == 1 {
        queue.addOperation { file.remove() }
      } else {
        queue.addBarrierBlock { file.remove() }
      }
    }

    // MARK: The delegate of an async call

    /// Passes a part of the body to the delegate of an `async` call, to which the loading system passes only the head
    /// (P25).
    func pass(_ chunk: Data) {
      guard let delegate = callersDelegate, let task = task as? URLSessionDataTask else { return }
      onDelegateQueue { delegate.urlSession($0, dataTask: task, didReceive: chunk) }
    }

    private var callersDelegate: (any URLSessionDataDelegate)? {
      if case .caller(let delegate) = listener { delegate as? any URLSessionDataDelegate } else { nil }
    }

    /// The receiver of progress; `nil` for a completion handler. For a download it is the session's delegate, which gets
    /// the file, even if the task has a delegate.
    private var progressDelegate: (any URLSessionTaskDelegate)? {
      switch listener {
      case .delegate: isDownload ? session.delegate as? any URLSessionTaskDelegate : task.delegate
      case .handler: nil
      case .caller(let delegate): delegate
      }
    }

    private func onDelegateQueue(_ work: @escaping @Sendable (URLSession) -> Void) {
      session.delegateQueue.addOperation { [session] in work(session) }
    }
  }
#endif
