#if canImport(FoundationNetworking)
  import Foundation

  /// What a protocol class of ours is on Linux: the initialiser is `required` here, and may not say `override`.
  class PlatformProtocol: URLProtocol {
    /// Made where this object was, by the code that resumed the task.
    final var decision: Installation.Decision?

    required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
      // On Linux this runs inside `resume()`, right after `canInit` and on the same thread (P7).
      decision = PendingDecision.take(for: Self.self, request)
      super.init(request: request, cachedResponse: cachedResponse, client: client)
    }
  }
#endif
