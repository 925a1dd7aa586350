import Foundation

/// An interceptor that fails a load which comes through it again from within itself.
///
/// Every registry already sends a request that its own chain made through the bare transport, so one registry cannot
/// recurse. Use a loop guard where several registries lead into each other, or where re-entry is a mistake that should
/// be seen rather than passed on:
///
/// ```swift
/// let guarded = LoopGuard()
/// let outer = InterceptorRegistry { guarded; SignRequest(session: innerSession) }
/// let inner = InterceptorRegistry { guarded; RequestPrinter() }
/// ```
///
/// Retries and hedged requests are not re-entries: they stand beside each other, not inside.
///
/// How a re-entry is recognised: by the request's tag, when it was made from the request that the interceptor got, on
/// whatever thread; and on Linux, for any request, by the task it is made in. So a fresh request to an intercepted
/// session is not recognised when it is made in a detached task, and on Apple platforms not at all, because the loading
/// system starts it elsewhere: there, an interceptor that makes requests of its own uses a session that is not
/// intercepted, or a direct load.
public struct LoopGuard: InlineAnswering {
  /// The name that the error's path prints.
  public let name: String
  private let limit: Int
  private let origin = Lineage.nextOrigin()

  /// Makes a guard. Copies of it count together.
  ///
  /// - Parameters:
  ///   - name: The name that the error's path prints.
  ///   - limit: How often a load may be inside the guard at once; at least 1.
  public init(name: String = "LoopGuard", limit: Int = 1) {
    self.name = name
    self.limit = max(1, limit)
  }

  /// Passes the request on, or throws ``WaylayError/Code/loopDetected`` with the way that led back here.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    let (inner, lineage) = try enter(request)
    return try await Lineage.$current.withValue(lineage) { try await next(inner) }
  }

  /// The same.
  public func answerInline(_ request: InterceptedRequest) throws -> InlineAnswer { .next(try enter(request).0) }

  private func enter(_ request: InterceptedRequest) throws -> (InterceptedRequest, Lineage) {
    let outer = Lineage.current ?? request.storage.lineage
    let lineage = Lineage(Lineage.Entry(origin: origin, label: name), in: outer, load: outer?.load)
    guard lineage.count(of: origin) <= limit else {
      throw WaylayError(
        .loopDetected,
        "a load came back to \(name) from within itself: \(lineage.path). Let the interceptor that makes requests of "
          + "its own use a session that is not intercepted.",
        interceptor: name, url: request.url, requestID: request.id)
    }
    var request = request
    request.tag(with: lineage)
    return (request, lineage)
  }
}
