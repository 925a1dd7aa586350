import Foundation

/// One load: from an app's request to the response of its last hop.
///
/// It is what the bridge and a direct load share: the hops, the chains, cookies, redirects, timeouts and the report at the end.
final class Load: Sendable {
  struct State {
    /// The turn of the innermost interceptor that is running; with hedged requests, of one of them.
    var innermost: Turn?
    /// The failure that travels up the chain, and the link it began in.
    var failure: (error: any Error, link: String?)?
    var clock: IdleClock
    var onFailure: (@Sendable (WaylayError) -> Void)?
    var chain: ChainIndex.Entry?
    /// Requests that the transport is working on.
    var transfers = 0
    var hasAnswered = false
    /// Whether timeouts and the registry watch the load.
    var isWatched = false
    var hasEnded = false
    /// Makes of the load's own timeout an error that says what was tried until then.
    var account: (@Sendable (WaylayError) -> any Error)?
  }

  let id: InterceptedRequest.ID
  let first: Hop
  /// What was found out when the request was taken: whose load it is, and which chain owns it.
  let decision: Installation.Decision
  let delegate: (any LoadDelegate)?
  let state: Locked<State>
  /// Seconds without progress after which the load times out, where the request says so itself.
  let ownTimeout: TimeInterval?

  /// - Parameters:
  ///   - body: The body, in place of the one that the request carries.
  ///   - isUpload: Whether that body is one of an upload task.
  ///   - hop: How many redirects came before, where another object followed them.
  init(
    _ decision: Installation.Decision, _ id: InterceptedRequest.ID = .next(), body: MessageBody?, isUpload: Bool, hop: Int = 0,
    delegate: (any LoadDelegate)? = nil
  ) {
    self.id = id
    self.decision = decision
    self.delegate = delegate
    var bare = decision.request
    // On Linux a change of a request without a URL ends the process.
    let carried = body ?? (bare.url == nil ? nil : bare.takeBody())
    if bare.httpBody != nil, bare.url != nil { bare.httpBody = nil }
    if bare.httpBodyStream != nil, bare.url != nil { bare.httpBodyStream = nil }
    first = Hop(urlRequest: bare, body: carried ?? .empty, number: hop, isUpload: isUpload)
    ownTimeout = InterceptedRequest.Options.timeout(of: bare)
    let now = decision.installation.registry.clock.now()
    state = Locked(State(clock: IdleClock(startedAt: now, lastActivity: now)))
  }

  var url: URL? { first.url }
  var context: LoadContext { decision.context }
  var installation: Installation { decision.installation }
  var registry: InterceptorRegistry { decision.installation.registry }

  /// The name of the innermost interceptor that is running.
  var activeLink: String? { state.withLock { $0.innermost }?.link.name }

  /// What the links at the beginning of the chain answer at once, without leaving the loading system's call; `nil` when ``respond(after:)``
  /// has to run.
  ///
  /// - Returns: The answer, and whether it is the last: a redirect and a challenge have the load go on.
  func answerInline() throws -> (response: InterceptedResponse, isLast: Bool)? {
    guard let selection = decision.selection, !selection.inline.isEmpty else { return nil }
    let lineage = try Lineage.deeper(than: decision.outer, by: registry.lineageEntry, load: self)
    let request = try enter(selection, first, first.urlRequest, nil, lineage)
    guard let response = try selection.inline.answer(request, of: self) else { return nil }
    guard response.status != .unauthorized, Redirect(after: response, to: first.urlRequest) == nil else { return (response, false) }
    storeCookies(of: response, for: first.urlRequest)
    return (response, true)
  }

  /// Runs the load up to the head of its last response, hop by hop.
  ///
  /// - Parameter answer: The answer to the first hop, where it is there already.
  func respond(after answer: InterceptedResponse? = nil) async throws -> InterceptedResponse {
    let lineage = try Lineage.deeper(than: decision.outer, by: registry.lineageEntry, load: self)
    var hop = first
    var selection = decision.selection
    var request = hop.urlRequest
    var challenge: AnsweredChallenge?
    var answer = answer
    var authentication = Authentication()
    while true {
      let response: InterceptedResponse
      if let given = answer.take() {
        response = given
      } else {
        let entered = try enter(selection, hop, request, challenge, lineage)
        response = try await Lineage.$current.withValue(lineage) { [selection] in
          try await Turn.run(entered, through: selection?.links ?? [], of: self)
        }
      }
      // Those of the storage are put in anew for each hop.
      if decision.hasStoredCookies, hop.number == first.number { hop.urlRequest.setValue(nil, forHTTPHeaderField: "Cookie") }
      storeCookies(of: response, for: hop.urlRequest)
      guard let next = try await step(after: response, from: hop, &authentication) else { return response }
      await response.body.discard()
      hop = next
      request = hop.urlRequest
      context.prepare(&request, origin: first.url)
      challenge = authentication.authorize(&request)
      selection = registry.isReentry(from: decision.outer) ? nil : decision.snapshot.index.select(request)
    }
  }

  private func storeCookies(of response: InterceptedResponse, for request: URLRequest) {
    let ignored = context.storeCookies(of: response, for: request)
    guard ignored > 0 else { return }
    registry.logger?.warning(
      "cookies of a response are over cookieCount or cookieBytes of MessageLimits, and were not stored",
      metadata: [LogKey.load: "\(id)", LogKey.url: "\(request.url?.redacted ?? "")", "waylay.cookies": "\(ignored)"])
  }

  /// The request of the next round, or `nil` when `response` is the answer.
  private func step(after response: InterceptedResponse, from hop: Hop, _ authentication: inout Authentication) async throws -> Hop? {
    if let again = try await authentication.answer(response, to: hop, of: self) { return again }
    guard let target = Redirect(after: response, to: hop.urlRequest), let next = try await redirect(to: target, after: response, from: hop)
    else { return nil }
    report(.redirected, response: response)
    return next
  }

  /// Brings a hop's request into the form that the links of a chain see, or the bare transport.
  private func enter(
    _ selection: ChainIndex.Selection?, _ hop: Hop, _ urlRequest: URLRequest, _ challenge: AnsweredChallenge?, _ lineage: Lineage
  ) throws -> InterceptedRequest {
    var canonical = urlRequest
    var body = hop.body
    if let selection {
      state.withLock { $0.chain = selection.chain }
      for link in selection.links { canonical = link.canonicalRequest(for: canonical) }
      if let changed = canonical.takeBody() { body = changed }
    }
    guard canonical.url != nil else { throw withoutURL(from: urlRequest.url == nil ? nil : selection?.links.last) }
    var request = InterceptedRequest(id, canonical, body: body, context: context)
    request.hop = hop.number
    if hop.isUpload { request[UploadedBody.self] = true }
    if let challenge { request[AnsweredChallengeKey.self] = challenge }
    if selection != nil { request.tag(with: lineage) }
    return request
  }

  /// The terminal link.
  func send(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    var request = request
    let url = request.url
    if !leavesChallengesToTransport { request.moveUserInfo() }
    if let reader = request.body.consumedBy {
      throw MessageBody.consumed(by: reader, wantedBy: "the transport")
    }
    request.address(
      to: TransportObserver(load: self, lineage: Lineage.current, watchesTimeout: request.options.timeout == ownTimeout))
    state.withLock { $0.transfers += 1 }
    defer { state.withLock { $0.transfers -= 1 } }
    let transport = try installation.transport(for: request.url)
    try check(request, fits: transport)
    var response: InterceptedResponse
    do {
      response = try await transport.load(request)
    } catch var error as TransportError {
      (error.url, error.requestID) = (error.url ?? url.withoutUserInfo, id)
      throw error
    }
    if url != request.url, response.url == request.url { response.url = url }
    return response
  }
}

/// Answers a load's questions in the app's place: the bridge asks the task's delegate.
protocol LoadDelegate: Sendable {
  /// The request to follow, or `nil` to take the redirect's own response as the answer.
  func redirect(to request: URLRequest, after response: InterceptedResponse) async throws -> URLRequest?

  /// Another stream with the body of the load's request, when the first one has been read.
  func newBody() async throws -> MessageBody?

  /// Who is asked about challenges, to tell apart those that may have different users; `nil` when there is nobody to ask.
  var asker: ObjectIdentifier? { get throws }

  /// A transport has sent so many bytes of a request's body, from its beginning.
  func sent(_ total: Int64)

  /// What to do about a challenge.
  func answer(_ challenge: URLAuthenticationChallenge) async throws -> ChallengeAnswer
}
