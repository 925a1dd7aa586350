// The walk, 3 of 5: a `Load` is one request of the app until the last byte of its answer. `Load+Hops` runs it hop by
// hop: each time the request is made anew for the chain, goes through the links (`Turn`, whose `next` leads to the next
// turn) and comes back with a response, a redirect or a challenge. Behind the last link, in `Transport`, stands
// `Load+Sending`.

import Foundation

/// One load: from an app's request to the response of its last hop.
///
/// It is what the bridge and a direct load share: the hops, the chains, cookies, redirects, timeouts and the report at
/// the end.
final class Load: Sendable {
  struct State {
    /// The turn of the innermost interceptor that is running; with hedged requests, of one of them.
    var innermost: Turn?
    /// The failure that travels up the chain, and the link it began in.
    var failure: (error: any Error, link: String?)?
    var clock: IdleClock
    var onFailure: (@Sendable (WaylayError) -> Void)?
    /// The links of the hop under way.
    var selection: ChainIndex.Selection?
    /// Requests that the transport is working on.
    var transfers = 0
    var hasAnswered = false
    /// Whether timeouts and the registry watch the load.
    var isWatched = false
    var hasEnded = false
    /// Makes of the load's own timeout an error that says what was tried until then.
    var timeoutError: (@Sendable (WaylayError) -> any Error)?
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
    _ decision: Installation.Decision, _ id: InterceptedRequest.ID = .next(), body: MessageBody?, isUpload: Bool,
    hop: Int = 0,
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
}
