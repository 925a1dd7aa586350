import Foundation

/// What a transport measured of one exchange. All durations are since the transport was asked; `nil` is "not known".
public struct LoadMetrics: Sendable, Hashable {
  /// When the host's addresses were known.
  public var nameLookup: Duration?
  /// When the connection was open.
  public var connect: Duration?
  /// When TLS was agreed on.
  public var secureConnection: Duration?
  /// When the response's head was there.
  public var firstByte: Duration?
  /// When the body had ended.
  public var total: Duration?
  /// Bytes of the request's body that were sent.
  public var requestBodyBytes: Int64?
  /// Bytes of the response's body that were received.
  public var responseBodyBytes: Int64?
  /// The address that was dialled, as `ip:port`.
  public var address: String?
  /// Whether an open connection was used again.
  public var isConnectionReused: Bool?
  /// The protocol, as in ALPN: `http/1.1`, `h2`.
  public var protocolName: String?

  /// Makes metrics in which nothing is known.
  public init() {}
}
