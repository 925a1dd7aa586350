#if canImport(FoundationNetworking)
  import Dispatch
  import Foundation

  /// The loading system's side of one load, on Linux: where its client may be called, what it may be told, and what its task is.
  ///
  /// Unchecked: the protocol object and its task are used on the task's work queue only (P1), except for `state`, which Foundation guards.
  final class PlatformClient: @unchecked Sendable {
    private let loader: InterceptingProtocol
    private let task: URLSessionTask?
    private var workQueue: DispatchQueue?
    /// Whether chunks go to a delegate one by one, rather than to a completion handler in one piece (P3).
    private(set) var reportsChunks = false
    /// The response, when the loading system must not look at it too closely (P14).
    private var guarded: ChallengeProofResponse?

    /// Answers may be given inside `startLoading`, which runs on the work queue (P2).
    static let canAnswerInline = true

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
    }

    /// Keeps what `canInit` found out for the object that is made next.
    static func keep(_ decision: Installation.Decision) { PendingDecision.keep(decision) }

    /// Runs the start of `work` in the calling thread.
    static func immediateTask(_ work: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
      Task.immediate(operation: work)
    }

    /// Starts `work` at once, unless that would keep the main thread from its own work.
    static func promptTask(_ work: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
      Thread.isMainThread ? Task(operation: work) : Task.immediate(operation: work)
    }

    /// Runs what may use the loading system where that is safe: never on the queue that all sessions share, where making, resuming or
    /// cancelling any session's task ends the process (P18, P22).
    static func leavingQueue(_ work: @escaping @Sendable () -> Void) {
      DispatchQueue.global().async(execute: work)
    }

    /// A session without a cache: a look-up hops to a background queue and lists a directory, for nothing (P22, P24).
    static func adjust(_ configuration: URLSessionConfiguration) {
      configuration.urlCache = nil
    }

    // MARK: Inside startLoading

    /// Learns what the load needs to know of its task, and returns the request's body.
    func prepare() throws -> MessageBody {
      guard let task else { throw Self.withoutTask }
      // Finishing a download task that no native protocol serves ends the process (P13).
      guard !(task is URLSessionDownloadTask) else {
        throw WaylayError(
          .downloadTaskUnsupported,
          "download tasks cannot be intercepted on Linux: use registry.download(for:to:), or a data task.",
          url: loader.request.url)
      }
      // The delegate is the task's or else the session's, and a task with a completion handler has the session's too (P4).
      if task.delegate is any URLSessionDataDelegate { reportsChunks = try TaskInternals.callsDelegate(task) }
      if task is URLSessionUploadTask { return try TaskInternals.uploadBody(of: task) ?? .asking(self) }
      if let data = loader.request.httpBody { return .data(data) }
      return loader.request.httpBodyStream.map { .stream(reading: $0) } ?? .empty
    }

    private static let withoutTask = WaylayError(
      .foundationChanged, "the loading system started a load without a task: update Waylay.")

    /// Fails the load at once; called inside `startLoading`.
    func fail(_ error: any Error, url: URL?) {
      let error =
        switch error {
        case let error as WaylayError: URLError(error.urlErrorCode, underlying: error, url: url)
        default: URLError(.unknown, userInfo: [NSUnderlyingErrorKey: error])
        }
      loader.client?.urlProtocol(loader, didFailWithError: error)
    }

    /// Lets go of the load, so that the protocol object and its load do not keep each other; where the client may be called.
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

    /// Finds the way back to the work queue; called inside `startLoading`, when an answer will come later.
    func findWayBack() throws {
      guard let task else { throw Self.withoutTask }
      workQueue = try TaskInternals.workQueue(of: task)
    }

    /// Runs `work` where the client may be called.
    func schedule(_ work: @escaping @Sendable () -> Void) {
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
      case .finished:
        guarded?.hideFromLoader(true)
        loader.client?.urlProtocolDidFinishLoading(loader)
        guarded?.hideFromLoader(false)
      case .failed(let error):
        loader.client?.urlProtocol(loader, didFailWithError: error)
      case .redirected:
        // Never posted on Linux: the call would be a `fatalError` (P5), so redirects are followed inside the load.
        break
      }
    }
  }

  extension PlatformClient: LoadDelegate {
    func redirect(to request: URLRequest, after response: InterceptedResponse) async throws -> URLRequest? {
      guard let task, let delegate = task.delegate else { return request }
      return try await ask(task) { session, answer in
        delegate.urlSession(
          session, task: task, willPerformHTTPRedirection: response.head, newRequest: request, completionHandler: answer)
      }
    }

    func newBody() async throws -> MessageBody? {
      guard let task, task is URLSessionUploadTask, let delegate = task.delegate else { return nil }
      let box: StreamBox = try await ask(task) { session, answer in
        delegate.urlSession(session, task: task) { answer(StreamBox(stream: $0)) }
      }
      return box.stream.map { .stream(reading: $0) }
    }

    var asker: ObjectIdentifier? {
      get throws {
        guard let task, task.delegate != nil else { return nil }
        return ObjectIdentifier(try TaskInternals.session(of: task))
      }
    }

    /// Asks the task's delegate, then the session's. Which of the two methods an app implements cannot be seen on Linux, where both have
    /// a default; the default is to perform default handling, and so are we left to go on.
    func answer(_ challenge: URLAuthenticationChallenge) async throws -> ChallengeAnswer {
      guard let task, let delegate = task.delegate else { return ChallengeAnswer(.performDefaultHandling) }
      let answer: ChallengeAnswer = try await ask(task) { session, answer in
        delegate.urlSession(session, task: task, didReceive: challenge) { answer(ChallengeAnswer($0, $1)) }
      }
      guard answer.disposition == .performDefaultHandling, let delegate = try TaskInternals.session(of: task).delegate
      else { return answer }
      return try await ask(task) { session, answer in
        delegate.urlSession(session, didReceive: challenge) { answer(ChallengeAnswer($0, $1)) }
      }
    }

    /// Puts a question to the app on its session's queue, and waits for the first answer or for the load's end.
    private func ask<Answer: Sendable>(
      _ task: URLSessionTask, _ question: @escaping @Sendable (URLSession, @escaping @Sendable (Answer) -> Void) -> Void
    ) async throws -> Answer {
      let session = try TaskInternals.session(of: task)
      let promise = Promise<Answer>()
      return try await withTaskCancellationHandler {
        try await promise.value {
          session.delegateQueue.addOperation { question(session) { promise.settle(.success($0)) } }
        }
      } onCancel: {
        promise.settle(.failure(CancellationError()))
      }
    }
  }

  /// A stream on its way from the delegate to the one body that reads it; nobody else uses it meanwhile.
  private struct StreamBox: @unchecked Sendable {
    let stream: InputStream?
  }

  extension MessageBody {
    /// The body of an upload task made with `withStreamedRequest:`, for which the delegate is asked when somebody reads it.
    fileprivate static func asking(_ client: PlatformClient) -> MessageBody {
      .stream(replaying: { StreamedBody(client: client) })
    }
  }

  private struct StreamedBody: AsyncSequence, Sendable {
    typealias Element = Data
    let client: PlatformClient

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(client: client) }

    struct AsyncIterator: AsyncIteratorProtocol {
      let client: PlatformClient
      var chunks: MessageBody.AsyncIterator?

      mutating func next() async throws -> Data? {
        if chunks == nil { chunks = try await client.newBody()?.makeAsyncIterator() }
        return try await chunks?.next()
      }
    }
  }
#endif
