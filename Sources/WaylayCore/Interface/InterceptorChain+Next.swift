import Foundation

extension InterceptorChain {
  /// The rest of the chain as an interceptor sees it, with the transport at its end.
  ///
  /// Call it again to retry, call it concurrently to hedge, do not call it to answer yourself. Once `startLoading` has
  /// returned, a call throws ``WaylayError/Code/nextAfterReturn``.
  ///
  /// In the unit test of an interceptor it is a closure:
  ///
  /// ```swift
  /// let next = InterceptorChain.Next { request in
  ///   InterceptedResponse(to: request, status: .serviceUnavailable)
  /// }
  /// let response = try await RetryOnUnavailable().startLoading(InterceptedRequest(.get, url), next: next)
  /// ```
  public struct Next: Sendable {
    enum Target: Sendable {
      case closure(@Sendable (InterceptedRequest) async throws -> InterceptedResponse)
      case turn(Turn)
    }

    let target: Target

    /// Makes the rest of a chain from a closure, for unit tests.
    public init(_ load: @escaping @Sendable (InterceptedRequest) async throws -> InterceptedResponse) {
      target = .closure(load)
    }

    init(_ turn: Turn) {
      target = .turn(turn)
    }

    /// The transport that requests for `url` end in: for its ``Transport/capabilities``, and for closing its
    /// connections.
    ///
    /// Do not load with it: that would pass by the links in between. Call `next`.
    ///
    /// - Returns: `nil` where the rest of the chain is a closure, which does not say.
    /// - Throws: ``WaylayError/Code/registryInvalidated``.
    public func transport(for url: URL) throws -> (any Transport)? {
      guard case .turn(let turn) = target else { return nil }
      return try turn.transport(for: url)
    }

    /// Says what becomes of the load's own timeout, should it be over while the interceptor works: an error that tells
    /// what was tried, with the timeout beneath. `nil` takes it back. Does nothing for a closure.
    ///
    /// - Parameter makeError: Makes that error of the timeout.
    public func onTimeout(_ makeError: (@Sendable (WaylayError) -> any Error)?) {
      guard case .turn(let turn) = target else { return }
      turn.onTimeout(makeError)
    }
  }
}
