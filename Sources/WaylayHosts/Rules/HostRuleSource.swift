/// The current rules, which you can replace while requests run.
///
/// ```swift
/// let source = HostRuleSource(try HostRules(["api.example.com": ["203.0.113.7"]]))
/// source.replace(with: try HostRules(["api.example.com": ["203.0.113.8"]]))
/// ```
///
/// A request sees one consistent set of rules: replacing them takes effect for the next request.
public final class HostRuleSource: Sendable {
  private struct State {
    var rules: HostRules
    var expiry: Expiry?
  }

  /// When rules from a signed list end, and what holds then.
  struct Expiry: Sendable {
    let date: Date
    let policy: ExpiryPolicy
  }

  /// What happens if the last good list has expired and no newer one has arrived.
  public struct ExpiryPolicy: Hashable, Sendable, CustomStringConvertible {
    /// The policy's name.
    public let description: String

    /// Its rules stay in force.
    public static let keep = ExpiryPolicy(description: "keep")
    /// Its rules are dropped: the system handles the hosts.
    public static let drop = ExpiryPolicy(description: "drop")
    /// Requests to the hosts that it routes fail.
    public static let fail = ExpiryPolicy(description: "fail")
  }

  private let state: Locked<State>
  private let clock: HostClock

  /// Makes a source with its initial rules.
  ///
  /// - Parameters:
  ///   - rules: The rules.
  ///   - clock: The clock that determines when a signed list expires: the date advances with its time.
  public init(_ rules: HostRules = .none, clock: any Clock<Duration> = ContinuousClock()) {
    state = Locked(State(rules: rules))
    self.clock = HostClock(clock)
  }

  /// The current rules.
  public var rules: HostRules { state.withLock { $0.rules } }

  /// Replaces the rules.
  public func replace(with rules: HostRules) {
    replace(with: rules, expiry: nil)
  }

  func replace(with rules: HostRules, expiry: Expiry?) {
    state.withLock { $0 = State(rules: rules, expiry: expiry) }
  }

  /// Returns the current rule for a host; `nil` if there is none.
  ///
  /// - Throws: `HostError.listExpired` for a host that the expired list routes, under
  ///   ``ExpiryPolicy/fail``.
  public func match(_ host: HostName, port: Int) throws -> HostRule? {
    let (rules, expiry) = state.withLock { ($0.rules, $0.expiry) }
    guard let rule = rules.match(host, port: port) else { return nil }
    guard let expiry, expiry.date <= clock.date() else { return rule }
    switch expiry.policy {
    case .keep: return rule
    case .drop: return nil
    default:
      guard !rule.isExclusion else { return rule }
      throw HostError(
        .listExpired,
        "the signed list of hosts expired at \(expiry.date), and its policy is to fail: fetch a newer list.",
        host: host.description)
    }
  }
}
