/// What a ``HostRewriter`` has done so far.
public struct HostCounters: Sendable, Hashable {
  /// Requests to hosts of its rules.
  public internal(set) var requests = 0
  /// Attempts at addresses.
  public internal(set) var attempts = 0
  /// Attempts that speak against their address.
  public internal(set) var faults = 0
  /// Of these, those that look as if somebody else than the host's owner had answered.
  public internal(set) var suspectedHijacks = 0
  /// Addresses banned.
  public internal(set) var bans = 0
  /// Requests that went the system's own way.
  public internal(set) var systemFallbacks = 0
  /// Requests for which no address has answered.
  public internal(set) var failures = 0
}
