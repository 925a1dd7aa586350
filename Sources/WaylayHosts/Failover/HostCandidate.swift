/// An address to which a request for a host may be sent, with its source.
public struct HostCandidate: Hashable, Sendable, CustomStringConvertible {
  /// The address.
  public let address: HostAddress
  /// The port to dial.
  public let port: Int
  /// The source of the address: `rule`, or a resolver.
  public let source: String
  /// The age of the resolver's answer; `nil` for an address from a rule.
  public let age: Duration?
  /// Whether the answer has expired, and is used because there is no newer one (RFC 8767).
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
