/// An event in a ``HostRewriter``, for observers.
///
/// ```swift
/// for await event in rewriter.events() where event.attempt?.isSuspectedHijack == true {
///   print(event.host, event.attempt?.candidate?.address.literal ?? "")
/// }
/// ```
public struct HostEvent: Sendable {
  /// The load.
  public let id: InterceptedRequest.ID
  /// What happened.
  public let kind: OpenEnum<HostEvent>
  /// The host of the request.
  public let host: HostName
  /// The URL of the request.
  public let url: URL?
  /// The attempt that the event is about, if any.
  public let attempt: HostAttempt?
  /// How long the attempt's address is banned from now on, if it is.
  public let ban: Duration?
  /// What went wrong, if anything did.
  public let error: (any Error)?
}

extension HostEvent: CustomStringConvertible, CustomDebugStringConvertible {
  /// The event on one line, suitable for a log: the URL and the error are redacted.
  public var description: String {
    var text = "load \(id) \(kind): \(host) \(url?.redacted ?? "")"
    if let attempt { text += ", \(attempt.outcome) at \(attempt.candidate?.description ?? "system")" }
    if let ban { text += ", last for \(ban)" }
    if let error { text += ", \(error.redacted)" }
    return text
  }

  /// The same text as the description.
  public var debugDescription: String { description }
}

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

extension OpenEnum where Domain == HostEvent {
  /// An attempt ended: see ``HostEvent/attempt``.
  public static var attempted: Self { Self("attempted") }
  /// The host's addresses could not be looked up.
  public static var unresolved: Self { Self("unresolved") }
  /// The request falls back to the system, because no address was usable or none responded.
  public static var fellBackToSystem: Self { Self("fellBackToSystem") }
  /// The request failed: no address responded, and the policy allows no fallback.
  public static var failed: Self { Self("failed") }
  /// A `HostTunnel` listens at a new port, with a new secret, because the system has closed its listener.
  public static var tunnelRestarted: Self { Self("tunnelRestarted") }
}
