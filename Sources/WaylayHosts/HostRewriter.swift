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
/// default on Linux. `URLSession` offers nothing of the kind, so on Apple platforms a request fails under
/// ``Policy/require``, with ``HostError/Code/transportIncapable``, and falls back to the system under
/// ``Policy/prefer``, with a ``HostEvent``.
public final class HostRewriter: RequestInterceptor {
  /// The current rules; replacing them takes effect for the next request.
  public let ruleSource: HostRuleSource
  /// The invalid entries of ``init(_:)``. Requests to their hosts fail with these errors.
  public let problems: [HostError]

  let policy: Policy
  let cache: ResolutionCache?
  let health: HostHealth
  let clock: HostClock
  let reporter: HostReporter
  /// Hosts whose entries cannot be used, and why.
  let faults: [HostPattern: HostError]
  private let transports = Locked<[KnownTransport]>([])

  /// Unchecked: what it holds is a transport, and those are Sendable.
  private struct KnownTransport: @unchecked Sendable {
    weak var transport: AnyObject?
  }

  /// Makes a rewriter from a table of hosts and addresses; see `HostPattern` and ``HostEndpoint`` for the syntax. The
  /// policy is ``Policy/prefer``.
  ///
  /// An invalid entry appears in ``problems``, and requests to its host fail with it: they never go to an unintended
  /// address.
  public convenience init(_ table: [String: [String]]) {
    var rules: [HostRule] = []
    var faults: [HostPattern: HostError] = [:]
    var problems: [HostError] = []
    for (text, endpoints) in table.sorted(by: { $0.key < $1.key }) {
      do {
        let pattern = try HostPattern(rule: text)
        let isTaken = rules.contains { $0.pattern == pattern }
        do {
          guard !isTaken else {
            throw HostError(.invalidRule, "two entries are for \"\(pattern)\": keep one.", host: text)
          }
          guard !endpoints.isEmpty else {
            throw HostError(.invalidRule, "the entry \"\(text)\" has no addresses: add some.", host: text)
          }
          rules.append(try HostRule(text, endpoints: endpoints))
        } catch {
          let fault = HostError(error, entry: text)
          problems.append(fault)
          faults[pattern] = fault
          if !isTaken { rules.append(HostRule(pattern)) }
        }
      } catch {
        let fault = HostError(error, entry: text)
        problems.append(fault)
        // A URL in the place of its host says well enough which requests must not go their own way.
        let url = URL(string: text.contains("://") ? text : "https://\(text)")
        guard let meant = url?.host.flatMap({ try? HostPattern(rule: $0) }), faults[meant] == nil,
          !rules.contains(where: { $0.pattern == meant })
        else { continue }
        faults[meant] = fault
        rules.append(HostRule(meant))
      }
    }
    // The patterns differ, which is all that can be wrong with a set of rules.
    let source = HostRuleSource((try? HostRules(rules)) ?? .none)
    self.init(
      rules: source, resolver: nil, policy: .prefer, logger: nil, clock: HostClock.system, faults: faults,
      problems: problems)
  }

  /// Makes a rewriter.
  ///
  /// - Parameters:
  ///   - rules: The hosts to route, and their addresses; can be replaced at run time.
  ///   - resolver: The resolver for hosts whose rule has no addresses. A ``ResolutionCache`` is used directly; any
  ///     other resolver gets one in front.
  ///   - policy: How strictly to route, and how to try addresses.
  ///   - logger: The logger for attempts: suspected hijacks at `.warning`, the others at `.debug`; see ``HostLogKey``.
  ///     Default: none.
  ///   - clock: The clock for deadlines and bans.
  public convenience init(
    rules: HostRuleSource, resolver: (any HostResolver)? = nil, policy: Policy = .prefer, logger: Logger? = nil,
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.init(
      rules: rules, resolver: resolver, policy: policy, logger: logger, clock: HostClock(clock), faults: [:],
      problems: [])
  }

  /// Makes a rewriter from rules, which ``ruleSource`` can replace.
  public convenience init(
    rules: HostRules, resolver: (any HostResolver)? = nil, policy: Policy = .prefer, logger: Logger? = nil,
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.init(
      rules: HostRuleSource(rules, clock: clock), resolver: resolver, policy: policy, logger: logger, clock: clock)
  }

  private init(
    rules: HostRuleSource, resolver: (any HostResolver)?, policy: Policy, logger: Logger?, clock: HostClock,
    faults: [HostPattern: HostError], problems: [HostError]
  ) {
    ruleSource = rules
    cache = resolver.map { $0 as? ResolutionCache ?? ResolutionCache($0, clock: clock) }
    self.policy = policy
    self.clock = clock
    self.faults = faults
    self.problems = problems
    health = HostHealth(policy: policy, clock: clock)
    reporter = HostReporter(logger: logger ?? FallbackLogger.current)
    for problem in problems { (logger ?? FallbackLogger.current)?.error("\(problem)") }
  }

  /// Whether a rule routes the request's host.
  public func canInit(with request: URLRequest) -> Bool {
    guard let authority = Self.authority(of: request.url) else { return false }
    do {
      guard let rule = try ruleSource.match(authority.host, port: authority.port) else { return false }
      return !rule.isExclusion
    } catch {
      // The load tells why.
      return true
    }
  }

  /// Sends the request to the best of the host's addresses, and to the next ones if that does not respond.
  ///
  /// - Throws: A `URLError` with a ``HostError`` beneath if no address responded.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    // A route that somebody has set already is theirs.
    guard request.route == nil, let authority = Self.authority(of: request.url) else { return try await next(request) }
    let epoch = health.epoch
    let decision: Decision
    do {
      guard let made = try await decide(authority, request.url) else { return try await next(request) }
      decision = made
    } catch {
      return try await withoutAddresses(request, next, authority, error)
    }
    reporter.count { $0.requests += 1 }
    let transport = try next.transport(for: request.url)
    if let transport, !transport.capabilities.contains(.routes) {
      return try await incapable(request, next, authority, transport)
    }
    if let transport { remember(transport) }
    do {
      do {
        return try await load(decision, failover(request, next, authority, transport, epoch))
      } catch  where health.epoch != epoch && Failover.allowsAnotherTry(after: error, of: request) {
        // The network has changed under it: what failed in the old one is tried in the new one.
        guard let decision = try await decide(authority, request.url) else { throw error }
        return try await load(decision, failover(request, next, authority, transport, health.epoch))
      }
    } catch {
      if !(error is CancellationError) {
        reporter.count { $0.failures += 1 }
        reporter.happened(.failed, request: request, host: authority.host, error: error)
      }
      throw error
    }
  }

  /// Has the addresses tried; the request's own timeout, should it be over meanwhile, tells of them.
  private func load(_ decision: Decision, _ failover: Failover) async throws -> InterceptedResponse {
    failover.next.onTimeout(failover.account)
    let response = try await failover.load(decision.ranking.entries)
    failover.next.onTimeout(nil)
    return response
  }

  private func failover(
    _ request: InterceptedRequest, _ next: InterceptorChain.Next, _ authority: HostHealth.Authority,
    _ transport: (any Transport)?,
    _ epoch: Int
  ) -> Failover {
    Failover(
      request: request, authority: authority, policy: policy, health: health, clock: clock, next: next,
      transport: transport,
      report: { [reporter, clock] attempt, ban in
        if attempt.candidate == nil { reporter.count { $0.systemFallbacks += 1 } }
        reporter.attempted(attempt, ban: ban, now: clock.time(), request: request, host: authority.host)
      }, start: clock.time(), epoch: epoch)
  }

  /// Keeps a transport in mind, without keeping it, for when the network changes.
  private func remember(_ transport: any Transport) {
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
  /// because they receive nothing more.
  ///
  /// Requests in progress are sent again if they may be; others fail with `networkConnectionLost`. Call this method
  /// when the device has changed networks; on Apple platforms an `NWPathMonitor` reports that.
  public func networkChanged() {
    health.networkChanged()
    for known in transports.withLock({ $0 }) { (known.transport as? any Transport)?.closeConnections() }
    cache?.networkChanged()
  }

  /// The events from now on.
  ///
  /// - Parameter limit: The number of events buffered for a slow reader; beyond it the oldest are dropped.
  public func events(bufferingNewest limit: Int = 256) -> AsyncStream<HostEvent> {
    reporter.events(bufferingNewest: limit)
  }

  /// The counters since the rewriter was made.
  public var counters: HostCounters { reporter.counters }

  static func authority(of url: URL?) -> HostHealth.Authority? {
    guard let url, let port = url.port ?? defaultPort(of: url), let host = url.host, let name = try? HostName(host)
    else { return nil }
    return HostHealth.Authority(name, port: port)
  }

  private static func defaultPort(of url: URL) -> Int? {
    switch url.scheme {
    case "https", "HTTPS": 443
    case "http", "HTTP": 80
    case let scheme?: scheme.lowercased() == "https" ? 443 : scheme.lowercased() == "http" ? 80 : nil
    case nil: nil
    }
  }
}

extension HostError {
  /// What is wrong with an entry of a table.
  fileprivate init(_ error: any Error, entry: String) {
    self =
      error as? HostError
      ?? HostError(.invalidRule, "the entry \"\(entry)\" cannot be used: \(error.redacted).", host: entry)
  }
}
