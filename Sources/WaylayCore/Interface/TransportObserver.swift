import Foundation

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
public struct TransportObserver: Sendable {
  let load: Load
  /// Where the code that sends the request is, for protocol classes of others beneath a session.
  let lineage: Lineage?
  /// Whether the load itself ends the exchange after the request's ``InterceptedRequest/idleTimeout`` without progress.
  /// Otherwise the transport does, for example for an attempt to which an interceptor gave a timeout of its own.
  public let watchesTimeout: Bool

  /// Reports that bytes were sent or received, which restarts the idle timeout.
  public func progressed() {
    load.touch()
  }

  /// Reports the total number of request body bytes sent, which informs the app and restarts the idle timeout.
  public func sent(_ total: Int64) {
    load.sent(total)
  }
}

extension InterceptedRequest {
  /// The observer of the exchange, set where a request reaches the transport at the end of its chain; otherwise `nil`.
  public var observer: TransportObserver? { storage.observer }

  /// The request for a transport: without the loop guard's tag, which is for nobody outside.
  mutating func address(to observer: TransportObserver) {
    let storage = unique
    storage.lineage = nil
    storage.observer = observer
  }

  /// Has the projection carry the loop guard's tag; it is made when somebody takes it.
  mutating func tag(with lineage: Lineage) {
    // Whoever keeps a request, a history for one, must not keep the load that it came from, and with it the chain.
    unique.lineage = lineage.withoutLoads
  }
}
