import Foundation

/// An interceptor that fails a load that re-enters it from within itself.
///
/// Within one registry, a nested request only reaches the interceptors that take part in nested requests, so one
/// registry cannot recurse. Use a loop guard when several registries lead into each other:
///
/// ```swift
/// let guarded = LoopGuard()
/// let outer = InterceptorRegistry { guarded; SignRequest(session: innerSession) }
/// let inner = InterceptorRegistry { guarded; RequestPrinter() }
/// ```
///
/// Retries and hedged requests are not re-entries: they run sequentially or concurrently, not nested.
///
/// The guard recognizes a re-entry by the request's tag, on any thread, if the new request derives from the request
/// that the interceptor received. On Linux it also recognizes any request by its task. It does not recognize a fresh
/// request to an intercepted session from a detached task; nor any fresh request on Apple platforms, where the loading
/// system starts it elsewhere: there, an interceptor makes its own requests by direct loads.
public struct LoopGuard: InlineResponding {
  /// The name to print in the error's path.
  public let name: String
  private let limit: Int
  private let origin = Lineage.nextOrigin()

  /// Makes a guard. Its copies share one count.
  ///
  /// - Parameters:
  ///   - name: The name to print in the error's path.
  ///   - limit: How many times a load may be inside the guard at once; at least 1.
  public init(name: String = "LoopGuard", limit: Int = 1) {
    self.name = name
    self.limit = max(1, limit)
  }

  /// Passes the request on, or throws `WaylayError.loopDetected` with the path of the loop.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    let (inner, lineage) = try enter(request)
    return try await Lineage.$current.withValue(lineage) { try await next(inner) }
  }

  /// The same check for inline responses.
  public func respondInline(_ request: InterceptedRequest) throws -> InlineResponse { .next(try enter(request).0) }

  private func enter(_ request: InterceptedRequest) throws -> (InterceptedRequest, Lineage) {
    let outer = (Lineage.inherited ?? request.lineage)?.counting
    let lineage = Lineage(
      Lineage.Entry(origin: origin, label: name), in: outer, scope: outer?.scope ?? .unlimited, outer?.number ?? 0)
    guard lineage.count(of: origin) <= limit else {
      throw WaylayError(
        .loopDetected,
        "a load re-entered \(name) from within itself: \(lineage.path). Let the interceptor that makes its own "
          + "requests use a session that is not intercepted.",
        interceptor: name, url: request.url, requestID: request.id)
    }
    var request = request
    request.lineage = lineage
    return (request, lineage)
  }
}
