import Foundation

/// The end of every chain: what puts a request on the wire and reads the response.
///
/// ### Use an existing transport
///
/// A registry that is given none uses `CurlTransport` on Linux and ``URLSessionTransport`` on Apple platforms.
///
/// ### Implement a custom transport
///
/// ```swift
/// struct LocalTransport: Transport {
///   let capabilities: TransportCapabilities = []
///
///   func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
///     InterceptedResponse(to: request, body: .data(Data("local".utf8)), source: .network)
///   }
/// }
/// ```
///
/// A transport follows no redirects and keeps no cookies: the core does, hop by hop. It answers no challenges: a 401 is
/// a response. It throws ``TransportError``. What it needs to know of the load, and tells it, is in the request:
/// ``InterceptedRequest/observer``.
public protocol Transport: Sendable {
  /// What the transport can do beyond the plain exchange.
  var capabilities: TransportCapabilities { get }

  /// Sends `request` and returns as soon as the response's head is there; the body streams.
  ///
  /// Cancelling the calling task ends the exchange; so does dropping the response's body.
  func load(_ request: InterceptedRequest) async throws -> InterceptedResponse

  /// Closes the kept connections to an address and port on which nothing is happening, so that the next request opens
  /// another one.
  ///
  /// An exchange that runs on such a connection goes on. Default: nothing.
  ///
  /// - Parameters:
  ///   - address: An IPv4 or IPv6 literal, without brackets.
  ///   - port: The port that was dialled.
  func closeIdleConnections(to address: String, port: Int)

  /// Closes all connections, those in use too, because the network is another one; the next request opens a new one.
  /// Default: nothing.
  ///
  /// An exchange that runs on such a connection fails with `networkConnectionLost`, unless it can be begun anew.
  func closeConnections()

  /// Ends all exchanges and closes all connections. Loads that come later fail. Default: nothing.
  func invalidate()
}

extension Transport {
  /// Nothing.
  public func closeIdleConnections(to address: String, port: Int) {}

  /// Nothing.
  public func closeConnections() {}

  /// Nothing.
  public func invalidate() {}
}

/// What a transport can do beyond the plain exchange.
public struct TransportCapabilities: OptionSet, Sendable {
  /// The bits.
  public let rawValue: Int

  /// Makes a set of the given bits.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// Holds a server back when the body is read slowly: memory stays bounded.
  public static let backPressure = TransportCapabilities(rawValue: 1 << 0)
  /// Sends a request body of unknown length while it is being produced.
  public static let streamedUploads = TransportCapabilities(rawValue: 1 << 1)
  /// Measures ``LoadMetrics`` below the head and the total.
  public static let connectionMetrics = TransportCapabilities(rawValue: 1 << 2)
  /// Dials the address of a ``Route``.
  public static let routes = TransportCapabilities(rawValue: 1 << 3)
  /// Holds a request back at a ``DialGate`` until its connection is open and verified.
  public static let gates = TransportCapabilities(rawValue: 1 << 4)
}
