// The walk, 3 of 5: a `Load` is one request of the app until the last byte of its response. It runs hop by hop: each
// time the request is made anew for the chain, goes through the interceptors (`Turn`, whose `next` leads to the next
// turn) and comes back with a response, a redirect or a challenge.

import Foundation

/// One load: from an app's request to the response of its last hop.
///
/// It is what the bridge and a direct load share: the hops, the chains, cookies, redirects, timeouts and the report at
/// the end.
final class Load: Sendable {
  struct State {
    /// The turn of the innermost interceptor that is running; with hedged requests, of one of them.
    var innermost: Turn?
    /// The failure that travels up the chain, and the interceptor it began in.
    var failure: (error: any Error, interceptor: String)?
    var clock: IdleClock
    var onFailure: (@Sendable (WaylayError) -> Void)?
    /// The interceptors of the hop under way.
    var selection: ChainIndex.Selection?
    /// Requests that the transport is working on.
    var transfers = 0
    var hasResponded = false
    /// Whether timeouts and the registry watch the load.
    var isWatched = false
    var hasEnded = false
    /// Makes of the load's own timeout an error that says what was tried until then.
    var timeoutError: (@Sendable (WaylayError) -> any Error)?
  }

  let id: InterceptedRequest.ID
  let first: Hop
  /// What was found out when the request was taken: whose load it is, and which chain owns it.
  let ownership: Installation.Ownership
  let delegate: (any LoadDelegate)?
  let state: Locked<State>
  /// Seconds without progress after which the load times out, where the request says so itself.
  let ownTimeout: TimeInterval?

  /// - Parameters:
  ///   - body: The body, in place of the one that the request carries.
  ///   - isUpload: Whether that body is one of an upload task.
  ///   - hop: How many redirects came before, where another object followed them.
  init(
    _ ownership: Installation.Ownership, _ id: InterceptedRequest.ID = .next(), body: MessageBody?, isUpload: Bool,
    hop: Int = 0,
    delegate: (any LoadDelegate)? = nil
  ) {
    self.id = id
    self.ownership = ownership
    self.delegate = delegate
    var bare = ownership.request
    // On Linux a change of a request without a URL ends the process.
    let carried = body ?? (bare.url == nil ? nil : bare.takeBody())
    if bare.httpBody != nil, bare.url != nil { bare.httpBody = nil }
    if bare.httpBodyStream != nil, bare.url != nil { bare.httpBodyStream = nil }
    first = Hop(urlRequest: bare, body: carried ?? .empty, number: hop, isUpload: isUpload)
    ownTimeout = InterceptedRequest.Options.timeout(of: bare)
    let now = ownership.installation.registry.clock.now()
    state = Locked(State(clock: IdleClock(startedAt: now, lastActivity: now)))
  }

  var url: URL? { first.url }
  /// Where it began: for the registry whose transport leads here, or in a protocol object before this one.
  var origin: URL? { ownership.origin ?? RequestTag.origin(of: first.urlRequest) ?? first.url }
  var context: LoadContext { ownership.context }
  var installation: Installation { ownership.installation }
  var registry: InterceptorRegistry { ownership.installation.registry }

  func transport(for url: URL?) throws -> any Transport {
    try installation.transport(for: url, delegate?.transports)
  }

  /// The name of the innermost interceptor that is running.
  var activeInterceptor: String? { state.withLock { $0.innermost }?.interceptor.name }
}

/// Decides for the app what a load asks: the bridge asks the task's delegate.
protocol LoadDelegate: Sendable {
  /// The request to follow, or `nil` to take the redirect itself as the last response.
  func redirect(to request: URLRequest, after response: InterceptedResponse) async throws -> URLRequest?

  /// Another stream with the body of the load's request, when the first one has been read.
  func newBody() async throws -> MessageBody?

  /// Who is asked about challenges, to tell apart those that may have different users; `nil` when there is nobody to
  /// ask.
  var delegateID: ObjectIdentifier? { get throws }

  /// The transports of the load's session; `nil` for those of its installation.
  var transports: Installation.Transports? { get }

  /// A transport has sent so many bytes of a request's body, from its beginning.
  func sent(_ total: Int64)

  /// What to do about a challenge.
  func answer(_ challenge: URLAuthenticationChallenge) async throws -> ChallengeReply
}

/// The request of one hop as the app asks for it, or a redirect: before any interceptor has seen it, without a body and
/// without a tag.
///
/// A hop is what redirects, cookies and credentials are about. What a chain sees of it is an ``InterceptedRequest``,
/// made anew for each time that it runs.
struct Hop: Sendable {
  var urlRequest: URLRequest
  var body: MessageBody
  /// How many redirects came before.
  var number = 0
  /// Whether an upload task has the body, rather than its request.
  var isUpload = false

  var url: URL? { urlRequest.url }
}

extension Load {
  /// What the interceptors at the beginning of the chain answer at once, without leaving the loading system's call;
  /// `nil` when ``respond(after:)`` has to run.
  ///
  /// - Returns: The response, and whether it is the last: a redirect and a challenge have the load go on.
  func respondInline() throws -> (response: InterceptedResponse, isLast: Bool)? {
    guard let selection = ownership.selection, !selection.inline.isEmpty else { return nil }
    let lineage = try Lineage.deeper(than: ownership.outer, by: registry.lineageEntry, load: self)
    let request = try enter(selection, first, first.urlRequest, nil, lineage)
    guard let response = try selection.inline.respond(to: request, of: self) else { return nil }
    guard response.status != .unauthorized, Redirect(after: response, to: first.urlRequest) == nil else {
      return (response, false)
    }
    note(response, to: first)
    return (response, true)
  }

  /// Runs the load up to the head of its last response, hop by hop.
  ///
  /// - Parameters:
  ///   - answer: The response to the first hop, where it is there already.
  ///   - body: The body of the first hop, in place of its own.
  func respond(
    after answer: InterceptedResponse? = nil, with body: MessageBody? = nil
  ) async throws -> InterceptedResponse {
    let lineage = try Lineage.deeper(than: ownership.outer, by: registry.lineageEntry, load: self)
    var hop = first
    if let body { hop.body = body }
    var selection = ownership.selection
    var request = hop.urlRequest
    var challenge: AnsweredChallenge?
    var answer = answer
    var authentication = Authentication()
    while true {
      let response: InterceptedResponse
      if let given = answer.take() {
        response = given
      } else {
        let isAbroad = (hop.number > 0 || ownership.origin != nil) && isAbroad(hop, selection?.chain)
        let entered = try enter(selection, hop, request, challenge, lineage, isAbroad: isAbroad)
        response = try await Lineage.$current.withValue(lineage) { [selection] in
          try await Turn.run(entered, through: selection?.interceptors ?? [], isAbroad: isAbroad, of: self)
        }
      }
      // Those of the storage are put in anew for each hop.
      if ownership.hasStoredCookies, hop.number == first.number {
        hop.urlRequest.setValue(nil, forHTTPHeaderField: "Cookie")
      }
      note(response, to: hop)
      guard let next = try await step(after: response, from: hop, &authentication) else { return response }
      await response.body.discard()
      hop = next
      request = hop.urlRequest
      context.prepare(&request, origin: first.url)
      challenge = authentication.authorize(&request)
      let isReentry = ownership.outer.map(registry.isReentry(from:)) ?? false
      selection = isReentry ? nil : ownership.snapshot.index.select(request)
    }
  }

  /// Stores the cookies of a response; and an upload that an interceptor has answered is over, though no transport says
  /// so.
  private func note(_ response: InterceptedResponse, to hop: Hop) {
    if response.source != .network, let length = hop.body.length, length > 0 { sent(length) }
    // Looking a field up by name makes an index of all of them, which costs more than looking through a few.
    guard response.fields.contains(where: { $0.name == .setCookie }) else { return }
    let ignored = context.storeCookies(of: response, for: hop.urlRequest)
    guard ignored > 0 else { return }
    registry.logger?.warning(
      "cookies of a response exceed cookieCount or cookieBytes of MessageLimits and were not stored",
      metadata: [
        LogKey.load: "\(id)", LogKey.url: "\(hop.urlRequest.url?.redacted ?? "")", "waylay.cookies": "\(ignored)",
      ])
  }

  /// The request of the next round, or `nil` when `response` is the last.
  private func step(
    after response: InterceptedResponse, from hop: Hop, _ authentication: inout Authentication
  ) async throws -> Hop? {
    if response.status == .unauthorized || authentication.hasSentCredential,
      let again = try await authentication.answer(response, to: hop, of: self)
    {
      return again
    }
    guard let target = Redirect(after: response, to: hop.urlRequest),
      let next = try await redirect(to: target, after: response, from: hop)
    else { return nil }
    report(.redirected, response: response)
    return next
  }

  /// Brings a hop's request into the form that the interceptors of a chain see, or the bare transport.
  private func enter(
    _ selection: ChainIndex.Selection?, _ hop: Hop, _ urlRequest: URLRequest, _ challenge: AnsweredChallenge?,
    _ lineage: Lineage, isAbroad: Bool = false
  ) throws -> InterceptedRequest {
    var canonical = urlRequest
    var body = hop.body
    if let selection {
      state.withLock { $0.selection = selection }
      for interceptor in selection.interceptors { canonical = interceptor.canonicalRequest(for: canonical) }
      if let changed = canonical.takeBody() { body = changed }
    }
    guard canonical.url != nil else {
      throw withoutURL(from: urlRequest.url == nil ? nil : selection?.interceptors.last)
    }
    var request = InterceptedRequest(id, canonical, body: body, context: context)
    if isAbroad {
      withhold(from: &request, before: InterceptedRequest(id, urlRequest, body: .empty, context: context), by: nil)
    }
    request.hop = hop.number
    request.storage.value.firstURL = hop.number > 0 || ownership.origin != nil ? origin : hop.url
    if let deadline = state.withLock({ $0.clock.deadline }) { request.options.deadline = deadline }
    if hop.isUpload { request[UploadedBody.self] = true }
    if let challenge { request[AnsweredChallengeKey.self] = challenge }
    if selection != nil { request.tag(with: lineage) }
    return request
  }
}

extension Load {
  private var method: String { (first.urlRequest.httpMethod ?? "GET").uppercased() }

  /// Tells the subscribers, if there are any.
  func report(_ kind: OpenEnum<LoadEvent>, response: InterceptedResponse? = nil, error: (any Error)? = nil) {
    guard !ownership.snapshot.subscribers.isEmpty else { return }
    let (chain, startedAt) = state.withLock { ($0.selection?.chain.name, $0.clock.startedAt) }
    let event = LoadEvent(
      id: id, kind: kind, method: method, url: url, chain: chain, status: response?.status,
      source: response?.source, error: error,
      elapsed: .nanoseconds(Int64(clamping: registry.clock.now().saturating(subtracting: startedAt))))
    for subscriber in ownership.snapshot.subscribers { subscriber.yield(event) }
  }

  /// Ends the load: timeouts stop, the last event goes out, the log gets its line. Only the first call counts.
  ///
  /// - Parameter makeError: The failure, made where it counts: a body that was read to its end is dropped, too.
  func end(_ response: InterceptedResponse? = nil, error makeError: @autoclosure () -> (any Error)? = nil) {
    let (isFirst, isWatched) = state.withLock { state in
      defer {
        state.hasEnded = true
        state.onFailure = nil
      }
      return (!state.hasEnded, state.isWatched)
    }
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

/// Where a load comes from: the registries and loop guards that it is already inside of, outermost first.
///
/// It travels with the task that runs a chain, and, for code that leaves the task, in the tag of the requests that
/// interceptors see.
final class Lineage: Sendable {
  struct Entry: Sendable {
    /// The number of a registry or of a loop guard.
    let origin: UInt64
    /// What an error's path prints.
    let label: String
    /// The tag of a load that is inside of nothing else: nearly all loads, so it is made once.
    var tag: URL?

    /// The entry of a registry.
    static func registry(_ number: UInt64) -> Entry {
      var entry = Entry(origin: number, label: "registry \(number)")
      entry.tag = URL(string: RequestTag.text(for: Lineage(entry, in: nil, load: nil)))
      return entry
    }
  }

  let outer: Lineage?
  let entry: Entry
  let depth: Int
  /// The load whose chain runs here, if any.
  let load: Load?

  init(_ entry: Entry, in outer: Lineage?, load: Load?) {
    self.outer = outer
    self.entry = entry
    self.load = load
    depth = (outer?.depth ?? 0) + 1
  }

  /// The same way here, for what outlives the loads on it.
  var withoutLoads: Lineage {
    load == nil && outer == nil ? self : Lineage(entry, in: outer?.withoutLoads, load: nil)
  }

  /// Outermost first.
  var entries: [Entry] { (outer?.entries ?? []) + [entry] }

  @TaskLocal static var current: Lineage?

  /// Where the load began that a transport sends a request for, to protocol classes beneath it.
  @TaskLocal static var origin: URL?

  /// The name of the interceptor that runs here, if any.
  static var currentReader: String? { current?.load?.activeInterceptor }

  /// Loads within loads beyond which a load is taken for a loop.
  static let maximumDepth = 16

  /// How often the load is inside of that registry or guard.
  func count(of origin: UInt64) -> Int {
    (outer?.count(of: origin) ?? 0) + (entry.origin == origin ? 1 : 0)
  }

  func contains(_ origin: UInt64) -> Bool {
    entry.origin == origin || outer?.contains(origin) ?? false
  }

  var path: String { entries.map(\.label).joined(separator: " → ") }

  private static let origins = Locked<UInt64>(0)

  /// A number for a registry or a loop guard, unique in the process.
  static func nextOrigin() -> UInt64 {
    origins.withLock {
      $0 += 1
      return $0
    }
  }

  /// One level deeper, or an error that prints the way here.
  static func deeper(than outer: Lineage?, by entry: Entry, load: Load) throws -> Lineage {
    let lineage = Lineage(entry, in: outer, load: load)
    guard lineage.depth <= maximumDepth else {
      throw WaylayError(
        .loopDetected,
        "a load entered interception again \(maximumDepth) times: \(lineage.path). Let the interceptor that makes its "
          + "own requests use a session that is not intercepted.",
        url: load.url, requestID: load.id)
    }
    return lineage
  }
}

/// Which loads the current code is inside of, for code that goes on in a task which is no child of the current one.
///
/// Without it the loop guard would take a load that is made there for one that comes from outside (rule 7).
package struct LoadOrigin: Sendable {
  private let lineage: Lineage?

  /// Where the current task is.
  package init() {
    lineage = Lineage.current
  }

  /// Runs an operation as if it were there.
  package func run<Value>(_ operation: () async throws -> Value) async rethrows -> Value {
    try await Lineage.$current.withValue(lineage, operation: operation)
  }
}
