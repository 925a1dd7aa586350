extension HostRewriter {
  /// How hard a ``HostRewriter`` insists, and how it tries.
  ///
  /// ```swift
  /// var policy = HostRewriter.Policy.require
  /// policy.attempts = .oneByOne
  /// ```
  public struct Policy: Sendable {
    /// What happens when no address of a host answers.
    public var fallback: Fallback
    /// Whether several addresses are tried at once.
    public var attempts: Attempts = .race(stagger: .milliseconds(250))
    /// When an address counts as late.
    public var deadlines = Deadlines()
    /// How long an address that failed is kept for last.
    public var bans = Bans()
    /// How long an address may take from the beginning of the attempt to the head of its answer, once it has taken the
    /// request, before the next one is tried beside it, or its own once more where the connection was a kept one; at
    /// most a third of the request's timeout. `nil` for no limit. Default: 3 seconds.
    ///
    /// The first to answer wins, and an address that was silent meanwhile is not preferred any more; over plain `http`
    /// it is banned. For safe methods alone (GET, HEAD, OPTIONS; RFC 9110, section 9.2.1): no PUT and no DELETE is ever
    /// with two servers at once, though it is sent again once it has failed. Giving up after so long, or by a timeout,
    /// counts against the address too.
    public var silence: Duration? = .seconds(3)
    /// What an answer over plain `http` must look like to be taken for the host's own; `nil` takes every answer.
    public var responseCheck: ResponseCheck?

    /// Makes a policy.
    public init(_ fallback: Fallback = .system) {
      self.fallback = fallback
    }

    /// The system's own way is taken when no address answers: lookup by the system's resolver included.
    public static let prefer = Policy(.system)
    /// Nothing but the addresses of rules and resolvers is ever dialled: a request that none of them answers fails.
    public static let require = Policy(.none)

    /// What happens when no address of a host answers.
    public struct Fallback: Hashable, Sendable {
      let allowsSystem: Bool

      /// The system's own way.
      public static let system = Fallback(allowsSystem: true)
      /// The request fails.
      public static let none = Fallback(allowsSystem: false)
    }

    /// Whether several addresses are tried at once.
    public struct Attempts: Hashable, Sendable {
      /// How long to wait for a connection, TLS included, before the next address is tried beside it; `nil`: one after
      /// the other.
      let stagger: Duration?

      /// The next address is tried beside those before it as soon as one fails, or after `stagger`; the first that is
      /// connected and verified gets the request (RFC 8305, section 5). Needs a transport with
      /// `TransportCapabilities.gates`; without, it is one by one.
      public static func race(stagger: Duration) -> Attempts { Attempts(stagger: max(stagger, .milliseconds(10))) }
      /// The next address is tried when the one before has failed, or is late by its deadline.
      public static let oneByOne = Attempts(stagger: nil)
    }

    /// When an address counts as late: by what was measured in this network, within limits.
    public struct Deadlines: Hashable, Sendable {
      /// Before anything was measured.
      public var initial: Duration = .seconds(3)
      /// At least so long: more than the second after which a lost first packet is sent again (RFC 6298).
      public var minimum: Duration = .milliseconds(1200)
      /// At most so long; also how long the last of all addresses is waited for.
      public var maximum: Duration = .seconds(20)

      /// Makes the usual deadlines.
      public init() {}
    }

    /// How long an address that failed is kept for last.
    public struct Bans: Hashable, Sendable {
      /// After a failure of the network: doubled with each further one, up to ``longest``.
      public var network: Duration = .seconds(30)
      /// The longest ban after failures of the network.
      public var longest: Duration = .seconds(600)
      /// After an answer that was probably not the host's own; ends with ``HostRewriter/networkChanged()`` too.
      public var suspectedHijack: Duration = .seconds(3600)

      /// Makes the usual times.
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
