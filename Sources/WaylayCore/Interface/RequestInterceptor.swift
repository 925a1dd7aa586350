import Foundation

/// One link of an ``InterceptorChain``: it may answer a request, change it, send it on, retry it, or change the
/// response on its way back.
///
/// It mirrors `URLProtocol` verb by verb, so that whoever knows one knows the other:
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
/// ``LoopGuard`` stops a load that comes through the same chain twice.
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
/// An interceptor is shared by all loads of its chain, which run at the same time: keep its state in an actor or behind
/// a lock. To watch traffic without changing it, subscribe to ``InterceptorRegistry/events(bufferingNewest:)`` instead.
public protocol RequestInterceptor: Sendable {
  /// The name that errors and logs use. Default: the type's name.
  var name: String { get }

  /// Whether this interceptor takes part in the load of `request`. Default: `true`.
  ///
  /// Pure: it may be asked on any thread, and more than once for one request.
  func canInit(with request: URLRequest) -> Bool

  /// The form of `request` that equal requests share. Default: `request` itself.
  ///
  /// Pure and idempotent. It is folded through the accepting interceptors in chain order, before any
  /// ``startLoading(_:next:)``.
  func canonicalRequest(for request: URLRequest) -> URLRequest

  /// Loads `request`: answers it, or calls `next` and returns what comes back, changed or not.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - next: The rest of the chain, with the transport at its end. Call it again to retry, do not call it to answer
  ///     yourself, and do not call it after returning.
  /// - Returns: The response that the link before this one sees.
  /// - Throws: A `URLError` reaches the app as it is. Any other error is wrapped in a `URLError` under
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
