public import Logging

/// Dials the addresses that an app trusts instead of those from the network's resolver, with `https` intact.
///
/// ```swift
/// let rewriter = HostRewriter(["api.example.com": ["203.0.113.7", "2001:db8::7"]])
/// let registry = InterceptorRegistry { rewriter }
/// let session = URLSession(configuration: .default.intercepted(by: registry))
/// let (data, response) = try await session.data(from: url)
/// ```
///
/// The URL stays unchanged, and with it the `Host` field, the TLS server name, the name that the certificate is
/// verified against, cookies, redirects and errors: a `Route` determines only where the socket connects. If an address
/// does not respond, or presents a certificate for another host, the rewriter tries the next one within the same
/// request, before it has sent any byte of the request; later requests use what it has learned. A redirect to another
/// host is routed anew.
///
/// WebSocket tasks cannot be routed, on any platform. On Linux, a WebSocket task to a routed host is cancelled under
/// ``Policy/require``, and falls back to the system under ``Policy/prefer``; both are logged, and reported as a
/// ``HostEvent``.
///
/// Make it the last interceptor of its chain, so that nothing after it runs once per attempt. Hosts without a rule are
/// left alone.
///
/// ### Platforms
///
/// The rewriter needs a transport that dials given addresses (`TransportCapabilities.routes`): `CurlTransport`, the
/// default on Linux, and the `transport` of a `HostTunnel` on Apple platforms (product `WaylayTunnel`). `URLSession` by
/// itself offers nothing of the kind: over it a request fails under ``Policy/require``, with
/// `HostError.transportIncapable`, and falls back to the system under ``Policy/prefer``, with a ``HostEvent``.
public final class HostRewriter: RequestInterceptor {
  /// The current rules; replacing them takes effect for the next request.
  public let ruleSource: HostRuleSource

  package let policy: Policy
  let cache: ResolutionCache?
  let health: HostHealth
  let clock: HostClock
  let reporter: HostReporter
  private let transports = Locked<[KnownTransport]>([])

  /// Unchecked: every `Transport` is Sendable; `weak` needs `AnyObject`.
  private struct KnownTransport: @unchecked Sendable {
    weak var transport: AnyObject?
  }

  /// Makes a rewriter from a literal table of hosts and addresses: see `HostPattern` and ``HostEndpoint`` for the
  /// syntax. The policy is ``Policy/prefer``.
  ///
  /// For a table from a file or a server, use ``HostRules/init(_:)-([String:[String]])``, which throws if the table is
  /// invalid.
  ///
  /// - Precondition: The table is valid. The failure message names the invalid entry and the reason.
  public convenience init(_ table: [String: [String]]) {
    do {
      self.init(rules: try HostRules(table))
    } catch {
      fatalError("HostRewriter: \(error)")
    }
  }

  /// Makes a rewriter.
  ///
  /// - Parameters:
  ///   - rules: The hosts to route, and their addresses; can be replaced at run time.
  ///   - resolver: The resolver for hosts whose rule has no addresses. A ``ResolutionCache`` is used directly; any
  ///     other resolver gets one in front.
  ///   - policy: How strictly to route, and how to try addresses.
  ///   - logger: The logger for attempts: suspected hijacks at `.warning`, all other attempts at `.debug`.
  ///     Default: none.
  ///   - clock: The clock for deadlines and bans.
  public init(
    rules: HostRuleSource, resolver: (any HostResolver)? = nil, policy: Policy = .prefer, logger: Logger? = nil,
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    ruleSource = rules
    self.clock = HostClock(clock)
    cache = resolver.map { $0 as? ResolutionCache ?? ResolutionCache($0, clock: clock) }
    self.policy = policy
    health = HostHealth(policy: policy, clock: self.clock)
    reporter = HostReporter(logger: logger ?? FallbackLogger.current)
  }

  /// Makes a rewriter from rules, which ``ruleSource`` can replace.
  public convenience init(
    rules: HostRules, resolver: (any HostResolver)? = nil, policy: Policy = .prefer, logger: Logger? = nil,
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.init(
      rules: HostRuleSource(rules), resolver: resolver, policy: policy, logger: logger, clock: clock)
  }

  /// `true`: the rewriter routes requests of interceptors, too, but not those of its resolver.
  public var takesPartInNestedRequests: Bool { true }

  /// Whether a rule routes the request's host, and no proxy of the system does where the policy yields to it.
  public func canInit(with request: URLRequest) -> Bool {
    guard let authority = Self.authority(of: request.url), !yields(to: request.url),
      let rule = ruleSource.match(authority.host, port: authority.port)
    else { return false }
    return !rule.isExclusion
  }

  private func yields(to url: URL?) -> Bool {
    policy.yieldsToSystemProxy && url.map { SystemProxy.isSet(for: $0) } ?? false
  }

  /// Sends the request to the best of the host's addresses, and to the next ones if that does not respond.
  ///
  /// - Throws: A `URLError` with a ``HostError`` beneath if no address responded.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    // Keep a route that an earlier interceptor has set.
    guard request.route == nil, let authority = Self.authority(of: request.url) else { return try await next(request) }
    let plan: Plan
    do {
      guard let made = try await self.plan(for: authority) else { return try await next(request) }
      plan = made
    } catch let error as HostError {
      return try await withoutAddresses(request, next, authority, error)
    }
    reporter.count { $0.requests += 1 }
    let transport = try next.transport(for: request.url)
    if let transport {
      guard transport.capabilities.contains(.routes) else {
        return try await incapable(request, next, authority, transport)
      }
      remember(transport)
    }
    do {
      do {
        return try await load(plan, request, next, authority, transport)
      } catch  where health.epoch != plan.epoch && Failover.allowsAnotherTry(after: error, of: request) {
        // The network has changed meanwhile: try again in the new network.
        guard let plan = try await self.plan(for: authority) else { throw error }
        return try await load(plan, request, next, authority, transport)
      }
    } catch {
      if !(error is CancellationError) { failed(request, authority, error) }
      throw error
    }
  }

  /// Tries the addresses. If the request's own timeout expires meanwhile, the error lists the attempts.
  private func load(
    _ plan: Plan, _ request: InterceptedRequest, _ next: InterceptorChain.Next, _ authority: HostAuthority,
    _ transport: (any Transport)?
  ) async throws -> InterceptedResponse {
    var policy = policy
    // Through a tunnel, the silence may be the client's. The tunnel itself detects a silent server.
    if request.method == .connect { policy.silenceTimeout = nil }
    let failover = Failover(
      request: request, authority: authority, policy: policy, health: health, clock: clock, next: next,
      transport: transport,
      report: { [reporter, clock] attempt, ban in
        if attempt.candidate == nil { reporter.count { $0.systemFallbacks += 1 } }
        reporter.attempted(attempt, ban: ban, now: clock.time(), request: request, host: authority.host)
      }, start: clock.time(), epoch: plan.epoch)
    next.onTimeout(failover.timeoutError)
    // After a timeout the handler must stay: it lists the attempts.
    defer { if !Task.isCancelled { next.onTimeout(nil) } }
    return try await failover.load(plan.ranking.entries)
  }

  private func failed(_ request: InterceptedRequest, _ authority: HostAuthority, _ error: any Error) {
    reporter.count { $0.failures += 1 }
    reporter.happened(.failed, request: request, host: authority.host, error: error)
  }

  /// The time of the rewriter's clock.
  package var now: Duration { clock.time() }

  /// Keeps a weak reference to a transport, to close its connections when the network changes.
  package func remember(_ transport: any Transport) {
    guard type(of: transport) is AnyClass else { return }
    let object = transport as AnyObject
    transports.withLock { transports in
      guard !transports.contains(where: { $0.transport === object }) else { return }
      transports.removeAll { $0.transport == nil }
      transports.append(KnownTransport(transport: object))
    }
  }

  /// Tells the rewriter that the network has changed: it clears bans and measured times, restarts the cache's lookups,
  /// and closes all connections of the transports that have carried its requests, including those to other hosts,
  /// because these connections are dead.
  ///
  /// Requests in progress are sent again if they may be repeated; the rest fail with `networkConnectionLost`. Call this
  /// method when the device has changed networks; on Apple platforms an `NWPathMonitor` reports that.
  public func networkChanged() {
    health.networkChanged()
    for known in transports.withLock({ $0 }) { (known.transport as? any Transport)?.closeConnections() }
    cache?.networkChanged()
  }

  /// The events from now on.
  ///
  /// - Parameter limit: The number of events buffered for a slow reader; beyond it, the oldest events are dropped.
  public func events(bufferingNewest limit: Int = 256) -> AsyncStream<HostEvent> {
    reporter.hub.subscribe(bufferingNewest: limit)
  }

  /// The counters since the rewriter was made.
  public var counters: HostCounters { reporter.counters }

  static func authority(of url: URL?) -> HostAuthority? {
    guard let url, let port = url.portOrDefault, let host = url.host, let name = try? HostName(host)
    else { return nil }
    return HostAuthority(name, port: port)
  }
}

// MARK: - The addresses of a host

extension HostRewriter {
  /// The route of a request.
  struct Plan: Sendable {
    let rule: HostRule
    let ranking: Ranking
    /// The network (epoch of the health records) that the plan is for.
    let epoch: Int
  }

  /// The addresses of a host in the order of the attempts; `nil` if the rules leave the host alone.
  ///
  /// - Throws: ``HostError`` if the host is routed and has no address.
  func plan(for authority: HostAuthority) async throws -> Plan? {
    guard let rule = ruleSource.match(authority.host, port: authority.port), !rule.isExclusion else { return nil }
    var found = CachedResolution(
      resolution: HostResolution(rule.endpoints, timeToLive: .zero, source: "rule"), age: nil, isStale: false)
    if rule.endpoints.isEmpty {
      guard let cache else {
        throw HostError(
          .noResolver,
          "the rule \"\(rule)\" names no address, and the rewriter has no resolver: give it one, or the rule "
            + "addresses.",
          host: authority.host.description)
      }
      found = try await cache.lookUp(authority)
    }
    var candidates: [HostCandidate] = []
    for endpoint in found.resolution.endpoints.prefix(HostResolution.mostCandidates) {
      let candidate = HostCandidate(
        endpoint.address, port: endpoint.port ?? authority.port, source: found.resolution.source, age: found.age,
        isStale: found.isStale)
      if !candidates.contains(candidate) { candidates.append(candidate) }
    }
    let epoch = health.epoch
    let records = health.records(of: candidates, at: authority)
    return Plan(rule: rule, ranking: Ranking(candidates, records: records, at: clock.time()), epoch: epoch)
  }
}

// MARK: - Without addresses

extension HostRewriter {
  /// Handles a request for which neither the rules nor the resolver have an address.
  func withoutAddresses(
    _ request: InterceptedRequest, _ next: InterceptorChain.Next, _ authority: HostAuthority, _ error: HostError
  ) async throws -> InterceptedResponse {
    reporter.count { $0.requests += 1 }
    reporter.happened(.unresolved, request: request, host: authority.host, error: error)
    // A missing resolver is a configuration error: no fallback.
    guard policy.allowsSystem, error.code != .noResolver else {
      failed(request, authority, error)
      throw error.urlError(.cannotFindHost, of: request)
    }
    return try await systemFallback(request, next, authority, error)
  }

  /// Handles a transport that cannot dial given addresses.
  func incapable(
    _ request: InterceptedRequest, _ next: InterceptorChain.Next, _ authority: HostAuthority,
    _ transport: any Transport
  ) async throws -> InterceptedResponse {
    let name = String(describing: type(of: transport))
    let error = HostError(
      .transportIncapable,
      """
      \(name) cannot dial a given address, so the system's resolver would choose the address: use a \
      transport with routes, which is \
      CurlTransport on Linux and the transport of a HostTunnel on Apple platforms, or the policy .prefer, which falls \
      back to that resolver.
      """, host: authority.host.description)
    guard policy.allowsSystem else {
      failed(request, authority, error)
      throw error.urlError(.resourceUnavailable, of: request)
    }
    reporter.warnOnce("hosts are not routed", error)
    return try await systemFallback(request, next, authority, error)
  }

  private func systemFallback(
    _ request: InterceptedRequest, _ next: InterceptorChain.Next, _ authority: HostAuthority, _ error: HostError
  ) async throws -> InterceptedResponse {
    if let reason = request.reasonAgainstSystemFallback {
      let refused = HostError(
        error.code, "\(error.message.withRedactedURLs) The system's resolver was not used: \(reason).",
        host: authority.host.description, underlying: error)
      failed(request, authority, refused)
      throw refused.urlError(.cannotFindHost, of: request)
    }
    reporter.count { $0.systemFallbacks += 1 }
    reporter.happened(.fellBackToSystem, request: request, host: authority.host, error: error)
    return try await next(request)
  }
}

extension HostRewriter {
  /// Explains what the rewriter would do with `url` now, and why. It looks up the host's addresses if a request would,
  /// and dials nothing.
  public func explain(_ url: URL) async -> HostExplanation {
    let isHTTP = ["http", "https"].contains(url.scheme?.lowercased())
    guard isHTTP, let authority = Self.authority(of: url) else {
      return HostExplanation(url.host, "\(url.redacted): not http or https, or no host: left alone")
    }
    let host = "\(authority.host):\(authority.port)"
    guard !yields(to: url) else {
      return HostExplanation(host, "\(host), a proxy of the system: the request is left alone")
    }
    let rule = ruleSource.match(authority.host, port: authority.port)
    let end = policy.allowsSystem ? "then the system's resolver" : "and nothing else"
    do {
      guard let plan = try await plan(for: authority) else {
        let reason = rule.map { "rule \"\($0)\"" } ?? "no rule"
        return HostExplanation(host, "\(host), \(reason): the request is left alone", rule: rule)
      }
      let now = clock.time()
      let rows = plan.ranking.entries.map { entry in
        HostExplanation.Row(
          candidate: entry.candidate, state: entry.state, handshake: entry.record.smoothed,
          ban: entry.ban.map { $0.until - now })
      }
      return HostExplanation(host, "\(host), rule \"\(plan.rule)\", \(end)", rule: plan.rule, rows: rows)
    } catch {
      return HostExplanation(host, "\(host), no address, \(end)", rule: rule, error: error)
    }
  }
}

extension HostRewriter: GuardingInterceptor {
  /// Reports a WebSocket task that cannot be routed: no transport routes one, so it falls back to the system, including
  /// the system's resolver, or fails under ``Policy/require``. Both are reported, because the task itself cannot say
  /// why.
  public func validate(webSocket request: URLRequest) throws {
    // `canInit` has confirmed that a rule routes the host.
    guard let authority = Self.authority(ofWebSocket: request.url) else { return }
    let isRefused = !policy.allowsSystem
    let error = HostError(
      .webSocketNotRouted,
      isRefused
        ? "a WebSocket task cannot be routed, and the policy allows no other way: it was cancelled. Open the "
          + "connection yourself, or leave the host to the system with HostRule(excluding:)."
        : "a WebSocket task cannot be routed, so it falls back to the address that the system's resolver "
          + "returns for the host.",
      host: authority.host.description)
    let intercepted = InterceptedRequest(request)
    reporter.warnOnce("a WebSocket task is not routed", error, about: authority.host)
    reporter.happened(isRefused ? .failed : .fellBackToSystem, request: intercepted, host: authority.host, error: error)
    if isRefused { throw error }
  }

  private static func authority(ofWebSocket url: URL?) -> HostAuthority? {
    guard let url, let host = url.host, let name = try? HostName(host) else { return nil }
    return HostAuthority(name, port: url.port ?? (url.scheme?.lowercased() == "wss" ? 443 : 80))
  }
}
