import Foundation

/// One link of an ``InterceptorChain``, which can answer a request, change it, send it on, retry it, or change the
/// response on its way back.
///
/// Its methods correspond to those of `URLProtocol`:
///
/// | `URLProtocol` | `RequestInterceptor` |
/// |---|---|
/// | `class func canInit(with:)` | ``canInit(with:)`` |
/// | `class func canonicalRequest(for:)` | ``canonicalRequest(for:)`` |
/// | `func startLoading()` and the client's callbacks | ``startLoading(_:next:)`` |
/// | `func stopLoading()` | cancellation of the task that runs `startLoading` |
///
/// ### Use an existing interceptor
///
/// ``LoopGuard`` stops a load that passes through the same chain twice.
///
/// ### Implement a custom interceptor
///
/// ```swift
/// struct RetryOnUnavailable: RequestInterceptor {
///   func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
///     let response = try await next(request)
///     guard response.status == .serviceUnavailable, request.body.isReplayable else { return response }
///     return try await next(request)
///   }
/// }
/// ```
///
/// All loads of a chain share its interceptors and run concurrently: keep an interceptor's state in an actor or behind
/// a lock. To observe traffic without changing it, use ``InterceptorRegistry/events(bufferingNewest:)`` instead.
public protocol RequestInterceptor: Sendable {
  /// The name in errors and logs. Default: the type's name.
  var name: String { get }

  /// Whether this interceptor takes part in the load of `request`. Default: `true`.
  ///
  /// The method must be pure: it may be called on any thread, and more than once for one request.
  func canInit(with request: URLRequest) -> Bool

  /// Returns the canonical form of `request`, which equal requests share. Default: `request` itself.
  ///
  /// The method must be pure and idempotent. The chain applies it for all accepting interceptors in chain order, before
  /// any ``startLoading(_:next:)``.
  func canonicalRequest(for request: URLRequest) -> URLRequest

  /// Loads `request`: answers it, or calls `next` and returns the response, changed or unchanged.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - next: The rest of the chain, with the transport at its end. Call it again to retry, or do not call it to
  ///     answer yourself. Do not call it after returning.
  /// - Returns: The response, as the previous interceptor sees it.
  /// - Throws: A `URLError` reaches the app unchanged. Any other error is wrapped in a `URLError` under
  ///   `NSUnderlyingErrorKey`.
  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse
}

extension RequestInterceptor {
  /// The type's name.
  public var name: String { String(describing: type(of: self)) }

  /// `true`: every request.
  public func canInit(with request: URLRequest) -> Bool { true }

  /// The request itself.
  public func canonicalRequest(for request: URLRequest) -> URLRequest { request }
}
