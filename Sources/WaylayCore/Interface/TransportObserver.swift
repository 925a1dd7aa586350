import Foundation

/// The load that a request at a transport belongs to, as far as the transport is concerned: what it tells it, and what
/// it has to know.
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
  /// Whether the load itself ends the exchange when nothing happens for the request's
  /// ``InterceptedRequest/idleTimeout``. Otherwise, as for an attempt that an interceptor has given a timeout of its
  /// own, that is the transport's business.
  public let watchesTimeout: Bool

  /// Something was sent or has come: the idle timeout begins anew.
  public func progressed() {
    load.touch()
  }

  /// So many bytes of the request's body have been sent, from its beginning: the app hears of it, and the idle timeout
  /// begins anew.
  public func sent(_ total: Int64) {
    load.sent(total)
  }
}

extension InterceptedRequest {
  /// Who hears of the exchange: set where a request reaches the transport at the end of its chain; `nil` for any other.
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
