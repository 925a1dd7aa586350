// The walk, 3 of 5: a `Load` is one request of the app until the last byte of its response. It runs hop by hop: each
// hop makes a new request for the chain, runs it through the interceptors (`Turn`, whose `next` leads to the next
// turn), and gets a response, a redirect or a challenge.

import Foundation

/// One load: from an app's request to the response of its last hop.
///
/// The bridge and direct loads share it: hops, chains, cookies, redirects, timeouts and the report at the end.
final class Load: Sendable {
  struct State {
    /// The turn of the innermost running interceptor; with hedged requests, of one of them.
    var innermost: Turn?
    /// The failure that propagates up the chain, and its origin: the interceptor that threw it, or a body.
    var failure: (error: any Error, origin: String)?
    var clock: IdleClock
    var onFailure: (@Sendable (WaylayError) -> Void)?
    /// The interceptors of the current hop.
    var selection: ChainIndex.Selection?
    /// The number of requests in the transport.
    var transfers = 0
    var hasResponded = false
    /// Whether the timeouts and the registry watch the load.
    var isWatched = false
    var hasEnded = false
    /// Whether interceptors run.
    var isRunning = false
    /// Converts the load's own timeout to an error that lists the attempts.
    var timeoutError: (@Sendable (WaylayError) -> any Error)?
  }

  let id: InterceptedRequest.ID
  let first: Hop
  /// The context and the chain of the load, determined when the request was accepted.
  let ownership: Installation.Ownership
  let delegate: (any LoadDelegate)?
  /// The transports of its session; `nil` for those of its installation.
  let transports: Installation.Transports?
  let state: Locked<State>
  /// The load itself, from its first hop to its end. Its entries in a lineage count that long.
  let scope = Locked<Load?>(nil)
  /// The idle timeout in seconds if the request sets one.
  let ownTimeout: TimeInterval?

  /// - Parameters:
  ///   - body: The body that replaces the one of the request.
  ///   - isUpload: Whether that body belongs to an upload task.
  ///   - hop: The number of earlier redirects that another object has followed.
  init(
    _ ownership: Installation.Ownership, _ id: InterceptedRequest.ID = .next(), body: MessageBody?, isUpload: Bool,
    hop: Int = 0, delegate: (any LoadDelegate)? = nil, transports: Installation.Transports? = nil
  ) {
    self.id = id
    self.transports = transports
    self.ownership = ownership
    self.delegate = delegate
    var bare = ownership.request
    // On Linux, mutating a request without a URL crashes the process.
    let carried = bare.url == nil ? nil : bare.takeBody()
    first = Hop(urlRequest: bare, body: body ?? carried ?? .empty, number: hop, isUpload: isUpload)
    ownTimeout = InterceptedRequest.Options.timeout(of: bare)
    let now = ownership.installation.registry.clock.now()
    state = Locked(State(clock: IdleClock(startedAt: now, lastActivity: now)))
  }

  var url: URL? { first.url }
  /// The URL where the load began: that of another registry whose transport leads here, or of an earlier protocol
  /// object.
  var origin: URL? { ownership.origin ?? RequestTag.origin(of: first.urlRequest) ?? first.url }
  var context: LoadContext { ownership.context }
  var installation: Installation { ownership.installation }
  var registry: InterceptorRegistry { ownership.installation.registry }

  /// The name of the innermost running interceptor.
  var activeInterceptor: String? { state.withLock { $0.innermost }?.interceptor.name }
}

/// Decides for the app: the bridge forwards each question to the task's delegate.
protocol LoadDelegate: Sendable {
  /// Returns the request to follow, or `nil` to make the redirect itself the last response.
  func redirect(to request: URLRequest, after response: InterceptedResponse) async throws -> URLRequest?

  /// Returns another stream with the body of the load's request, once the first one has been read.
  func newBody() async throws -> MessageBody?

  /// The identity of the object that answers challenges, because different ones may have different users; `nil` if
  /// there is none.
  var delegateID: ObjectIdentifier? { get throws }

  /// Reports the total number of body bytes that a transport has sent.
  func sent(_ total: Int64)

  /// Returns how to handle a challenge.
  func answer(_ challenge: URLAuthenticationChallenge) async throws -> ChallengeReply
}

/// The request of one hop, as the app or a redirect defines it: before any interceptor, without a body and without a
/// tag.
///
/// Redirects, cookies and credentials work on hops. A chain works on an ``InterceptedRequest``, made anew for each run.
struct Hop: Sendable {
  var urlRequest: URLRequest
  var body: MessageBody
  /// The number of earlier redirects.
  var number = 0
  /// Whether the body belongs to an upload task instead of its request.
  var isUpload = false

  var url: URL? { urlRequest.url }
}

extension Load {
  /// The response of the first interceptors of the chain, if they respond inline, within the loading system's call;
  /// `nil` if ``respond(after:)`` must run.
  ///
  /// - Returns: The response, and whether it is the last one: the load continues after a redirect or a challenge.
  func respondInline() throws -> (response: InterceptedResponse, isLast: Bool)? {
    guard let selection = ownership.selection, !selection.inline.isEmpty else { return nil }
    let lineage = try enterLineage()
    let request = try enter(selection, first, first.urlRequest, nil, lineage)
    guard let response = try selection.inline.respond(to: request, of: self, in: lineage, selection.members) else {
      return nil
    }
    guard response.status != .unauthorized, Redirect(after: response, to: first.urlRequest) == nil else {
      return (response, false)
    }
    note(response, to: first)
    return (response, true)
  }

  /// Runs the load hop by hop, up to the head of its last response.
  ///
  /// - Parameters:
  ///   - answer: The response to the first hop, if it is already available.
  ///   - body: The body that replaces the one of the first hop.
  func respond(
    after answer: InterceptedResponse? = nil, with body: MessageBody? = nil
  ) async throws -> InterceptedResponse {
    let lineage = try enterLineage()
    var hop = first
    if let body { hop.body = body }
    var selection = ownership.selection
    var request = hop.urlRequest
    var challenge: AnsweredChallenge?
    var answer = answer
    var authentication = Authentication()
    while true {
      var response: InterceptedResponse
      if let given = answer.take() {
        response = given
      } else {
        let hasLeftScope = (hop.number > 0 || ownership.origin != nil) && hasLeftScope(hop, selection?.chain)
        let entered = try enter(selection, hop, request, challenge, lineage, hasLeftScope: hasLeftScope)
        response = try await Lineage.$current.withValue(lineage) { [selection] in
          // The task of a session does not inherit it.
          if let work = lineage.work, work !== SharedWork.current {
            return try await SharedWork.$current.withValue(work) {
              try await Turn.run(entered, in: lineage, through: selection, hasLeftScope: hasLeftScope, of: self)
            }
          }
          return try await Turn.run(entered, in: lineage, through: selection, hasLeftScope: hasLeftScope, of: self)
        }
      }
      // The storage's cookies are added anew for each hop.
      if ownership.hasStoredCookies, hop.number == first.number {
        hop.urlRequest.setValue(nil, forHTTPHeaderField: "Cookie")
      }
      note(response, to: hop)
      if delegate != nil, response.status == .unauthorized || response.status.kind == .redirection {
        response.body = await response.body.readAhead(on: registry.clock)
      }
      // The delegate belongs to the code that made the request, which may be inside of another load.
      let decided =
        if let outer = ownership.outer {
          try await Lineage.$current.withValue(outer) { try await step(after: response, from: hop, &authentication) }
        } else {
          try await step(after: response, from: hop, &authentication)
        }
      guard let next = decided else { return response }
      await response.body.claim?.discard(on: registry.clock)
      hop = next
      request = hop.urlRequest
      context.prepare(&request, origin: first.url, registry.redirectPolicy)
      challenge = authentication.authorize(&request)
      selection = ownership.select(request)
    }
  }

  /// The lineage of the load's code, in which the load counts until its end.
  private func enterLineage() throws -> Lineage {
    state.withLock { state in if !state.hasEnded { scope.withLock { $0 = self } } }
    let now = registry.clock.now()
    guard let outer = ownership.outer else {
      return Lineage(registry.lineageEntry, in: nil, scope: .load(scope), id.number, ended: (0, now))
    }
    return try Lineage(of: self, within: outer, now: now)
  }

  /// Stores the cookies of a response; reports an upload that an interceptor has responded to as sent, because no
  /// transport does.
  private func note(_ response: InterceptedResponse, to hop: Hop) {
    if response.source != .network, let length = hop.body.length, length > 0 { sent(length) }
    // A lookup by name builds an index of all fields, which costs more than a scan of a few.
    guard response.fields.contains(where: { $0.name == .setCookie }) else { return }
    let ignored = context.storeCookies(of: response, for: hop.urlRequest)
    guard ignored > 0 else { return }
    registry.logger?.warning(
      "cookies of a response exceed cookieCount or cookieBytes of MessageLimits and were not stored",
      metadata: [
        LogKey.load: "\(id)", LogKey.url: "\(hop.urlRequest.url?.redacted ?? "")", "waylay.cookies": "\(ignored)",
      ])
  }

  /// The request of the next round; `nil` if `response` is the last one.
  private func step(
    after response: InterceptedResponse, from hop: Hop, _ authentication: inout Authentication
  ) async throws -> Hop? {
    if response.status == .unauthorized || authentication.hasSentCredential,
      let again = try await authentication.answer(response, to: hop, of: self)
    {
      return again
    }
    guard let target = Redirect(after: response, to: hop.urlRequest, registry.redirectPolicy),
      let next = try await redirect(to: target, after: response, from: hop)
    else { return nil }
    report(.redirected, response: response)
    return next
  }

  /// Converts a hop's request to the form for interceptors or for the bare transport.
  private func enter(
    _ selection: ChainIndex.Selection?, _ hop: Hop, _ urlRequest: URLRequest, _ challenge: AnsweredChallenge?,
    _ lineage: Lineage, hasLeftScope: Bool = false
  ) throws -> InterceptedRequest {
    var canonical = urlRequest
    var body = hop.body
    let deadline = state.withLock { state in
      if let selection { state.selection = selection }
      return state.clock.deadline
    }
    if let selection {
      for interceptor in selection.interceptors { canonical = interceptor.canonicalRequest(for: canonical) }
      if let changed = canonical.takeBody() { body = changed }
    }
    guard canonical.url != nil else {
      throw withoutURL(from: urlRequest.url == nil ? nil : selection?.interceptors.last)
    }
    var request = InterceptedRequest(id, canonical, body: body, context: context)
    if hasLeftScope {
      withhold(from: &request, before: InterceptedRequest(id, urlRequest, body: .empty, context: context), by: nil)
    }
    request.hop = hop.number
    request.storage.value.firstURL = hop.number > 0 || ownership.origin != nil ? origin : hop.url
    if let deadline { request.options.deadline = deadline }
    if hop.isUpload { request[UploadedBody.self] = true }
    if let challenge { request[AnsweredChallengeKey.self] = challenge }
    if selection != nil { request.lineage = lineage }
    if ownership.nesting != nil { request[NestedRequest.self] = true }
    return request
  }
}

extension Load {
  private var method: String { (first.urlRequest.httpMethod ?? "GET").uppercased() }

  /// Notifies the subscribers, if any.
  func report(_ kind: OpenEnum<LoadEvent>, response: InterceptedResponse? = nil, error: (any Error)? = nil) {
    guard !ownership.snapshot.subscribers.isEmpty else { return }
    let (chain, startedAt) = state.withLock { ($0.selection?.chain.name, $0.clock.startedAt) }
    let event = LoadEvent(
      id: id, kind: kind, method: method, url: url, chain: chain, status: response?.status,
      source: response?.source, error: error,
      elapsed: .nanoseconds(Int64(clamping: registry.clock.now().saturating(subtracting: startedAt))))
    for subscriber in ownership.snapshot.subscribers { subscriber.yield(event) }
  }

  /// Ends the load: stops the timeouts, sends the last event and writes the log line. Only the first call has an
  /// effect.
  ///
  /// - Parameter makeError: The failure, evaluated by the first call only: dropping a fully read body also calls this.
  func end(_ response: InterceptedResponse? = nil, error makeError: @autoclosure () -> (any Error)? = nil) {
    let (isFirst, isWatched, isRunning) = state.withLock { state in
      state.onFailure = nil
      return (!exchange(&state.hasEnded, with: true), state.isWatched, state.isRunning)
    }
    // From here on, code that the load has started no longer counts as inside of it.
    if !isRunning { scope.withLock { $0 = nil } }
    guard isFirst else { return }
    let error = makeError()
    report(error == nil ? .finished : .failed, response: response, error: error)
    log(response, error)
    if isWatched { registry.watch.remove(self) }
  }

  private func log(_ response: InterceptedResponse?, _ error: (any Error)?) {
    guard let logger = registry.logger, logger.logLevel <= .debug else { return }
    let (chain, startedAt) = state.withLock { ($0.selection?.chain.name, $0.clock.startedAt) }
    var metadata: Logger.Metadata = [
      LogKey.load: "\(id)", LogKey.method: "\(method)", LogKey.url: "\(url?.redacted ?? "")",
      LogKey.milliseconds: "\(registry.clock.now().saturating(subtracting: startedAt) / 1_000_000)",
    ]
    if let chain { metadata[LogKey.chain] = "\(chain)" }
    if let response {
      metadata[LogKey.status] = "\(response.status.code)"
      metadata[LogKey.source] = "\(response.source)"
    }
    if let error { metadata[LogKey.error] = "\(error.redacted)" }
    logger.debug(error == nil ? "load finished" : "load failed", metadata: metadata)
  }
}
