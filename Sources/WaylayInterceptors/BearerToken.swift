public import WaylayCore

/// An interceptor that authorizes requests to certain hosts by a bearer token (RFC 6750), and refreshes the token after
/// a 401.
///
/// ```swift
/// BearerToken(hosts: .host("api.example.com").excludingPath("/token")) {
///   await account.accessToken
/// } refresh: { refused in
///   try await account.replacement(of: refused)  // throws if the refused token is not this user's any more
/// }
/// ```
///
/// Concurrent requests whose token gets a 401 share one refresh (single flight), and each is sent once more with its
/// body; a second 401 is returned to the app. If the refresh fails, all of them fail with its error, and none is sent
/// again. A request whose body can be read only once is not sent again: the app gets the 401. The wait for the refresh
/// does not count as idle time.
///
/// A refresh, its result and its failure belong to the token that was refused, and to those that this one has replaced:
///
/// | the request was sent | after its 401 |
/// |---|---|
/// | with a token that has been replaced | it is sent with the newest replacement |
/// | with a token whose refresh is in flight | it waits for that refresh |
/// | with a token whose refresh has failed since | it fails with the same error |
/// | with another token | it has its own refresh, and waits for no other |
/// | without a token | it has its own refresh, which no other request shares |
/// | without a token, but with a field `Authorization` of the app | the app gets the 401 |
/// | with the app's own credentials (Basic, Digest), which no token replaces | the app gets the 401 |
/// | to another origin than the load's first, after a redirect | the app gets the 401 |
///
/// So a request of one user is never sent again with the token of another, if each user has another token and `refresh`
/// returns one of the user whose token was refused: an app that has another user by then throws. A later hop of a load,
/// or an attempt of an outer interceptor, is another request: it gets the token of the user of that moment.
///
/// A refresh that fails with anything but a failure of the network is not tried again for 30 s: until then, requests
/// with its token fail with the same error; afterwards the token is sent, and may be refused, again. A token that was
/// replaced is not sent again, even if `token` still returns it. If the refresh returns the refused token itself, as
/// libraries with a cache of tokens do, the token is sent once more. The last 4096 results are remembered.
///
/// A refresh that takes longer than its limit fails, and is cancelled. Two refreshes of one token at once can revoke the
/// session, so while one that ignores its cancellation still runs, requests with its token fail at once; its result
/// counts when it comes.
///
/// The requests of the refresh are nested (rule 7 of "How a chain runs"): routed, mocked and recorded, but not
/// authorized by this interceptor. Work that the refresh starts and does not wait for may outlive it; start that in
/// `InterceptorRegistry.withoutEnclosingLoad`. On Apple platforms, a request of a session is not recognized as nested:
/// there, a refresh with a session needs a URL outside of `hosts`, because otherwise it would wait for itself, up to its
/// limit, or without a token begin another one: while 64 of those are in flight, further requests without a token get
/// their 401. A direct load is recognized everywhere.
///
/// Over plain `http`, the token is sent to this machine alone, unless you allow it.
///
/// On a redirect away from the load's first origin, the token reaches a host only if the scope of the chain also names
/// it (rule 4).
public struct BearerToken: OrderedInterceptor {
  private let hosts: InterceptorChain.Scope
  private let allowsPlainHTTP: Bool
  private let tokens: Tokens

  /// Makes the interceptor.
  ///
  /// - Parameters:
  ///   - hosts: The requests that get the token; all other requests pass unchanged.
  ///   - allowsPlainHTTP: Whether the token is also sent over connections that anybody can read.
  ///   - refreshLimit: How long a refresh may take, at most a year.
  ///   - clock: The clock of that limit.
  ///   - token: Returns the current token for each request; `nil` for none, as after a sign-out. On Linux, the loads of
  ///     a session call it outside of the app's task: a `@TaskLocal` value of the app is not set there.
  ///   - refresh: Returns a new token for the refused one, and stores it, so that `token` returns it. Throws if no
  ///     token is available.
  public init(
    hosts: InterceptorChain.Scope, allowsPlainHTTP: Bool = false, refreshLimit: Duration = .seconds(60),
    clock: any Clock<Duration> = ContinuousClock(), token: @escaping @Sendable () async throws -> String?,
    refresh: @escaping @Sendable (_ refused: String?) async throws -> String
  ) {
    (self.hosts, self.allowsPlainHTTP) = (hosts, allowsPlainHTTP)
    tokens = Tokens(stored: token, refresh: refresh, limit: refreshLimit.upToAYear, Stopwatch(clock))
  }

  /// Authorizes the request; sends it once more if its token was refused.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    guard hosts.covers(request.url), allowsPlainHTTP || request.url.isConfidential, !request.answersChallenge,
      SharedWork.current?.isRunning(of: ObjectIdentifier(tokens)) != true
    else { return try await next(request) }
    let (token, moment) = try await next.waiting { try await tokens.current() }
    let response = try await next(request.authorized(by: token))
    let isAuthorized = token != nil || request.fields[.authorization] == nil
    // Another origin may not have got the token (rule 4).
    guard response.status == .unauthorized, isAuthorized, request.url.hasOrigin(of: request.firstURL) else {
      return response
    }
    guard request.body.isReplayable, token != nil || tokens.admitsAnonymous() else {
      tokens.refuse(token, sentAt: moment)
      return response
    }
    // The refresh may need the connection.
    await response.body.discard()
    let fresh = try await next.waiting { try await tokens.replacement(of: token, sentAt: moment) }
    return try await next(request.authorized(by: fresh))
  }

  /// Returns the invalid parts of the scope, and the interceptors that must precede this one but follow it.
  public func problems(in chain: InterceptorChain) -> [String] {
    hosts.problems.map { "has an invalid scope: \($0.message)" } + misplaced(in: chain)
  }
}

extension InterceptedRequest {
  /// Whether it has a credential of the app for a challenge.
  fileprivate var answersChallenge: Bool {
    guard let scheme = fields[.authorization]?.prefix(while: { $0 != " " }).lowercased() else { return false }
    return ["basic", "digest"].contains(scheme)
  }

  fileprivate func authorized(by token: String?) -> InterceptedRequest {
    guard let token else { return self }
    var request = self
    request.fields[.authorization] = "Bearer \(token)"
    return request
  }
}

/// The refused tokens of one interceptor, and the refreshes in flight.
private final class Tokens: Sendable {
  /// A refresh that runs.
  private struct Refresh {
    /// The refused token; `nil` for a request that had none.
    let refused: String?
    /// The logical time at which it began.
    let start: Int
    var waiters: [Promise<String>] = []
    /// The refresh itself, and its time limit.
    var tasks: [Task<Void, Never>] = []
    /// Set if it has outrun its limit.
    var failure: (any Error)?
  }

  /// The state of a refused token.
  private struct Refusal {
    /// The refresh that runs.
    var refresh: SharedWork?
    /// The logical time at which the last refresh ended, or the token was refused without one.
    var moment = 0
    /// Its token.
    var replacement: String?
    /// Its failure, and the time on the stopwatch until which there is no further refresh.
    var failure: (error: any Error, lasts: Duration)?
  }

  private enum Step {
    case send(String)
    case wait(SharedWork)
    case fail(any Error)
    case refresh(String?)
  }

  private struct State {
    /// The number of notes: a logical clock that tells whether a refresh ended after a request was sent.
    var moment = 0
    var refusals: [String: Refusal] = [:]
    /// The refused tokens by the logical times of the last notes.
    var noted: [Int: String] = [:]
    var refreshes: [ObjectIdentifier: Refresh] = [:]
    /// The number of refreshes in flight for requests without a token.
    var anonymous = 0

    /// The last replacement of a token; the token itself if there is none.
    func newest(of token: String) -> String {
      var token = token
      while let next = refusals[token]?.replacement, next != token { token = next }
      return token
    }

    /// The next step for a request with a token.
    ///
    /// - Parameter sent: When the request was sent that was refused; `nil` before a request is sent.
    func step(_ original: String, sentAt sent: Int?, now: Duration) -> Step {
      let token = newest(of: original)
      let sent = token == original ? sent : nil
      guard let refusal = refusals[token] else { return sent == nil ? .send(token) : .refresh(token) }
      if let work = refusal.refresh { return refreshes[ObjectIdentifier(work)]?.failure.map(Step.fail) ?? .wait(work) }
      let isNews = sent.map { refusal.moment <= $0 } ?? false
      if let failure = refusal.failure, failure.lasts > now || sent != nil && !isNews { return .fail(failure.error) }
      // A refresh that has failed says nothing of the token.
      let isUsable = refusal.replacement != nil || refusal.failure != nil
      return isUsable && !isNews ? .send(token) : .refresh(token)
    }

    /// Adds the waiter to the refresh of the step, which is the new one if the step begins one.
    mutating func take(_ step: Step, _ waiter: Promise<String>, _ new: SharedWork) -> Step {
      switch step {
      case .send, .fail: break
      case .wait(let work): refreshes[ObjectIdentifier(work)]?.waiters.append(waiter)
      case .refresh(let token):
        refreshes[ObjectIdentifier(new)] = Refresh(refused: token, start: moment, waiters: [waiter])
        if let token { refusals[token, default: Refusal()].refresh = new }
      }
      return step
    }

    /// Fails a refresh at its limit; `nil` if it has ended before.
    mutating func fail(_ work: SharedWork, _ error: any Error) -> Refresh? {
      guard let refresh = refreshes[ObjectIdentifier(work)] else { return nil }
      refreshes[ObjectIdentifier(work)] = Refresh(refused: refresh.refused, start: refresh.start, failure: error)
      return refresh
    }

    /// Removes a refresh, and notes its result.
    mutating func end(_ work: SharedWork, _ result: Result<String, any Error>, pauseEnd: Duration) -> Refresh? {
      guard let refresh = refreshes.removeValue(forKey: ObjectIdentifier(work)) else { return nil }
      // The app says that the token is valid, whatever was known of it when the refresh began. Replacements form no
      // cycle.
      if case .success(let token) = result, let known = refusals[token], known.refresh == nil,
        known.moment <= refresh.start || newest(of: token) == refresh.refused
      {
        refusals[token] = nil
      }
      guard let refused = refresh.refused else {
        anonymous -= 1
        return refresh
      }
      var refusal = Refusal()
      switch result {
      case .success(let token): refusal.replacement = token
      case .failure(let error):
        // After the limit, the thrown error is that of the cancellation.
        let error = refresh.failure ?? error
        refusal.failure = (error, error.isFinal ? pauseEnd : .zero)
      }
      note(refusal, of: refused)
      return refresh
    }

    /// Remembers a refusal, and forgets the oldest one, but not a refresh that runs.
    mutating func note(_ refusal: Refusal, of token: String) {
      moment += 1
      refusals[token] = refusal
      refusals[token]?.moment = moment
      noted[moment] = token
      let last = moment - Self.mostNotes
      guard let oldest = noted.removeValue(forKey: last), let known = refusals[oldest] else { return }
      if known.moment == last, known.refresh == nil { refusals[oldest] = nil }
    }

    /// The number of refusals to remember, for a server with as many users at once.
    private static let mostNotes = 4096
  }

  /// How long a refresh that has failed for good is not tried again.
  private static let pause = Duration.seconds(30)
  /// The number of refreshes in flight for requests without a token: one whose own requests have none begins others.
  private static let mostAnonymous = 64

  private let state = Locked(State())
  private let limit: Duration
  private let stopwatch: Stopwatch
  private let stored: @Sendable () async throws -> String?
  private let refresh: @Sendable (String?) async throws -> String

  init(
    stored: @escaping @Sendable () async throws -> String?,
    refresh: @escaping @Sendable (String?) async throws -> String, limit: Duration, _ stopwatch: Stopwatch
  ) {
    (self.stored, self.refresh, self.limit, self.stopwatch) = (stored, refresh, limit, stopwatch)
  }

  /// The token to send, and the logical time at which it is sent.
  func current() async throws -> (token: String?, moment: Int) {
    guard let token = try await stored() else { return (nil, state.withLock { $0.moment }) }
    let usable = try await usable(token)
    return (usable, state.withLock { $0.moment })
  }

  /// Notes that a token was refused, for the next request.
  func refuse(_ token: String?, sentAt moment: Int) {
    guard let token else { return }
    let now = stopwatch.elapsed()
    state.withLock { state in
      if case .refresh(let token?) = state.step(token, sentAt: moment, now: now) { state.note(Refusal(), of: token) }
    }
  }

  /// Whether a refresh for a request without a token may begin, which then must.
  func admitsAnonymous() -> Bool {
    state.withLock { state in
      guard state.anonymous < Self.mostAnonymous else { return false }
      state.anonymous += 1
      return true
    }
  }

  /// The token to send a refused request again with.
  func replacement(of token: String?, sentAt moment: Int) async throws -> String {
    if let token { return try await usable(token, sentAt: moment) }
    // Without a token, the user is unknown: the refresh is not shared, and ends with its request.
    return try await waiter { _ in .refresh(nil) }
  }

  private func usable(_ token: String, sentAt sent: Int? = nil) async throws -> String {
    let now = stopwatch.elapsed()
    return try await waiter { $0.step(token, sentAt: sent, now: now) }
  }

  /// Takes a step, and waits for the refresh in it.
  private func waiter(_ step: (State) -> Step) async throws -> String {
    let (waiter, new) = (Promise<String>(), SharedWork(of: ObjectIdentifier(self)))
    var isAnonymous = false
    switch state.withLock({ $0.take(step($0), waiter, new) }) {
    case .send(let token): return token
    case .fail(let error): throw error
    case .wait: break
    case .refresh(let refused):
      start(new, refused)
      isAnonymous = refused == nil
    }
    return try await waiter.valueUnlessCancelled(onCancel: { [isAnonymous] in
      guard isAnonymous else { return }
      for task in state.withLock({ $0.refreshes[ObjectIdentifier(new)]?.tasks ?? [] }) { task.cancel() }
    })
  }

  /// Runs a refresh in a separate task, because the request's task may be cancelled while other requests wait.
  private func start(_ work: SharedWork, _ refused: String?) {
    let deadline = stopwatch.elapsed() + limit
    let refresh = Task {
      do {
        let fresh = try await work.run { try await self.refresh(refused) }
        self.end(work, .success(fresh))
      } catch {
        self.end(work, .failure(error))
      }
    }
    let timer = Task {
      guard (try? await self.stopwatch.sleep(until: deadline)) != nil else { return }
      let message = "the refresh took longer than its limit: raise refreshLimit, or check what it waits for."
      let error = WaylayError(.timedOut, message, interceptor: "BearerToken")
      if let failed = self.state.withLock({ $0.fail(work, error) }) { Self.settle(failed, .failure(error)) }
    }
    let isOver = state.withLock { state in
      guard let running = state.refreshes[ObjectIdentifier(work)], running.failure == nil else { return true }
      state.refreshes[ObjectIdentifier(work)]?.tasks = [refresh, timer]
      return false
    }
    if isOver { for task in [refresh, timer] { task.cancel() } }
  }

  private func end(_ work: SharedWork, _ result: Result<String, any Error>) {
    let pauseEnd = stopwatch.elapsed() + Self.pause
    if let ended = state.withLock({ $0.end(work, result, pauseEnd: pauseEnd) }) { Self.settle(ended, result) }
  }

  private static func settle(_ refresh: Refresh, _ result: Result<String, any Error>) {
    for waiter in refresh.waiters { waiter.settle(result) }
    for task in refresh.tasks { task.cancel() }
  }
}

extension Error {
  /// Whether another attempt would fail in the same way, as far as can be known.
  fileprivate var isFinal: Bool {
    !(self is CancellationError
      || (self as? any LoadError)?.isNetworkFailure ?? (self as? URLError)?.isNetworkFailure ?? false)
  }
}

extension URL {
  fileprivate func hasOrigin(of other: URL) -> Bool {
    (scheme, host?.lowercased(), port) == (other.scheme, other.host?.lowercased(), other.port)
  }

  /// Whether a connection to the URL is encrypted or stays on this machine.
  fileprivate var isConfidential: Bool {
    guard scheme?.lowercased() == "http" else { return true }
    // A host that is no name and no address, such as one with a scope, may be anywhere.
    guard let host = host.flatMap({ try? HostName($0) }) else { return false }
    let name = host.description
    return host.isAddress ? name.hasPrefix("127.") || name == "::1" : ".\(name)".hasSuffix(".localhost")
  }
}
