/// What a resolver answers: where a host can be dialled.
public struct HostResolution: Hashable, Sendable {
  /// The most candidates of a host that are used, from a rule or an answer; those beyond are left out.
  static let mostCandidates = 64

  /// Where to dial, in the resolver's order of preference. Never empty: a resolver that has nothing throws.
  public var candidates: [Candidate]
  /// How long the answer may be used.
  public var timeToLive: Duration
  /// The name of the resolver that answered.
  public var source: String
  /// Addresses that were in the answer and may not be dialled.
  public var refusals: [Refusal]

  /// Makes an answer.
  public init(_ candidates: [Candidate], timeToLive: Duration, source: String, refusals: [Refusal] = []) {
    self.candidates = candidates
    self.timeToLive = timeToLive
    self.source = source
    self.refusals = refusals
  }

  /// One place to dial.
  public struct Candidate: Hashable, Sendable {
    /// The address.
    public var address: HostAddress
    /// The port, where an HTTPS record or a rule names one; `nil` for the URL's.
    public var port: Int?
    /// The protocols that an HTTPS record promises there, as in ALPN (`h2`, `h3`), its default `http/1.1` included;
    /// empty where none is known.
    public var protocols: [String]

    /// Makes a candidate.
    public init(_ address: HostAddress, port: Int? = nil, protocols: [String] = []) {
      self.address = address
      self.port = port
      self.protocols = protocols
    }
  }

  /// An address that may not be dialled, and why.
  public struct Refusal: Hashable, Sendable, CustomStringConvertible {
    /// The address.
    public let address: HostAddress
    /// Why, for a person: "is a loopback address (RFC 1122)" for example.
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
