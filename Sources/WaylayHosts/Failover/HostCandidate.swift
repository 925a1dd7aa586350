/// One address that a request for a host may be sent to, and where it is known from.
public struct HostCandidate: Hashable, Sendable, CustomStringConvertible {
  /// The address.
  public let address: HostAddress
  /// The port to dial.
  public let port: Int
  /// Who named it: `rule`, or a resolver.
  public let source: String
  /// How old the resolver's answer is; `nil` for an address from a rule.
  public let age: Duration?
  /// Whether the answer's time is over, and it is used because there is none that is newer (RFC 8767).
  public let isStale: Bool

  /// Makes a candidate.
  public init(_ address: HostAddress, port: Int, source: String, age: Duration? = nil, isStale: Bool = false) {
    self.address = address
    self.port = port
    self.source = source
    self.age = age
    self.isStale = isStale
  }

  /// Address and port.
  public var description: String { address.isIPv6 ? "[\(address)]:\(port)" : "\(address):\(port)" }
}
