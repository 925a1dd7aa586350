import Foundation

/// One load: from an app's request to the response of its last hop.
///
/// It is what the bridge and the direct way share: the hops, the chains, cookies, redirects, timeouts and the report at the end.
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
    var early = Early()
    /// Makes of the load's own timeout an error that says what was tried until then.
    var account: (@Sendable (WaylayError) -> any Error)?
  }

  let id: InterceptedRequest.ID
  let first: InterceptedRequest
  let installation: Installation
  let snapshot: InterceptorRegistry.Snapshot
  /// The lineage of the code that started the load, before this load is added to it.
  let outer: Lineage?
  /// Whether the load began inside the loading system's own call, where the transport must not be reached (rule 9).
  let startedInline: Bool
  let delegate: (any LoadDelegate)?
  let state: Locked<State>

  init(
    _ request: InterceptedRequest, in installation: Installation, outer: Lineage?,
    snapshot: InterceptorRegistry.Snapshot, inline: Bool = false, delegate: (any LoadDelegate)? = nil
  ) {
    id = request.id
    first = request
    self.installation = installation
    self.snapshot = snapshot
    self.outer = outer
    startedInline = inline
    self.delegate = delegate
    let now = installation.registry.clock.now()
    state = Locked(State(clock: IdleClock(startedAt: now, lastActivity: now)))
  }

  var url: URL? { first.url }

  /// The name of the innermost interceptor that is running.
  var activeLink: String? { state.withLock { $0.innermost }?.link.name }

  /// What the bridge has found out about the first hop already: its request is prepared, and this is its chain.
  struct FirstHop: Sendable {
    let selection: ChainIndex.Selection?
    let hasStoredCookies: Bool
  }

  /// Runs the load up to the head of its last response, hop by hop.
  func respond(_ firstHop: FirstHop) async throws -> InterceptedResponse {
    report(.started)
    let lineage = try Lineage.deeper(than: outer, by: installation.registry.lineageEntry, load: self)
    var base = first
    var selection = firstHop.selection
    var authentication = Authentication()
    var isFirstRound = true
    guard base.url != nil else { throw Self.withoutURL(base) }
    while true {
      var request = base
      if isFirstRound {
        if firstHop.hasStoredCookies { base.untagged.setValue(nil, forHTTPHeaderField: "Cookie") }
        isFirstRound = false
      } else {
        first.context.prepare(&request.untagged, origin: first.url)
        authentication.authorize(&request)
        selection = installation.registry.isReentry(from: outer) ? nil : snapshot.index.select(request.untagged)
      }
      let links = try await enter(selection, &request, lineage)
      let response = try await Lineage.$current.withValue(lineage) { [request] in
        try await Turn.run(request, through: links, of: self)
      }
      storeCookies(of: response, for: base.untagged)
      guard let next = try await step(after: response, from: base, &authentication) else { return response }
      await response.body.discard()
      base = next
    }
  }

  private func storeCookies(of response: InterceptedResponse, for request: URLRequest) {
    let ignored = first.context.storeCookies(of: response, for: request)
    guard ignored > 0 else { return }
    installation.registry.logger?.warning(
      "cookies of a response are over cookieCount or cookieBytes of MessageLimits, and were not stored",
      metadata: [LogKey.load: "\(id)", LogKey.url: "\(request.url?.redacted ?? "")", "waylay.cookies": "\(ignored)"])
  }

  /// The request of the next round, or `nil` when `response` is the answer.
  private func step(
    after response: InterceptedResponse, from request: InterceptedRequest, _ authentication: inout Authentication
  ) async throws -> InterceptedRequest? {
    if let again = try await authentication.answer(response, to: request, of: self) { return again }
    guard let target = Redirect(after: response, to: request.untagged),
      let next = try await redirect(to: target, after: response, from: request)
    else { return nil }
    report(.redirected, response: response)
    return next
  }

  /// Brings a request into the form that a chain's links see, and returns those links: none for the bare transport.
  private func enter(
    _ selection: ChainIndex.Selection?, _ request: inout InterceptedRequest, _ lineage: Lineage
  ) async throws -> [any RequestInterceptor] {
    guard let selection else { return [] }
    state.withLock { $0.chain = selection.chain }
    let original = request.untagged
    var canonical = original
    for link in selection.links { canonical = link.canonicalRequest(for: canonical) }
    // Nearly always nobody has changed it, and then the request need not be copied.
    if !canonical.isIdentical(to: original) {
      request.untagged = canonical
      try normalize(&request, from: selection.links.last)
    }
    // An inline answer promises not to use the loading system, so its request needs no tag.
    if !selection.answersInline {
      if startedInline { await Task.yield() }
      request.tag(with: lineage)
    }
    return selection.links
  }

  /// The terminal link.
  func send(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    // Rule 9: whoever runs inside the loading system's call leaves it here (P18, P22).
    if startedInline { await Task.yield() }
    var request = request
    request.stripTag()
    let url = request.url
    if !leavesChallengesToTransport { request.moveUserInfo() }
    if let reader = request.body.consumedBy {
      throw MessageBody.consumed(by: reader, wantedBy: "the transport")
    }
    state.withLock { $0.transfers += 1 }
    defer { state.withLock { $0.transfers -= 1 } }
    let transport = try installation.transport(for: request.url)
    try check(request, fits: transport)
    var response = try await transport.load(request)
    if let url, url != request.url, response.url == request.url { response.url = url }
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
