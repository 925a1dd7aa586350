/// An address to dial, and the port where it is not the URL's.
///
/// ```swift
/// let plain = try HostEndpoint("203.0.113.7")
/// let other = try HostEndpoint("[2001:db8::7]:8443")
/// ```
public struct HostEndpoint: Hashable, Sendable, CustomStringConvertible {
  /// The address.
  public let address: HostAddress
  /// The port to dial; `nil` for the URL's.
  public let port: Int?

  /// Makes an endpoint.
  ///
  /// - Throws: ``HostError/Code/invalidName`` for what is not a port: 1 to 65535 are.
  public init(_ address: HostAddress, port: Int? = nil) throws {
    if let port { try HostPattern.check(port: port, of: address.literal) }
    self.address = address
    self.port = port
  }

  /// Reads `203.0.113.7`, `203.0.113.7:8443`, `2001:db8::7`, `[2001:db8::7]` or `[2001:db8::7]:8443`.
  ///
  /// - Throws: ``HostError/Code/invalidName`` for everything else.
  public init(_ text: String) throws {
    if let address = HostAddress(parsing: text) {
      try self.init(address)
      return
    }
    let (host, port) = try HostPattern.separatingPort(of: text)
    try self.init(HostAddress(host), port: port)
  }

  /// The form that ``init(_:)`` reads.
  public var description: String {
    guard let port else { return address.literal }
    return address.isIPv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
  }
}
