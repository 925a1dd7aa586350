#if canImport(Darwin)
  import Foundation

  // Written from the documentation and the Read Me of Apple's sample CustomHTTPProtocol (version 1.1), and not run by this package's own
  // checks, which run on Linux. Its contract: all calls to the client on the thread, and in the run-loop modes, that `startLoading` was called
  // in; any number of redirects, one response, any number of data, one end; nothing after `stopLoading`.
  // https://developer.apple.com/library/archive/samplecode/CustomHTTPProtocol/Listings/Read_Me_About_CustomHTTPProtocol_txt.html

  /// The loading system's side of one load, on Apple platforms: where its client may be called, what it may be told, and what its task is.
  ///
  /// Unchecked: the protocol object is used on the client's thread only; `isStopped` is written there, before anything else could matter.
  final class PlatformClient: NSObject, @unchecked Sendable {
    private let loader: InterceptingProtocol
    private let thread = Thread.current
    private let modes: [String]
    private let stopped = Locked(false)
    private let challenges: ChallengeForwarder

    /// A chain leaves the client's thread: blocking it "is likely to deadlock the application" (Read Me).
    static let canAnswerInline = false
    /// Cookies are not in the request that the protocol sees.
    static let sessionAddsCookies = false
    /// The inner session asks the app, through ``ChallengeForwarder``.
    static let transportAnswersChallenges = true
    /// The loading system collects chunks for completion handlers itself.
    let reportsChunks = true
    /// The redirects that led here, each through a protocol object of its own; they travel in a property of the request (rule 4).
    let hop: Int
    let id: InterceptedRequest.ID

    init(_ loader: InterceptingProtocol) {
      self.loader = loader
      challenges = ChallengeForwarder(loader)
      hop = RedirectTag.hop(of: loader.request)
      id = RedirectTag.id(of: loader.request) ?? .next()
      let current = RunLoop.current.currentMode?.rawValue
      modes = Array(Set([RunLoop.Mode.default.rawValue, current ?? RunLoop.Mode.default.rawValue]))
    }

    static func immediateTask(_ work: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
      Task(operation: work)
    }

    static func promptTask(_ work: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
      Task(operation: work)
    }

    /// Sessions may be used on any thread here.
    static func leavingQueue(_ work: @escaping @Sendable () -> Void) {
      work()
    }

    /// The loading system's own cache is left as the app configured it.
    static func adjust(_ configuration: URLSessionConfiguration) {}

    // MARK: Inside startLoading

    /// An upload's body arrives as `httpBodyStream`, whatever it was made from.
    func prepare() throws -> MessageBody {
      if let data = loader.request.httpBody { return .data(data) }
      return loader.request.httpBodyStream.map { .stream(reading: $0) } ?? .empty
    }

    func fail(_ error: any Error, url: URL?) {
      let error = (error as? WaylayError).map { URLError($0.urlErrorCode, underlying: $0, url: url) }
      loader.client?.urlProtocol(loader, didFailWithError: error ?? URLError(.unknown))
    }

    func findWayBack() throws {}

    /// Lets go of the load, so that the protocol object and its load do not keep each other; where the client may be called.
    func end() {
      loader.end()
    }

    // MARK: From anywhere

    /// A suspended task keeps its protocol object running here; the loading system holds back what it is told.
    var isSuspended: Bool { false }

    /// `stopLoading` was called: the client must not be called any more.
    var isCancelled: Bool { stopped.withLock { $0 } }

    /// The URL the app asked for, when `request` is a later hop.
    static func origin(of request: URLRequest) -> URL? { RedirectTag.origin(of: request) }

    func stop() {
      challenges.cancelAll()
      stopped.withLock { $0 = true }
    }

    /// Asks the app what to do about a challenge of the inner session.
    func forward(_ challenge: URLAuthenticationChallenge, _ completion: @escaping ChallengeForwarder.Completion) {
      schedule {
        guard !self.isCancelled else { return completion(.cancelAuthenticationChallenge, nil) }
        self.challenges.forward(challenge, completion)
      }
    }

    func schedule(_ work: @escaping @Sendable () -> Void) {
      perform(#selector(run(_:)), on: thread, with: Work(work), waitUntilDone: false, modes: modes)
    }

    @objc private func run(_ work: Work) {
      work.run()
    }

    private final class Work: NSObject, Sendable {
      let run: @Sendable () -> Void

      init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
      }
    }

    static func head(of response: InterceptedResponse) -> HTTPURLResponse { response.head }

    func deliver(_ event: ClientRelay.Event) {
      guard !isCancelled, let client = loader.client else { return }
      switch event {
      case .response(let head): client.urlProtocol(loader, didReceive: head, cacheStoragePolicy: .notAllowed)
      case .data(let data): client.urlProtocol(loader, didLoad: data)
      case .finished: client.urlProtocolDidFinishLoading(loader)
      case .failed(let error):
        challenges.cancelAll()
        client.urlProtocol(loader, didFailWithError: error)
      case .redirected(let request, let head):
        // The loading system makes another protocol object for the new request; this one ends as the Read Me's does.
        client.urlProtocol(loader, wasRedirectedTo: request, redirectResponse: head)
        client.urlProtocol(loader, didFailWithError: CocoaError(.userCancelled))
      }
    }
  }

  extension PlatformClient: LoadDelegate {
    /// Redirects are the loading system's: it asks the app's delegate and starts the next hop with a protocol object of its own.
    func redirect(to request: URLRequest, after response: InterceptedResponse) async throws -> URLRequest? {
      throw ClientRedirect(request: RedirectTag.tagged(request, hop: hop + 1, id: id, from: loader.request), response: response)
    }

    func newBody() async throws -> MessageBody? { nil }

    var asker: ObjectIdentifier? { ObjectIdentifier(loader) }

    /// Challenges of answers that interceptors make up; those of the network come from the inner session, through `forward`.
    func answer(_ challenge: URLAuthenticationChallenge) async throws -> ChallengeAnswer {
      let promise = Promise<ChallengeAnswer>()
      return try await withTaskCancellationHandler {
        try await promise.value {
          self.forward(challenge) { promise.settle(.success(ChallengeAnswer($0, $1))) }
        }
      } onCancel: {
        promise.settle(.failure(CancellationError()))
      }
    }
  }

  /// What a redirect hands on to the next protocol object, in properties of its request.
  /// https://developer.apple.com/documentation/foundation/urlprotocol/setproperty(_:forkey:in:)
  enum RedirectTag {
    private static let hopKey = "waylay.hop"
    private static let idKey = "waylay.id"
    private static let originKey = "waylay.origin"

    static func hop(of request: URLRequest) -> Int {
      URLProtocol.property(forKey: hopKey, in: request) as? Int ?? 0
    }

    static func id(of request: URLRequest) -> InterceptedRequest.ID? {
      (URLProtocol.property(forKey: idKey, in: request) as? UInt64).map { InterceptedRequest.ID(number: $0) }
    }

    /// The URL the app asked for, when `request` is a later hop.
    static func origin(of request: URLRequest) -> URL? {
      (URLProtocol.property(forKey: originKey, in: request) as? String).flatMap { URL(string: $0) }
    }

    static func tagged(_ request: URLRequest, hop: Int, id: InterceptedRequest.ID, from source: URLRequest) -> URLRequest {
      guard let tagged = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return request }
      URLProtocol.setProperty(hop, forKey: hopKey, in: tagged)
      URLProtocol.setProperty(id.number, forKey: idKey, in: tagged)
      let origin = origin(of: source) ?? source.url
      if let origin { URLProtocol.setProperty(origin.absoluteString, forKey: originKey, in: tagged) }
      return tagged as URLRequest
    }
  }
#endif
