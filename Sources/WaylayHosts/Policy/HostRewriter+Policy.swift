extension HostRewriter {
  /// How strictly a ``HostRewriter`` routes, and how it tries addresses.
  ///
  /// ```swift
  /// var policy = HostRewriter.Policy.require
  /// policy.attempts = .oneByOne
  /// ```
  public struct Policy: Sendable {
    /// What happens if no address of a host responds.
    public var fallback: Fallback
    /// Whether several addresses are tried concurrently.
    public var attempts: Attempts = .race(stagger: .milliseconds(250))
    /// When an address counts as late.
    public var deadlines = Deadlines()
    /// How long an address is banned after a failure. A banned address is tried last.
    public var bans = Bans()
    /// How long an address that has received the request may take, from the beginning of the attempt to the head of its
    /// response. After that, the next address is tried concurrently, or the same one again if the connection was
    /// reused; at most a third of the request's timeout. `nil` for no limit. Default: 3 seconds.
    ///
    /// The first response wins, and an address that stayed silent is no longer preferred; over plain `http` it is
    /// banned. This applies only to safe methods (GET, HEAD, OPTIONS, TRACE; RFC 9110, section 9.2.1) with a replayable
    /// body: no PUT and no DELETE is ever sent to two servers at once, though it is sent again after it has failed.
    /// Abandoning an attempt after that long, or by a timeout, also counts against the address.
    public var silence: Duration? = .seconds(3)
    /// The check that a response over plain `http` must pass to be accepted as the host's own; `nil` accepts every
    /// response.
    public var responseCheck: ResponseCheck?

    /// Makes a policy.
    public init(_ fallback: Fallback = .system) {
      self.fallback = fallback
    }

    /// Falls back to the system, including its resolver, if no address responds.
    public static let prefer = Policy(.system)
    /// Dials only the addresses of rules and resolvers: a request that none of them responds to fails.
    public static let require = Policy(.none)

    /// What happens if no address of a host responds.
    public struct Fallback: Hashable, Sendable {
      let allowsSystem: Bool

      /// The system loads the request.
      public static let system = Fallback(allowsSystem: true)
      /// The request fails.
      public static let none = Fallback(allowsSystem: false)
    }

    /// Whether several addresses are tried concurrently.
    public struct Attempts: Hashable, Sendable {
      /// How long to wait for a connection, TLS included, before the next address is tried beside it; `nil`: one after
      /// the other.
      let stagger: Duration?

      /// Tries the next address concurrently as soon as one fails, or after `stagger`; the first that is connected and
      /// verified gets the request (RFC 8305, section 5). Needs a transport with `TransportCapabilities.gates`; without
      /// it, addresses are tried one by one.
      public static func race(stagger: Duration) -> Attempts { Attempts(stagger: max(stagger, .milliseconds(10))) }
      /// Tries the next address when the previous one has failed, or is late by its deadline.
      public static let oneByOne = Attempts(stagger: nil)
    }

    /// When an address counts as late, based on measurements in the current network, within limits.
    public struct Deadlines: Hashable, Sendable {
      /// The deadline before anything has been measured.
      public var initial: Duration = .seconds(3)
      /// The minimum: more than the second after which a lost first packet is sent again (RFC 6298).
      public var minimum: Duration = .milliseconds(1200)
      /// The maximum, which also applies to the last remaining address.
      public var maximum: Duration = .seconds(20)

      /// Makes the default deadlines.
      public init() {}
    }

    /// How long an address is banned after a failure. A banned address is tried last.
    public struct Bans: Hashable, Sendable {
      /// The ban after a network failure, doubled with each further one, up to ``longest``.
      public var network: Duration = .seconds(30)
      /// The longest ban after network failures.
      public var longest: Duration = .seconds(600)
      /// The ban after a response that was probably not the host's own; it also ends with
      /// ``HostRewriter/networkChanged()``.
      public var suspectedHijack: Duration = .seconds(3600)

      /// Makes the default times.
      public init() {}

      func duration(of outcome: HostAttempt.Outcome, failures: Int) -> Duration {
        if outcome.isSuspectedHijack { return suspectedHijack }
        let factor = 1 << min(max(failures, 0), 8)
        // Compared before it is multiplied: an app may set the longest there is.
        guard network > .zero else { return .zero }
        return network < longest / factor ? network * factor : max(.zero, longest)
      }
    }
  }
}
