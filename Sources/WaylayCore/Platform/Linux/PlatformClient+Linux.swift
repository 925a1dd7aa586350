#if canImport(FoundationNetworking)
  import Dispatch
  import Foundation

  /// The loading system's side of one load, on Linux: where its client may be called, what it may be told, and what its
  /// task is.
  ///
  /// Unchecked: the protocol object and its task are used on the task's work queue only (P1), except for `state`, which
  /// Foundation guards.
  final class PlatformClient: @unchecked Sendable {
    let loader: InterceptingProtocol
    let task: URLSessionTask?
    /// Where the client may be called; `nil` when Foundation keeps it in another way.
    private let workQueue: DispatchQueue?
    /// Whether chunks go to a delegate one by one, rather than to a completion handler in one piece (P3).
    private(set) var reportsChunks = false
    /// Whether the body goes into a file.
    let isDownload: Bool
    /// Whether the task has the body, rather than its request.
    let isUpload: Bool
    /// Who hears of the task.
    private(set) var listener = TaskInternals.Listener.handler
    let meter = TaskMeter()
    /// The file of a download, until it is the app's.
    private var downloaded: DownloadFile?
    /// The delegate of an `async` call is shown the body as it comes. Written before the first event, on the thread
    /// that posts it.
    var showsChunks = false
    /// The response, when the loading system must not look at it too closely (P14).
    private var guarded: ChallengeProofResponse?

    /// Answers may be given inside `startLoading`, which runs on the work queue (P2).
    static let canAnswerInline = true

    /// `canInit` is asked once, inside the app's `resume()`: the values of the Swift task that makes the request are
    /// seen there (P6, P7).
    static let asksInCallersTask = true

    /// A session puts its storage's cookies into a request when it makes the task.
    static let sessionAddsCookies = true

    /// The inner session is told to leave challenges alone (P14): they are answered by the load.
    static let transportAnswersChallenges = false

    /// Redirects are followed inside the load, so no hop comes from another protocol object (P5).
    let hop = 0
    let id = InterceptedRequest.ID.next()

    init(_ loader: InterceptingProtocol) {
      self.loader = loader
      task = loader.task
      workQueue = task.flatMap { try? TaskInternals.workQueue(of: $0) }
      isDownload = task is URLSessionDownloadTask
      isUpload = task is URLSessionUploadTask
    }

    /// Calls `body` once a session is gone, and all its tasks; never, where Foundation is not as expected.
    static func whenLetGo(_ session: URLSession, _ body: @escaping @Sendable () -> Void) {
      SessionEnd.await(session, body)
    }

    /// Keeps what `canInit` found out for the object that is made next.
    static func keep(_ decision: Installation.Decision) { PendingDecision.keep(decision) }

    /// Starts `work` at once, unless that would keep the main thread from its own work.
    static func promptTask(_ work: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
      Thread.isMainThread ? Task(operation: work) : Task.immediate(operation: work)
    }

    /// Runs what may use the loading system where that is safe: never on the queue that all sessions share, where
    /// making, resuming or cancelling any session's task ends the process (P18, P22).
    static func leavingQueue(_ work: @escaping @Sendable () -> Void) {
      DispatchQueue.global().async(execute: work)
    }

    /// A session without a cache: a lookup hops to a background queue and lists a directory, for nothing (P22, P24).
    static func adjust(_ configuration: URLSessionConfiguration) {
      configuration.urlCache = nil
    }

    // MARK: Inside startLoading

    /// Learns what the load needs to know of its task, and returns the request's body.
    func prepare() throws -> MessageBody {
      guard let task else { throw Self.withoutTask }
      let body = try body(of: task)
      meter.willSend(body.length)
      if isDownload {
        // Without a file to hand over, the end of a download task ends the process (P13).
        guard TaskInternals.servesDownloads else {
          throw WaylayError(
            .downloadTaskUnsupported,
            "download tasks cannot be intercepted with this version of Foundation on Linux: use "
              + "registry.download(for:to:), or a data task.",
            url: loader.request.url)
        }
        listener = try TaskInternals.listener(to: task)
      } else if task.delegate is any URLSessionDataDelegate {
        // The delegate is the task's or else the session's, and a task with a completion handler has the session's too
        // (P4).
        listener = try TaskInternals.listener(to: task)
        if case .delegate = listener { reportsChunks = true }
      } else if let listener = try? TaskInternals.listener(to: task) {
        self.listener = listener
      }
      return body
    }

    private func body(of task: URLSessionTask) throws -> MessageBody {
      if task is URLSessionUploadTask { return try TaskInternals.uploadBody(of: task) ?? .asking(self) }
      if let data = loader.request.httpBody { return .data(data) }
      return loader.request.httpBodyStream.map { .stream(reading: $0) } ?? .empty
    }

    /// Whose load it is: the session's settings count, whatever the configuration said when it was intercepted.
    func context(in installation: Installation) throws -> LoadContext {
      guard let task else { throw Self.withoutTask }
      return installation.context(of: try TaskInternals.session(of: task))
    }

    private static let withoutTask = WaylayError(
      .foundationChanged, "the loading system started a load without a task: update Waylay.")

    /// Fails the load at once; called inside `startLoading`.
    func fail(_ error: any Error, url: URL?) {
      let error =
        switch error {
        case let error as WaylayError: URLError(error.urlErrorCode, underlying: error, url: url)
        case let error as URLError: error
        default: URLError(.unknown, userInfo: URLError.failingURL(url).merging([NSUnderlyingErrorKey: error]) { $1 })
        }
      sayFailed(error)
    }

    /// Lets go of the load, so that the protocol object and its load do not keep each other; where the client may be
    /// called.
    func end() {
      loader.end()
    }

    // MARK: From anywhere

    /// Whether the app has suspended the task (P16).
    var isSuspended: Bool { task?.state == .suspended }

    /// Whether the loading system itself is ending the task: then it makes the terminal call.
    var isCancelled: Bool {
      guard let state = task?.state else { return true }
      return state == .canceling || state == .completed
    }

    /// `stopLoading` was called. Whether that means a pause or the end, the task's state says (P16).
    func stop() {}

    /// The URL the app asked for, when `request` is a later hop: never here, where hops stay inside one load.
    static func origin(of request: URLRequest) -> URL? { nil }

    /// Says what is wrong when there is no way back to the work queue; called inside `startLoading`, when an answer will
    /// come later.
    func findWayBack() throws {
      guard workQueue == nil else { return }
      guard let task else { throw Self.withoutTask }
      _ = try TaskInternals.workQueue(of: task)
    }

    /// Runs `work` where the client may be called.
    func schedule(_ work: @escaping @Sendable () -> Void) {
      // Without a way back the load has failed inside `startLoading`.
      workQueue?.async(execute: work)
    }

    /// The head in the form that the loading system gets.
    static func head(of response: InterceptedResponse) -> HTTPURLResponse { response.challengeProofHead }

    /// Tells the loading system; on the work queue.
    func deliver(_ event: ClientRelay.Event) {
      switch event {
      case .response(let head):
        guarded = head as? ChallengeProofResponse
        loader.client?.urlProtocol(loader, didReceive: head, cacheStoragePolicy: .notAllowed)
      case .data(let data):
        loader.client?.urlProtocol(loader, didLoad: data)
        if !showsChunks { pass(data) }
      case .downloaded(let file):
        downloaded = file
      case .finished:
        finish()
      case .failed(let error):
        sayFailed(error)
      case .redirected:
        // Never posted on Linux: the call would be a `fatalError` (P5), so redirects are followed inside the load.
        break
      }
    }

    private func sayFailed(_ error: URLError) {
      if let task {
        TaskRecord.known?.fail(task, error)
        TaskInternals.close(task)
      }
      loader.client?.urlProtocol(loader, didFailWithError: error)
    }

    private func finish() {
      // Before the last word, because what is told later would come after it.
      tell()
      let file = downloaded
      downloaded = nil
      if let file {
        do { try TaskInternals.setDownloadedFile(file.url, of: loader) } catch {
          return fail(error, url: loader.request.url)
        }
      }
      guarded?.hideFromLoader(true)
      if let task { TaskInternals.close(task) }
      loader.client?.urlProtocolDidFinishLoading(loader)
      guarded?.hideFromLoader(false)
      if let file { handOver(file) }
    }
  }
#endif
