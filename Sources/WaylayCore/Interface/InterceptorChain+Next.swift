import Foundation

extension InterceptorChain {
  /// The rest of the chain as seen by an interceptor, with the transport at its end.
  ///
  /// Call it again to retry, call it concurrently to hedge, or do not call it to answer yourself. After `startLoading`
  /// has returned, a call throws ``WaylayError/Code/nextAfterReturn``.
  ///
  /// In an interceptor's unit test, use a closure:
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

    /// The transport for requests to `url`, whose ``Transport/capabilities`` you can read and whose connections you can
    /// close.
    ///
    /// Do not load with it: that bypasses the interceptors in between. Call `next`.
    ///
    /// - Returns: `nil` if the rest of the chain is a closure.
    /// - Throws: ``WaylayError/Code/registryInvalidated``.
    public func transport(for url: URL) throws -> (any Transport)? {
      guard case .turn(let turn) = target else { return nil }
      return try turn.transport(for: url)
    }

    /// Sets the error for the case that the load's own timeout expires while the interceptor works: it can tell what
    /// was tried, with the timeout as its underlying error. `nil` removes it. Does nothing for a closure.
    ///
    /// - Parameter makeError: Makes the error from the timeout.
    public func onTimeout(_ makeError: (@Sendable (WaylayError) -> any Error)?) {
      guard case .turn(let turn) = target else { return }
      turn.onTimeout(makeError)
    }
  }
}
