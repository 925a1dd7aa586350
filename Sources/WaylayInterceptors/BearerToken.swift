public import WaylayCore

/// An interceptor that authorizes requests to certain hosts by a bearer token (RFC 6750), and refreshes the token after
/// a 401.
///
/// ```swift
/// BearerToken(hosts: .host("api.example.com").excludingPath("/token")) {
///   await account.accessToken
/// } refresh: { _ in
///   try await account.refresh()
/// }
/// ```
///
/// Concurrent requests that get a 401 share one refresh (single flight), and each is sent once more with its body; a
/// second 401 is returned to the app. If the refresh fails, all of them fail with its error, and none is sent again. A
/// refused token is never sent again, even if `token` still returns it. A request whose body can be read only once is
/// not sent again: the app gets the 401. The wait for the refresh does not count as idle time.
///
/// A refresh that takes longer than its limit fails. One that fails with anything but a failure of the network is not
/// tried again for 30 s: until then, requests without another token fail with the same error.
///
/// The refresh may use a direct load of the same registry, which bypasses this interceptor for as long as a request
/// waits for the token. Work that it starts and that outlives it is the app's: its loads go through the chains.
/// A refresh with a session needs a URL outside of `hosts`: otherwise it would wait for itself, up to its limit.
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
  ///   - refreshLimit: How long a refresh may take.
  ///   - clock: The clock of that limit.
  ///   - token: Returns the current token for each request; `nil` for none, as after a sign-out.
  ///   - refresh: Returns a new token for the refused one, and stores it, so that `token` returns it. Throws if no
  ///     token is available.
  public init(
    hosts: InterceptorChain.Scope, allowsPlainHTTP: Bool = false, refreshLimit: Duration = .seconds(60),
    clock: any Clock<Duration> = ContinuousClock(), token: @escaping @Sendable () async throws -> String?,
    refresh: @escaping @Sendable (_ refused: String?) async throws -> String
  ) {
    (self.hosts, self.allowsPlainHTTP) = (hosts, allowsPlainHTTP)
    tokens = Tokens(stored: token, refresh: refresh, limit: refreshLimit, Stopwatch(clock))
  }

  /// Authorizes the request; sends it once more if its token was refused.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    guard hosts.covers(request.url), allowsPlainHTTP || request.url.isConfidential,
      SharedWork.current?.isRunning(of: ObjectIdentifier(tokens)) != true
    else { return try await next(request) }
    let (token, moment) = try await next.waiting { try await tokens.current() }
    let response = try await next(request.authorized(by: token))
    guard response.status == .unauthorized else { return response }
    guard request.body.isReplayable else {
      tokens.refuse(token)
      return response
    }
    await response.body.discard()
    let fresh = try await next.waiting { try await tokens.replacement(of: token, usedSince: moment) }
    return try await next(request.authorized(by: fresh))
  }

  /// Returns the invalid parts of the scope, and the interceptors that must precede this one but follow it.
  public func problems(in chain: InterceptorChain) -> [String] {
    hosts.problems.map { "has an invalid scope: \($0.message)" } + misplaced(in: chain)
  }
}

extension InterceptedRequest {
  fileprivate func authorized(by token: String?) -> InterceptedRequest {
    guard let token else { return self }
    var request = self
    request.fields[.authorization] = "Bearer \(token)"
    return request
  }
}

/// The tokens of one interceptor, and the refresh in flight.
private final class Tokens: Sendable {
  private struct State {
    /// The number of completed refreshes: a logical clock that tells a request whether its token is outdated.
    var moment = 0
    /// The token of the last refresh.
    var fresh: (token: String, moment: Int)?
    /// The last failure, and the time on the stopwatch until which it replaces another refresh.
    var failure: (error: any Error, moment: Int, lasts: Duration)?
    /// The refused tokens, the newest last.
    var refused: [String] = []
    var waiters: [Promise<String>] = []
    /// The refresh in flight, with its task and the task of its time limit.
    var refresh: (work: SharedWork, tasks: [Task<Void, Never>])?

    /// The token of the last refresh, unless it was refused since.
    var valid: String? { fresh.flatMap { refused.contains($0.token) ? nil : $0.token } }

    mutating func refuse(_ token: String) {
      guard !refused.contains(token) else { return }
      refused.append(token)
      if refused.count > 64 { refused.removeFirst() }
    }
  }

  /// How long a refresh that has failed for good is not tried again.
  private static let pause = Duration.seconds(30)

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

  /// The token to send, and the logical time at which it was read.
  func current() async throws -> (token: String?, moment: Int) {
    guard let token = try await stored() else { return (nil, state.withLock { $0.moment }) }
    let (usable, moment) = state.withLock { state in
      (state.refused.contains(token) ? state.valid : token, state.moment)
    }
    if let usable { return (usable, moment) }
    let fresh = try await refreshed(token)
    return (fresh, state.withLock { $0.moment })
  }

  func refuse(_ token: String?) {
    guard let token else { return }
    state.withLock { $0.refuse(token) }
  }

  /// A replacement for a refused token: an existing newer token, or that of the shared refresh.
  ///
  /// - Throws: The error of a refresh that ended after the request was sent.
  func replacement(of token: String?, usedSince moment: Int) async throws -> String {
    refuse(token)
    let known = try state.withLock { state -> String? in
      if let failure = state.failure, failure.moment > moment { throw failure.error }
      guard let fresh = state.fresh, fresh.moment > moment, fresh.token != token else { return nil }
      return state.valid
    }
    if let known { return known }
    // The app may have another token by now, for example after a sign-in.
    if let other = try await stored(), other != token, !state.withLock({ $0.refused.contains(other) }) { return other }
    return try await refreshed(token)
  }

  /// The token of the refresh in flight; starts one if there is none.
  private func refreshed(_ token: String?) async throws -> String {
    let (waiter, now) = (Promise<String>(), stopwatch.elapsed())
    let new = SharedWork(of: ObjectIdentifier(self), waiters: 0)
    let work = try state.withLock { state in
      if state.refresh == nil, let failure = state.failure, failure.lasts > now { throw failure.error }
      state.waiters.append(waiter)
      if state.refresh == nil { state.refresh = (new, []) }
      return state.refresh?.work ?? new
    }
    work.addWaiters(1)
    defer { work.addWaiters(-1) }
    if work === new { start(work, token) }
    return try await waiter.valueUnlessCancelled()
  }

  /// Runs the refresh in a separate task, because the request's task may be cancelled while other requests wait.
  private func start(_ work: SharedWork, _ token: String?) {
    let deadline = stopwatch.elapsed() + limit
    let refresh = Task {
      do {
        let fresh = try await work.run { try await self.refresh(token) }
        self.end(work, .success(fresh))
      } catch {
        self.end(work, .failure(error))
      }
    }
    let timer = Task {
      guard (try? await self.stopwatch.sleep(until: deadline)) != nil else { return }
      let message = "the refresh took longer than its limit: raise refreshLimit, or check what it waits for."
      self.end(work, .failure(WaylayError(.timedOut, message, interceptor: "BearerToken")))
    }
    let hasEnded = state.withLock { state in
      if state.refresh?.work === work { state.refresh?.tasks = [refresh, timer] }
      return state.refresh?.work !== work
    }
    if hasEnded { for task in [refresh, timer] { task.cancel() } }
  }

  private func end(_ work: SharedWork, _ result: Result<String, any Error>) {
    let now = stopwatch.elapsed()
    let ended = state.withLock { state -> (Result<String, any Error>, [Promise<String>], [Task<Void, Never>])? in
      guard let refresh = state.refresh, refresh.work === work else { return nil }
      var outcome = result
      if case .success(let token) = result, state.refused.contains(token) { outcome = .failure(Self.sameAgain) }
      state.moment += 1
      switch outcome {
      case .success(let token): (state.fresh, state.failure) = ((token, state.moment), nil)
      case .failure(let error):
        (state.fresh, state.failure) = (nil, (error, state.moment, error.isFinal ? now + Self.pause : .zero))
      }
      defer { (state.waiters, state.refresh) = ([], nil) }
      return (outcome, state.waiters, refresh.tasks)
    }
    guard let (outcome, waiters, tasks) = ended else { return }
    for waiter in waiters { waiter.settle(outcome) }
    for task in tasks { task.cancel() }
  }

  private static var sameAgain: URLError {
    URLError(
      .userAuthenticationRequired,
      userInfo: [
        NSLocalizedDescriptionKey:
          "the refresh of BearerToken returned a token that was refused before: return another one, or throw."
      ])
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
  /// Whether a connection to the URL is encrypted or stays on this machine.
  fileprivate var isConfidential: Bool {
    guard scheme?.lowercased() == "http", let host = host.flatMap({ try? HostName($0) }) else { return true }
    let name = host.description
    return host.isAddress ? name.hasPrefix("127.") || name == "::1" : ".\(name)".hasSuffix(".localhost")
  }
}
