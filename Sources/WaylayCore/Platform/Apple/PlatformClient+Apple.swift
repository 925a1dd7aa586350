#if !CORELIBS_FOUNDATION || WAYLAY_APPLE_MODEL
  import Foundation

  // Written from the documentation and the Read Me of Apple's sample CustomHTTPProtocol (version 1.1); run by this
  // package's checks against a model of Apple's loading system, and not yet on an Apple platform. The contract: all
  // calls to the client on the thread, and in the run-loop modes, that `startLoading` was called in; any number of
  // redirects and challenges, one response, any number of data, one end; nothing after `stopLoading`.
  // https://developer.apple.com/library/archive/samplecode/CustomHTTPProtocol/Listings/Read_Me_About_CustomHTTPProtocol_txt.html

  /// The loading system's side of one load, on Apple platforms: its client, the thread of the client, and its task.
  ///
  /// Unchecked: the protocol object and `questions` are used on the client's thread only.
  final class PlatformClient: @unchecked Sendable {
    let loader: InterceptingProtocol
    private let thread = ClientThread()
    private let stopped = Locked(false)
    private var questions: ChallengeForwarder?

    /// Always complete, because no private API is needed.
    static let report = InterceptionReport(canIntercept: true, losses: [])
    static func prepare() {}
    /// A chain leaves the client's thread: blocking it "is likely to deadlock the application" (Read Me).
    static let canRespondInline = false
    /// `canInit` is asked on any thread and any number of times (P6).
    static let asksInCallersTask = false
    /// Cookies are not in the request that the protocol sees.
    static let sessionAddsCookies = false
    /// The inner session asks the app, through ``ChallengeForwarder``.
    static let transportAnswersChallenges = true
    /// The loading system collects chunks for completion handlers itself.
    let reportsChunks = true
    /// `nil`: Foundation provides `bytes(for:)`.
    let pull: (@Sendable (Data) async -> Void)? = nil
    /// The loading system writes the files of download tasks, and informs their delegates.
    let isDownload = false
    /// Unknown to a protocol class: the body is always a stream in the request.
    let isUpload = false
    /// The request, with the values of earlier redirects, each of which had another protocol object (rule 4).
    let request: URLRequest
    let hop: Int
    let id: InterceptedRequest.ID

    /// An upload's body arrives as `httpBodyStream`, whatever it was made from. Only ``prepare(for:)`` changes it,
    /// before the chain runs.
    private(set) var body: MessageBody
    /// The maximum length of a body that is read into memory, in bytes.
    private static let longestInMemory: Int64 = 4 << 20
    /// The same maximum for a body of unknown length.
    private static let longestUnknown = 64 << 10
    /// Whether a part of the request's stream was read ahead, so that only ``body`` is complete.
    private var hasReadAhead = false
    /// A protocol object cannot determine its session: the settings are those of the configuration at the first
    /// request.
    let context: LoadContext
    let transports: Installation.Transports? = nil
    static let knowsSession = false

    /// A no-op: a protocol class cannot determine its session.
    static func onRelease(of session: URLSession, _ body: @escaping @Sendable () -> Void) {}

    init(_ loader: InterceptingProtocol, in installation: Installation) throws {
      self.loader = loader
      request = RedirectTag.restored(loader.request, of: loader.owner)
      hop = RedirectTag.hop(of: request)
      id = RedirectTag.id(of: request) ?? .next()
      context = installation.context
      body =
        loader.request.httpBody.map { .data($0) }
        ?? loader.request.httpBodyStream.map { .stream(reading: $0, length: loader.bodyLength) } ?? .empty
    }

    /// The body that the chain runs with.
    ///
    /// One of a known, moderate length is read into memory: then it can be sent again, after a redirect, a challenge or
    /// a lost connection, and by a task that knows its length. So is a short one of unknown length, if its end can be
    /// read at once. Any other stays a stream, because its end may be written only after the response's head was read.
    func prepare(for load: Load) async throws -> MessageBody {
      if body.inMemory == nil, body.length == nil, let stream = loader.request.httpBodyStream {
        hasReadAhead = true
        body = try await .stream(reading: stream, collectingUpTo: Self.longestUnknown)
      }
      guard body.inMemory == nil, let length = body.length, length <= Self.longestInMemory else { return body }
      var data = Data()
      for try await chunk in body {
        load.touch()
        data.append(chunk)
        guard data.count <= length else { break }
      }
      guard data.count == length else { throw MessageBody.wrongLength(Int64(data.count), declared: length) }
      body = .data(data)
      return body
    }

    // `Task.immediate` needs macOS 26 and iOS 26, and nothing here waits for it.

    static func promptTask(_ work: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
      Task(operation: work)
    }

    /// Sessions may be used on any thread here.
    static func leavingQueue(_ work: @escaping @Sendable () -> Void) {
      work()
    }

    /// Cancels a task of a session, from any thread.
    static func cancel(_ task: URLSessionTask) { task.cancel() }

    /// Keeps the cache as the app configured it, and selects the classic loader, because the new one does not support
    /// protocol classes.
    static func adjust(_ configuration: URLSessionConfiguration) { configuration.useClassicLoader() }

    /// Fails a load at once; must be called inside `startLoading`.
    static func fail(_ loader: InterceptingProtocol, _ error: any Error) {
      loader.client?.urlProtocol(loader, didFailWithError: URLError(presenting: error, url: loader.request.url))
    }

    /// No-ops: the loading system counts by itself.
    func expect(_ length: Int64?) {}
    func received(_ chunk: Data) {}
    func collect() {}

    // MARK: From anywhere

    /// A suspended task does not stop its protocol object here; the loading system delays the events.
    var isSuspended: Bool { false }

    /// `stopLoading` was called: the client must not be called any more.
    var isCancelled: Bool { stopped.withLock { $0 } }

    /// Runs `work` where the client may be called.
    func schedule(_ work: @escaping @Sendable () -> Void) {
      thread.perform(work)
    }

    /// Runs the last `work` of a load.
    func conclude(_ work: @escaping @Sendable () -> Void) { schedule(work) }

    /// Whether the app gets the response in one piece at its end; unknown here.
    let tellsAtOnce = false

    // MARK: On the client's thread

    /// Stops all calls to the client, also for challenges; called by `stopLoading`.
    func stop() {
      stopped.withLock { $0 = true }
      questions?.close(isTelling: false)
    }

    func deliver(_ event: ClientRelay.Event) {
      guard !isCancelled, let client = loader.client else { return }
      if event.isTerminal { questions?.close(isTelling: true) }
      switch event {
      case .response(let head): client.urlProtocol(loader, didReceive: head, cacheStoragePolicy: .notAllowed)
      case .data(let data): client.urlProtocol(loader, didLoad: data)
      case .whole(let body): if !body.isEmpty { client.urlProtocol(loader, didLoad: body) }
      // Never posted: no load is a download here.
      case .downloaded: break
      case .finished: client.urlProtocolDidFinishLoading(loader)
      case .failed(let error): client.urlProtocol(loader, didFailWithError: error)
      case .redirected(let request, let head):
        // The loading system makes another protocol object for the new request and stops this one. Unlike the one in
        // the Read Me, this object does not fail at once: an app that refuses the redirect might see that failure
        // instead of the response.
        questions?.close(isTelling: true)
        client.urlProtocol(loader, wasRedirectedTo: request, redirectResponse: head)
      }
    }
  }

  extension InterceptingProtocol {
    /// Always `false`: the loading system does not start a load whose task has already ended.
    var isCancelled: Bool { false }

    /// The length of the request's body, if the app or the loading system declares it.
    fileprivate var bodyLength: Int64? {
      request.value(forHTTPHeaderField: "Content-Length").flatMap { Int64(decimal: $0) } ?? expectedBodyLength
    }
  }

  extension InterceptedResponse {
    /// The head in the form for the loading system.
    var platformHead: HTTPURLResponse { head }
  }

  // MARK: Challenges

  extension PlatformClient {
    /// The forwarder of challenges to the app, made on first use.
    var challenges: ChallengeForwarder {
      let challenges = questions ?? ChallengeForwarder(self)
      questions = challenges
      return challenges
    }

    /// Forwards a challenge to the app, from any thread.
    func forward(_ challenge: URLAuthenticationChallenge, _ completion: @escaping ChallengeForwarder.Completion) {
      schedule {
        guard !self.isCancelled else { return completion(.cancelAuthenticationChallenge, nil) }
        self.challenges.forward(challenge, completion)
      }
    }

    func ask(_ challenge: URLAuthenticationChallenge) {
      loader.client?.urlProtocol(loader, didReceive: challenge)
    }

    func withdraw(_ challenge: URLAuthenticationChallenge) {
      loader.client?.urlProtocol(loader, didCancel: challenge)
    }
  }

  extension PlatformClient: LoadDelegate {
    /// Leaves the redirect to the loading system, which asks the app's delegate and makes a new protocol object for the
    /// next hop.
    func redirect(to request: URLRequest, after response: InterceptedResponse) async throws -> URLRequest? {
      var request = request
      // A redirect that changes another method to GET drops the body.
      if request.httpMethod == loader.request.httpMethod, !body.isEmpty {
        let reader = body.consumedBy ?? (hasReadAhead && body.inMemory == nil ? "the search for its end" : nil)
        if let reader { throw MessageBody.consumed(by: reader, wantedBy: "a redirect that keeps the body") }
        if body.inMemory == nil { request.httpBodyStream = loader.request.httpBodyStream }
        if let length = body.length { request.setValue("\(length)", forHTTPHeaderField: "Content-Length") }
      }
      let hold = RequestHold()
      let held = hold.held(RedirectTag.tagged(request, hop: hop + 1, id: id, from: self.request, of: loader.owner))
      throw ClientRedirect(request: Locked(held), response: response) { try await self.untilRefused(hold) }
    }

    /// Waits until the app has probably refused a redirect. No call reports a refusal; but if the redirect is followed,
    /// the object is stopped, which cancels this wait.
    ///
    /// Without a response after a refusal a task never ends (OHHTTPStubs issue 174, netfox issue 178, radar 19860450).
    /// One that comes before the loading system has stopped the object may be taken in place of the redirect
    /// (OHHTTPStubs issue 230). An app retains the request of a redirect until it has decided. So the object waits
    /// until the request is released, and then for one more second.
    ///
    /// An app may also keep a request that it has refused, in a log for example. So the wait has a limit: half of the time
    /// that the task has without any progress, which leaves the other half to the response, and at most 30 s, so that a
    /// long timeout is not a long silence. An app that needs longer to decide may be given the redirect as its response.
    private func untilRefused(_ hold: RequestHold) async throws {
      let timeout = InterceptedRequest.Options.timeout(of: request) ?? context.requestTimeout
      let limit = Int(max(1, min(30, timeout / 2)))
      let isReleased = try await withThrowingTaskGroup(of: Bool.self) { group in
        group.addTask {
          try await hold.released.valueUnlessCancelled()
          return true
        }
        group.addTask {
          for _ in 0..<limit { try await self.loader.second() }
          return false
        }
        defer { group.cancelAll() }
        return try await group.next() ?? false
      }
      if isReleased { try await loader.second() }
    }

    func newBody() async throws -> MessageBody? { nil }

    /// A protocol class has no way to report an upload's progress here.
    func sent(_ total: Int64) {}

    var delegateID: ObjectIdentifier? { ObjectIdentifier(loader) }

    /// The challenges of responses made by interceptors; `forward` handles those of the network, from the inner
    /// session.
    func answer(_ challenge: URLAuthenticationChallenge) async throws -> ChallengeReply {
      let promise = Promise<ChallengeReply>()
      return try await promise.valueUnlessCancelled {
        self.forward(challenge) { promise.settle(.success(ChallengeReply($0, $1))) }
      }
    }
  }

  extension PlatformProtocol {
    /// The first act of `startLoading`: a no-op.
    final func begin() {}
  }
#endif
