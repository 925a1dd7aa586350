/// A kind of hijacker.
public enum Hijacker: String, CaseIterable, Sendable {
  /// Has a certificate for the right name that nobody vouches for.
  case rogueCertificate
  /// Has a certificate that is good, for another name.
  case wrongName
  /// Accepts and closes.
  case close
  /// Accepts and resets.
  case reset
  /// Accepts and says nothing.
  case silence
  /// Does not even accept.
  case blackHole
  /// Refuses.
  case refusal
  /// Answers everything with a page of its own, in plain text.
  case portal

  /// Where it sits.
  public var address: String {
    switch self {
    case .rogueCertificate: "127.0.0.2"
    case .wrongName: "127.0.0.3"
    case .close: "127.0.0.4"
    case .reset: "127.0.0.5"
    case .silence: "127.0.0.6"
    case .blackHole: "127.0.0.7"
    case .refusal: "127.0.0.8"
    case .portal: "127.0.0.9"
    }
  }

  /// Whether it makes a client wait rather than fail.
  public var isSlow: Bool { self == .silence || self == .blackHole }
}
