extension HostRewriter {
  /// How strictly a ``HostRewriter`` routes, and how it tries addresses.
  ///
  /// ```swift
  /// var policy = HostRewriter.Policy.require
  /// policy.connectionAttemptDelay = nil
  /// ```
  public struct Policy: Sendable {
    /// Whether the system loads a request that no address of its host has responded to.
    package let allowsSystem: Bool
    /// How long to wait for a connection, TLS included, before the next address is tried concurrently; at least 10
    /// milliseconds. `nil` tries one address after the other: the next one once the previous one has failed or is late.
    ///
    /// A failed attempt starts the next address at once. The first address that is connected and verified gets the
    /// request (RFC 8305, section 5). Without a transport with `TransportCapabilities.gates`, addresses are tried one
    /// by one.
    public var connectionAttemptDelay: Duration? = .milliseconds(250) {
      didSet { connectionAttemptDelay = connectionAttemptDelay.map { max($0, .milliseconds(10)) } }
    }
    /// The deadline of an address before the first measurement in the current network.
    public var initialDeadline = Duration.seconds(3)
    /// The minimum of deadlines that derive from measurements: longer than the second after which TCP retransmits a
    /// lost first packet (RFC 6298).
    public var minimumDeadline = Duration.milliseconds(1200)
    /// The maximum deadline, which also applies to the last remaining address.
    public var maximumDeadline = Duration.seconds(20)
    /// How long an address is banned after a failure. A banned address is tried last.
    var bans = Bans()
    /// How long an address that has received the request may take, from its connection to the head of its response.
    /// After that, one other address is tried concurrently, or the same one again if the connection was reused; at most
    /// a third of the request's timeout. `nil` for no limit. Default: 3 seconds.
    ///
    /// The first response wins. An address without a response to any request meanwhile is no longer preferred, and over
    /// plain `http` banned; other requests that wait for it leave it at once. Only safe methods (GET, HEAD, OPTIONS,
    /// TRACE; RFC 9110, section 9.2.1) with a replayable body are hedged in this way: no POST, PUT or DELETE is ever
    /// sent to two servers concurrently. Such a request waits, and later requests prefer other addresses. Abandoning an
    /// attempt after that long, or by a timeout, also counts against the address.
    public var silenceTimeout: Duration? = .seconds(3)
    /// The check that a response over plain `http` must pass to be accepted as the host's own; `nil` accepts every
    /// response.
    public var responseCheck: ResponseCheck?
    /// Whether the rewriter leaves a request alone while the system has a proxy for its URL: on Apple platforms the
    /// system's settings, elsewhere the variables `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy`.
    ///
    /// If the network can only be reached through a proxy, an address that is dialed directly cannot be reached. The
    /// setting also applies under ``require``: the proxy then resolves the host.
    public var yieldsToSystemProxy = false

    /// Falls back to the system, including its resolver, if no address responds.
    public static let prefer = Policy(allowsSystem: true)
    /// Dials only the addresses of rules and resolvers: a request that none of them responds to fails.
    public static let require = Policy(allowsSystem: false)

    /// How long an address is banned after a failure. A banned address is tried last.
    struct Bans: Hashable, Sendable {
      /// The ban after a network failure, doubled with each further one, up to ``longest``.
      var network: Duration = .seconds(30)
      /// The longest ban after network failures.
      var longest: Duration = .seconds(600)
      /// The ban after a response that was probably not the host's own; it also ends with
      /// ``HostRewriter/networkChanged()``.
      var suspectedHijack: Duration = .seconds(3600)

      func duration(of outcome: OpenEnum<HostAttempt>, failures: Int) -> Duration {
        if outcome.isSuspectedHijack { return suspectedHijack }
        let factor = 1 << min(max(failures, 0), 8)
        // Compare before multiplying: an app may set the maximum duration, and the product would overflow.
        guard network > .zero else { return .zero }
        return network < longest / factor ? network * factor : max(.zero, longest)
      }
    }
  }
}

// MARK: - Addresses dialed without a request

extension HostRewriter {
  /// Why an address must not be dialed for a host: applies the rules against DNS rebinding to an address that did not
  /// come from a resolver. `nil` if it may: a rule lists the address, or routes a name that may have a private one. A
  /// name without a rule may come from an attacker, so it must not have a private address, even if it is local.
  package func refusal(of address: HostAddress, for authority: HostAuthority) -> String? {
    guard let rule = ruleSource.match(authority.host, port: authority.port), !rule.isExclusion else {
      return address.specialPurpose
    }
    let exceptions = cache?.privateHosts ?? []
    let mayBePrivate =
      rule.endpoints.contains { $0.address == address } || authority.host.isLocal && rule.pattern.name != nil
      || exceptions.contains { $0.matches(authority.host, port: authority.port) }
    return mayBePrivate ? nil : address.specialPurpose
  }

  /// Prefers other addresses of a host, because this one is silent.
  package func demote(_ endpoint: HostEndpoint, at authority: HostAuthority) {
    health.demoted(HostCandidate(endpoint.address, port: endpoint.port ?? authority.port, source: ""), at: authority)
  }

  /// Reports an event of a tunnel on the loopback address.
  package func happened(_ kind: OpenEnum<HostEvent>, _ error: any Error) {
    guard let url = URL(string: "http://127.0.0.1/"), let host = try? HostName("127.0.0.1") else { return }
    reporter.happened(kind, request: InterceptedRequest(.connect, url), host: host, error: error)
  }
}
