extension HostRewriter {
  /// Where a request would go.
  struct Decision: Sendable {
    let rule: HostRule
    let ranking: Ranking
  }

  /// The addresses of a host in the order in which they are tried; `nil` when its requests are left alone.
  ///
  /// - Throws: ``HostError`` when there should be addresses and are none.
  func decide(_ authority: HostHealth.Authority, _ url: URL?) async throws -> Decision? {
    guard let rule = try rule(for: authority) else { return nil }
    guard rule.endpoints.isEmpty else {
      return decision(rule, Self.candidates(of: rule, port: authority.port), authority)
    }
    guard let cache else {
      throw HostError(
        .noResolver,
        "the rule \"\(rule)\" names no address, and the rewriter has no resolver: give it one, or the rule addresses.",
        host: authority.host.description)
    }
    let query = HostQuery(authority.host, port: authority.port)
    let answer: ResolutionCache.Answer
    if let cached = cache.cached(query) { answer = cached } else { answer = try await cache.answer(query) }
    let isSecure = url?.scheme?.lowercased() == "https"
    return decision(rule, Self.candidates(of: answer, port: authority.port, isSecure: isSecure), authority)
  }

  /// Returns the addresses to which a request for `url` would be sent now, best first, as far as known without waiting.
  ///
  /// - Returns: `nil` for a host that is left alone, and for one that must be looked up first; ``explain(_:)`` looks it
  ///   up, and says why.
  public func candidates(for url: URL) -> [HostCandidate]? {
    guard let authority = Self.authority(of: url), let rule = try? rule(for: authority) else { return nil }
    let candidates: [HostCandidate]
    if !rule.endpoints.isEmpty {
      candidates = Self.candidates(of: rule, port: authority.port)
    } else if let answer = cache?.cached(HostQuery(authority.host, port: authority.port)) {
      candidates = Self.candidates(of: answer, port: authority.port, isSecure: url.scheme == "https")
    } else {
      return nil
    }
    return decision(rule, candidates, authority).ranking.entries.map(\.candidate)
  }

  private func rule(for authority: HostHealth.Authority) throws -> HostRule? {
    guard let rule = try ruleSource.match(authority.host, port: authority.port), !rule.isExclusion else { return nil }
    if !faults.isEmpty, rule.endpoints.isEmpty, let fault = faults[rule.pattern] { throw fault }
    return rule
  }

  private func decision(_ rule: HostRule, _ candidates: [HostCandidate], _ authority: HostHealth.Authority) -> Decision
  {
    let candidates = Array(candidates.prefix(HostResolution.mostCandidates))
    let records = health.records(of: candidates, at: authority)
    return Decision(rule: rule, ranking: Ranking(candidates, records: records, at: clock.time()))
  }

  private static func candidates(of rule: HostRule, port: Int) -> [HostCandidate] {
    rule.endpoints.prefix(HostResolution.mostCandidates).map {
      HostCandidate($0.address, port: $0.port ?? port, source: "rule")
    }
  }

  /// An HTTPS record's port and protocols are for `https` (RFC 9460, section 9); what speaks HTTP/3 only is out of
  /// reach.
  private static func candidates(of answer: ResolutionCache.Answer, port: Int, isSecure: Bool) -> [HostCandidate] {
    let all = answer.resolution.candidates
    let usable = all.filter { $0.protocols.isEmpty || $0.protocols.contains("h2") || $0.protocols.contains("http/1.1") }
    return (usable.isEmpty ? all : usable).map { candidate in
      HostCandidate(
        candidate.address, port: isSecure ? candidate.port ?? port : port, source: answer.resolution.source,
        age: answer.age,
        isStale: answer.isStale)
    }
  }
}

// MARK: - Without addresses

extension HostRewriter {
  /// The rules or the resolvers have no address for the request.
  func withoutAddresses(
    _ request: InterceptedRequest, _ next: InterceptorChain.Next, _ authority: HostHealth.Authority, _ error: any Error
  ) async throws -> InterceptedResponse {
    if error is CancellationError { throw error }
    reporter.count { $0.requests += 1 }
    reporter.happened(.unresolved, request: request, host: authority.host, error: error)
    // An entry that cannot be used, or a list that has expired, is no failure of the network: nothing is dialled on a
    // guess.
    let code = (error as? HostError)?.code
    let isOurs = code == .invalidRule || code == .invalidName || code == .listExpired || code == .noResolver
    guard policy.fallback.allowsSystem, !isOurs else {
      reporter.count { $0.failures += 1 }
      reporter.happened(.failed, request: request, host: authority.host, error: error)
      throw Self.urlError(.cannotFindHost, error, request)
    }
    return try await systemFallback(request, next, authority, error)
  }

  /// The transport cannot dial addresses.
  func incapable(
    _ request: InterceptedRequest, _ next: InterceptorChain.Next, _ authority: HostHealth.Authority,
    _ transport: any Transport
  ) async throws -> InterceptedResponse {
    let name = String(describing: type(of: transport))
    let error = HostError(
      .transportIncapable,
      """
      \(name) cannot dial a given address, so the request would go wherever the system's resolver says: use a \
      transport with routes, which is \
      CurlTransport on Linux (Apple platforms have none yet), or the policy .prefer, which goes the system's way.
      """, host: authority.host.description)
    guard policy.fallback.allowsSystem else {
      reporter.count { $0.failures += 1 }
      reporter.happened(.failed, request: request, host: authority.host, error: error)
      throw Self.urlError(.resourceUnavailable, error, request)
    }
    reporter.warnOnce("hosts are not routed", error)
    return try await systemFallback(request, next, authority, error)
  }

  private func systemFallback(
    _ request: InterceptedRequest, _ next: InterceptorChain.Next, _ authority: HostHealth.Authority, _ error: any Error
  ) async throws -> InterceptedResponse {
    if let reason = request.reasonAgainstSystemFallback {
      let words = Self.words(of: error)
      let held = HostError(
        (error as? HostError)?.code ?? .resolverFailed, "\(words) The system's way was not taken: \(reason).",
        host: authority.host.description,
        underlying: error)
      reporter.count { $0.failures += 1 }
      reporter.happened(.failed, request: request, host: authority.host, error: held)
      throw Self.urlError(.cannotFindHost, held, request)
    }
    reporter.count { $0.systemFallbacks += 1 }
    reporter.happened(.fellBackToSystem, request: request, host: authority.host, error: error)
    return try await next(request)
  }

  /// What an error says, without what URLs in it hide.
  private static func words(of error: any Error) -> String {
    (error as? HostError)?.message.withRedactedURLs ?? error.redacted
  }

  private static func urlError(_ code: URLError.Code, _ error: any Error, _ request: InterceptedRequest) -> URLError {
    if let error = error as? HostError { return error.urlError(code, of: request) }
    return URLError(
      code,
      userInfo: [
        NSUnderlyingErrorKey: error, NSLocalizedDescriptionKey: words(of: error),
        NSURLErrorFailingURLErrorKey: request.url.withoutUserInfo,
      ])
  }
}
