/// The counters of a ``HostRewriter``.
public struct HostCounters: Sendable, Hashable {
  /// Requests to hosts that its rules route.
  public internal(set) var requests = 0
  /// Attempts to reach addresses.
  public internal(set) var attempts = 0
  /// Attempts that count against their address.
  public internal(set) var faults = 0
  /// The faults that look as if somebody other than the host's owner had responded.
  public internal(set) var suspectedHijacks = 0
  /// Addresses banned.
  public internal(set) var bans = 0
  /// Requests that fell back to the system.
  public internal(set) var systemFallbacks = 0
  /// Requests for which no address responded.
  public internal(set) var failures = 0
}
