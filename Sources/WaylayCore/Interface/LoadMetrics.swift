import Foundation

/// The measurements a transport made of one exchange. All durations count from the call of the transport; `nil` means
/// "not known".
public struct LoadMetrics: Sendable, Hashable {
  /// When the host's addresses were resolved.
  public var nameLookup: Duration?
  /// When the connection was open.
  public var connect: Duration?
  /// When the TLS handshake was complete.
  public var secureConnection: Duration?
  /// When the response's head arrived.
  public var firstByte: Duration?
  /// When the body ended.
  public var total: Duration?
  /// The number of request body bytes sent.
  public var requestBodyBytes: Int64?
  /// The number of response body bytes received.
  public var responseBodyBytes: Int64?
  /// The dialed address, as `ip:port`.
  public var address: String?
  /// Whether the exchange reused an open connection.
  public var isConnectionReused: Bool?
  /// The protocol's ALPN name: `http/1.1`, `h2`.
  public var protocolName: String?

  /// Makes metrics without any measurements.
  public init() {}
}
