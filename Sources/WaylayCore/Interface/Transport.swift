import Foundation

/// The end of every chain, which sends a request and reads the response.
///
/// ### Use an existing transport
///
/// By default, a registry uses `CurlTransport` on Linux and ``URLSessionTransport`` on Apple platforms.
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
/// A transport follows no redirects and keeps no cookies: the core does both, hop by hop. It answers no challenges: a
/// 401 is a response. It throws ``TransportError``.
public protocol Transport: Sendable {
  /// The transport's capabilities beyond a plain exchange.
  var capabilities: TransportCapabilities { get }

  /// Sends `request` and returns as soon as the response's head arrives; the body streams.
  ///
  /// Cancelling the calling task ends the exchange, and so does dropping the response's body.
  func load(_ request: InterceptedRequest) async throws -> InterceptedResponse

  /// Closes the idle connections to an address and port, so that the next request opens a new one.
  ///
  /// An exchange in progress on such a connection continues. Default: does nothing.
  ///
  /// - Parameters:
  ///   - address: An IPv4 or IPv6 literal, without brackets.
  ///   - port: The dialed port.
  func closeIdleConnections(to address: String, port: Int)

  /// Closes all connections, including those in use, because the network has changed; the next request opens a new one.
  /// Default: does nothing.
  ///
  /// An exchange in progress on such a connection fails with `networkConnectionLost` unless it can start over.
  func closeConnections()

  /// Ends all exchanges and closes all connections. Later loads fail. Default: does nothing.
  func invalidate()
}

extension Transport {
  /// Does nothing.
  public func closeIdleConnections(to address: String, port: Int) {}

  /// Does nothing.
  public func closeConnections() {}

  /// Does nothing.
  public func invalidate() {}
}

/// A transport of this module. It makes no request through a session of the app, and tags the requests that foreign
/// protocol classes beneath it get.
protocol OwnTransport: Transport {}

extension Transport {
  /// Whether the transport may make further requests, which must not be taken for those of interceptors.
  var isForeign: Bool { !(self is any OwnTransport) }
}

/// A transport's capabilities beyond a plain exchange.
public struct TransportCapabilities: OptionSet, Sendable {
  /// The raw bits.
  public let rawValue: Int

  /// Makes a set of the given bits.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// Holds the server back when the body is read slowly, so that memory stays bounded.
  public static let backPressure = TransportCapabilities(rawValue: 1 << 0)
  /// Sends a request body of unknown length while it is produced.
  public static let streamedUploads = TransportCapabilities(rawValue: 1 << 1)
  /// Measures ``LoadMetrics`` beyond the head and the total.
  public static let connectionMetrics = TransportCapabilities(rawValue: 1 << 2)
  /// Dials the address of a ``Route``.
  public static let routes = TransportCapabilities(rawValue: 1 << 3)
  /// Holds a request at a ``DialGate`` until its connection is open and verified.
  package static let gates = TransportCapabilities(rawValue: 1 << 4)
}

/// The transport's connection to the load of a request: it reports progress to the load and tells the transport what it
/// needs to know.
///
/// ```swift
/// func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
///   for try await chunk in request.body {
///     sent += try await connection.send(chunk)
///     request.observer?.sent(sent)
///   }
///   …
/// }
/// ```
package struct TransportObserver: Sendable {
  let load: Load
  /// The lineage of the sending code, for other protocol classes in the transport's session.
  let lineage: Lineage?
  /// Whether the load itself ends the exchange after the request's ``InterceptedRequest/idleTimeout`` without progress.
  /// Otherwise the transport does, for example for an attempt to which an interceptor gave a different timeout.
  package let watchesTimeout: Bool

  /// Reports that bytes were sent or received, which restarts the idle timeout.
  package func progressed() {
    load.touch()
  }

  /// Reports the total number of request body bytes sent, which informs the app and restarts the idle timeout.
  package func sent(_ total: Int64) {
    load.sent(total)
  }
}

extension InterceptedRequest {
  /// The observer of the exchange, set where a request reaches the transport at the end of its chain; otherwise `nil`.
  package var observer: TransportObserver? { storage.value.observer }

  /// Prepares the request for a transport: sets its observer, and removes the loop guard's tag.
  mutating func address(to observer: TransportObserver) {
    lineage = nil
    storage.value.observer = observer
  }
}
