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
  /// The kind of event.
  public let kind: OpenEnum<HostEvent>
  /// The host of the request.
  public let host: HostName
  /// The URL of the request.
  public let url: URL?
  /// The attempt that the event describes, if any.
  public let attempt: HostAttempt?
  /// How long the attempt's address is banned from now on; `nil` if it is not banned.
  public let ban: Duration?
  /// The error, if any.
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
  /// The number of requests to hosts that the rules route.
  public internal(set) var requests = 0
  /// The number of attempts to reach an address.
  public internal(set) var attempts = 0
  /// The number of attempts that count against their address.
  public internal(set) var faults = 0
  /// The number of those faults that look like a response from a server that the host's owner does not control.
  public internal(set) var suspectedHijacks = 0
  /// The number of bans.
  public internal(set) var bans = 0
  /// The number of requests that fell back to the system.
  public internal(set) var systemFallbacks = 0
  /// The number of requests for which no address responded.
  public internal(set) var failures = 0
}

extension OpenEnum where Domain == HostEvent {
  /// An attempt ended: see ``HostEvent/attempt``.
  public static var attempted: Self { Self("attempted") }
  /// The lookup of the host's addresses failed.
  public static var unresolved: Self { Self("unresolved") }
  /// The request falls back to the system, because no address was usable or none responded.
  public static var fellBackToSystem: Self { Self("fellBackToSystem") }
  /// The request failed: no address responded, and the policy allows no fallback.
  public static var failed: Self { Self("failed") }
  /// A `HostTunnel` listens at a new port, with a new secret, because the system has closed its listener.
  public static var tunnelRestarted: Self { Self("tunnelRestarted") }
}
