/// One thing that a ``HostRewriter`` did for a request, for whoever watches.
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
  public let kind: Kind
  /// The host of the request.
  public let host: HostName
  /// The URL of the request.
  public let url: URL?
  /// The attempt that the event is about, where there is one.
  public let attempt: HostAttempt?
  /// How long the attempt's address is kept for last from now on, where it is banned.
  public let ban: Duration?
  /// What went wrong, where something did.
  public let error: (any Error)?

  /// A kind of event. A struct rather than an enum, so that new ones do not break a `switch`.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    /// The kind's name.
    public let description: String

    /// An attempt is over: see ``HostEvent/attempt``.
    public static let attempted = Kind(description: "attempted")
    /// The host's addresses could not be looked up.
    public static let unresolved = Kind(description: "unresolved")
    /// The request goes the system's own way, because no address could be used or none has answered.
    public static let fellBackToSystem = Kind(description: "fellBackToSystem")
    /// The request has failed: no address has answered, and the policy allows no other way.
    public static let failed = Kind(description: "failed")
  }
}

extension HostEvent: CustomStringConvertible, CustomDebugStringConvertible {
  /// The event on one line, as a log may show it: the URL and the error are redacted.
  public var description: String {
    var text = "load \(id) \(kind): \(host) \(url?.redacted ?? "")"
    if let attempt { text += ", \(attempt.outcome) at \(attempt.candidate?.description ?? "system")" }
    if let ban { text += ", last for \(ban)" }
    if let error { text += ", \(error.redacted)" }
    return text
  }

  /// The same.
  public var debugDescription: String { description }
}
