public import WaylayCore

/// An interceptor that authorizes requests to certain hosts by a bearer token (RFC 6750), and has it refreshed when it
/// is refused.
///
/// ```swift
/// BearerToken(hosts: .host("api.example.com").excludingPath("/token")) {
///   await account.accessToken
/// } refresh: { _ in
///   try await account.refresh()
/// }
/// ```
///
/// Any number of requests that are refused with 401 share one refresh, and each is sent once more with its body; the
/// second 401 is the response. If the refresh fails, all of them fail with its error, and none is sent again. A token
/// that was refused is not sent again, whatever `token` says. A body that can be read once is not sent again: its
/// request ends with the 401. The time of the refresh is no idle time of those who wait for it.
///
/// The refresh may use a direct load of the same registry, which is recognized and passes by the chain. One by a session
/// needs a URL that is outside of `hosts`: it would wait for itself.
///
/// On a redirect that led away from the load's first origin, the token reaches a host only if the scope of the chain
/// names it, too (rule 4).
public struct BearerToken: OrderedInterceptor {
  private let hosts: InterceptorChain.Scope
  private let tokens: Tokens

  /// Makes the interceptor.
  ///
  /// - Parameters:
  ///   - hosts: The requests that get the token. No others do.
  ///   - token: The token of the moment, asked for with every request; `nil` for none, as after a sign-out.
  ///   - refresh: Gets another token in place of the refused one, and keeps it, so that `token` returns it. Throws when
  ///     there is none to be had.
  public init(
    hosts: InterceptorChain.Scope, token: @escaping @Sendable () async throws -> String?,
    refresh: @escaping @Sendable (_ refused: String?) async throws -> String
  ) {
    self.hosts = hosts
    tokens = Tokens(stored: token, refresh: refresh)
  }

  /// Authorizes the request, and sends it once more if its token was refused.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    guard hosts.covers(request.url), !Tokens.isRefreshing else { return try await next(request) }
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

  /// Which part of the scope cannot be read, and what stands behind it that belongs before it.
  public func problems(in chain: InterceptorChain) -> [String] {
    hosts.problems.map { "does not cover what was intended: \($0.message)" } + misplaced(in: chain)
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

/// The tokens of one interceptor, and the refresh under way.
private final class Tokens: Sendable {
  private struct State {
    /// Counts the refreshes that have ended: what a request knows of the world when it is sent.
    var moment = 0
    /// What the last refresh gave.
    var fresh: (token: String, moment: Int)?
    var failure: (error: any Error, moment: Int)?
    /// The newest last.
    var refused: [String] = []
    var waiters: [Promise<String>] = []
    var isRefreshing = false

    /// The token that was refreshed last, unless it was refused meanwhile.
    var valid: String? { fresh.flatMap { refused.contains($0.token) ? nil : $0.token } }

    mutating func refuse(_ token: String) {
      guard !refused.contains(token) else { return }
      refused.append(token)
      if refused.count > 64 { refused.removeFirst() }
    }
  }

  /// Whether the current task is a refresh, whose own requests carry no token and wait for none.
  @TaskLocal static var isRefreshing = false

  private let state = Locked(State())
  private let stored: @Sendable () async throws -> String?
  private let refresh: @Sendable (String?) async throws -> String

  init(
    stored: @escaping @Sendable () async throws -> String?,
    refresh: @escaping @Sendable (String?) async throws -> String
  ) {
    (self.stored, self.refresh) = (stored, refresh)
  }

  /// The token to send, and when it was taken.
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

  /// Another token in place of one that was refused: one that is there already, or that of the one refresh.
  ///
  /// - Throws: What the refresh threw that ended after the request was sent.
  func replacement(of token: String?, usedSince moment: Int) async throws -> String {
    refuse(token)
    let known = try state.withLock { state -> String? in
      if let failure = state.failure, failure.moment > moment { throw failure.error }
      guard let fresh = state.fresh, fresh.moment > moment, fresh.token != token else { return nil }
      return state.valid
    }
    if let known { return known }
    // The app may have got another one by itself, as by a sign-in.
    if let other = try await stored(), other != token, !state.withLock({ $0.refused.contains(other) }) { return other }
    return try await refreshed(token)
  }

  /// The token of the refresh under way, or of one that begins now.
  private func refreshed(_ token: String?) async throws -> String {
    let waiter = Promise<String>()
    let isFirst = state.withLock { state in
      state.waiters.append(waiter)
      defer { state.isRefreshing = true }
      return !state.isRefreshing
    }
    // Not the task of the request, which may be cancelled while others wait; it inherits the load that it is inside of
    // (rule 7).
    if isFirst {
      Task {
        await Self.$isRefreshing.withValue(true) {
          do { self.end(.success(try await self.refresh(token))) } catch { self.end(.failure(error)) }
        }
      }
    }
    return try await waiter.valueUnlessCancelled()
  }

  private func end(_ result: Result<String, any Error>) {
    let (outcome, waiters) = state.withLock { state -> (Result<String, any Error>, [Promise<String>]) in
      var outcome = result
      if case .success(let token) = result, state.refused.contains(token) { outcome = .failure(Self.sameAgain) }
      state.moment += 1
      switch outcome {
      case .success(let token): (state.fresh, state.failure) = ((token, state.moment), nil)
      case .failure(let error): (state.fresh, state.failure) = (nil, (error, state.moment))
      }
      state.isRefreshing = false
      defer { state.waiters = [] }
      return (outcome, state.waiters)
    }
    for waiter in waiters { waiter.settle(outcome) }
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
