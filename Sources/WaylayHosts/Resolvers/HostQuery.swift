/// A query to a resolver: a host, and the port to dial there.
public struct HostQuery: Hashable, Sendable, CustomStringConvertible {
  /// The host. Never an address literal.
  public var host: HostName
  /// The URL's port. An HTTPS record belongs to a host and a port (RFC 9460, section 9.1); addresses belong to the host
  /// alone.
  public var port: Int

  /// Makes a query.
  public init(_ host: HostName, port: Int = 443) {
    self.host = host
    self.port = port
  }

  /// Host and port.
  public var description: String { "\(host):\(port)" }
}
