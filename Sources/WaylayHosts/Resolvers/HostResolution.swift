/// The answer of a resolver: where to dial a host.
public struct HostResolution: Hashable, Sendable {
  /// The most candidates of a host that are used, from a rule or an answer; those beyond are left out.
  static let mostCandidates = 64

  /// The candidates to dial, in the resolver's order of preference. Never empty: a resolver without candidates throws.
  public var candidates: [Candidate]
  /// How long the answer may be used.
  public var timeToLive: Duration
  /// The name of the resolver that gave the answer.
  public var source: String
  /// Addresses in the answer that must not be dialed.
  public var refusals: [Refusal]

  /// Makes an answer.
  public init(_ candidates: [Candidate], timeToLive: Duration, source: String, refusals: [Refusal] = []) {
    self.candidates = candidates
    self.timeToLive = timeToLive
    self.source = source
    self.refusals = refusals
  }

  /// An address to dial.
  public struct Candidate: Hashable, Sendable {
    /// The address.
    public var address: HostAddress
    /// The port from an HTTPS record or a rule; `nil` for the URL's.
    public var port: Int?
    /// The ALPN protocols that an HTTPS record announces (`h2`, `h3`), including its default `http/1.1`; empty if
    /// unknown.
    public var protocols: [String]

    /// Makes a candidate.
    public init(_ address: HostAddress, port: Int? = nil, protocols: [String] = []) {
      self.address = address
      self.port = port
      self.protocols = protocols
    }
  }

  /// An address that must not be dialed, and why.
  public struct Refusal: Hashable, Sendable, CustomStringConvertible {
    /// The address.
    public let address: HostAddress
    /// The human-readable reason, such as "is a loopback address (RFC 1122)".
    public let reason: String

    /// Makes a refusal.
    public init(_ address: HostAddress, reason: String) {
      self.address = address
      self.reason = reason
    }

    /// Address and reason.
    public var description: String { "\(address) \(reason)" }
  }
}
