/// One attempt to get a request answered: by an address, or the system's way.
///
/// Events and errors list them: see ``HostEvent`` and ``HostError/attempts``.
public struct HostAttempt: Sendable {
  /// Where it went; `nil` for the system's way.
  public let candidate: HostCandidate?
  /// What came of it.
  public let outcome: Outcome
  /// When it began, since the request reached the rewriter.
  public let start: Duration
  /// How long it took until the outcome was known.
  public let duration: Duration
  /// What went wrong, where something did.
  public let error: (any Error)?

  /// Makes an attempt.
  public init(
    _ candidate: HostCandidate?, _ outcome: Outcome, start: Duration, duration: Duration, error: (any Error)? = nil
  ) {
    self.candidate = candidate
    self.outcome = outcome
    self.start = start
    self.duration = duration
    self.error = error
  }

  /// Whether it looks as if somebody else than the host's owner had answered.
  public var isSuspectedHijack: Bool { outcome.isSuspectedHijack }

  /// What came of an attempt. A struct rather than an enum, so that new ones do not break a `switch`.
  public struct Outcome: Hashable, Sendable, CustomStringConvertible {
    /// The outcome's name.
    public let description: String

    /// It answered the request.
    public static let answered = Outcome(description: "answered")
    /// Another address was connected first; nothing was sent to this one.
    public static let overtaken = Outcome(description: "overtaken")
    /// Another request has found the address bad or late at the same time; nothing was sent to it.
    public static let skipped = Outcome(description: "skipped")
    /// The connection was refused.
    public static let refused = Outcome(description: "refused")
    /// There was no way to the address.
    public static let unreachable = Outcome(description: "unreachable")
    /// No connection, TLS included, was there in time.
    public static let timedOut = Outcome(description: "timed out")
    /// The connection was closed or reset.
    public static let closed = Outcome(description: "closed")
    /// The request was taken and nothing came back (plain `http` only).
    public static let silent = Outcome(description: "silent")
    /// TLS could not be agreed on.
    public static let handshakeFailed = Outcome(description: "TLS failed")
    /// The certificate is not one for this host.
    public static let certificateRefused = Outcome(description: "certificate refused")
    /// What answered does not speak the protocol.
    public static let notUnderstood = Outcome(description: "not understood")
    /// The response check has rejected the answer.
    public static let responseRejected = Outcome(description: "response rejected")
    /// It was still under way when the request's own timeout was over; see ``HostError/Code/timedOut``.
    public static let unfinished = Outcome(description: "not finished")
    /// It failed in a way that says nothing about the address.
    public static let failed = Outcome(description: "failed")

    /// Whether it looks as if somebody else than the host's owner had answered.
    public var isSuspectedHijack: Bool {
      self == .certificateRefused || self == .notUnderstood || self == .responseRejected
    }

    /// Whether it is about the address, whatever the host.
    var isOfAddress: Bool { [.refused, .unreachable, .timedOut].contains(self) }

    /// Whether it speaks against the address.
    var isAddressFault: Bool { ![.answered, .overtaken, .skipped, .unfinished, .failed].contains(self) }
  }
}

extension HostAttempt: CustomStringConvertible {
  /// Address, source, outcome, time and what the transport said, on one line.
  public var description: String {
    let place = candidate.map { "\($0) (\($0.source))" } ?? "the system's way"
    let words = ((error as? TransportError)?.message ?? (error as? HostError)?.message).map { " (\($0))" } ?? ""
    return "\(place): \(outcome) after \(duration.milliseconds) ms\(words)"
  }
}

extension Duration {
  /// Milliseconds with one digit after the point, as tables and logs show them.
  package var milliseconds: String {
    let tenths = components.seconds * 10_000 + components.attoseconds / 100_000_000_000_000
    return "\(tenths / 10).\(abs(tenths % 10))"
  }
}
