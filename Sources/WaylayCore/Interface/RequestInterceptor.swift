import Foundation

/// One interceptor of an ``InterceptorChain``, which can answer a request, change it, send it on, retry it, or change
/// the response on its way back.
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
/// | interceptors | module |
/// |---|---|
/// | ``Intercept`` (a closure), ``SetField``, ``ValidateStatus``, ``LoopGuard`` | `WaylayCore` |
/// | `Retry`, `BearerToken`, `RequestSigner` | [WaylayInterceptors](/documentation/waylayinterceptors) |
/// | `ConcurrencyLimit`, `RateLimit`, `NetworkConditions` | `WaylayInterceptors` |
/// | `RequestLogger`, `Tracing`, `TrafficMetrics` | `WaylayInterceptors` |
/// | `MockInterceptor`, `Cassette` | [WaylayMocks](/documentation/waylaymocks) |
/// | `ArchiveCache` | [WaylayArchive](/documentation/waylayarchive) |
/// | `HostRewriter` | [WaylayHosts](/documentation/waylayhosts) |
/// | `Inspector` | [WaylayInspector](/documentation/waylayinspector) |
///
/// ### Implement a custom interceptor
///
/// ```swift
/// struct AddLanguage: RequestInterceptor {
///   func startLoading(
///     _ request: InterceptedRequest, next: InterceptorChain.Next
///   ) async throws -> InterceptedResponse {
///     var request = request
///     request.fields[.acceptLanguage] = "eo"
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

  /// Whether this interceptor takes part in nested requests: those that interceptors of its registry make inside of a
  /// load (rule 7 of "How a chain runs"). Default: `false`.
  ///
  /// Return `true` only if the interceptor guards or watches, makes no request itself, and waits for nothing that
  /// another load holds: the load in which the request is nested waits for it.
  ///
  /// ```swift
  /// struct NoPlainHTTP: RequestInterceptor {
  ///   var takesPartInNestedRequests: Bool { true }
  ///
  ///   func startLoading(
  ///     _ request: InterceptedRequest, next: InterceptorChain.Next
  ///   ) async throws -> InterceptedResponse {
  ///     guard request.url.scheme == "https" else { throw URLError(.appTransportSecurityRequiresSecureConnection) }
  ///     return try await next(request)
  ///   }
  /// }
  /// ```
  ///
  /// Requests of code that the interceptor itself runs, such as a closure of a stub, do not come back to it.
  var takesPartInNestedRequests: Bool { get }

  /// Loads `request`: answers it, or calls `next` and returns the response, changed or unchanged.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - next: The rest of the chain, with the transport at its end. Call it again to retry, which gives back the unread
  ///     body of the response before, or do not call it to answer yourself. Do not call it after returning.
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

  /// `false`: nested requests go past the interceptor.
  public var takesPartInNestedRequests: Bool { false }
}

/// An interceptor that has some responses ready at once and gives them inside the loading system's own call. Use it
/// only if you have measured that the thread hop costs too much.
///
/// ```swift
/// struct Greeting: InlineResponding {
///   func respondInline(_ request: InterceptedRequest) -> InlineResponse {
///     request.url.path == "/hello" ? .response(InterceptedResponse(to: request, body: .text("hello"))) : .next(request)
///   }
/// }
/// ```
///
/// The call has no `await`: if a response has to wait for something, leave it to
/// ``RequestInterceptor/startLoading(_:next:)``. Like `canInit`, the method runs on whatever thread the loading system
/// uses. It must not block, and on Linux it must not make or resume a task of any session (platform facts P18 and P22).
/// It sees requests for which `canInit` returned `true`, after `canonicalRequest`.
///
/// The chain asks an interceptor inline only if all interceptors before it are `InlineResponding` too, and only in
/// sessions on Linux; elsewhere, and in direct loads, it calls `startLoading`. Both methods therefore have to agree.
/// The default `startLoading` calls `respondInline` and carries out the result.
public protocol InlineResponding: RequestInterceptor {
  /// Returns the response to `request`, if it is available at once.
  ///
  /// The call must have no side effects unless it answers: `startLoading` may follow with the same request.
  ///
  /// - Throws: The error that fails the load; see ``RequestInterceptor/startLoading(_:next:)``.
  func respondInline(_ request: InterceptedRequest) throws -> InlineResponse
}

/// An ``InlineResponding`` interceptor's decision about a request.
public enum InlineResponse: Sendable {
  /// Answers the request with this response.
  case response(InterceptedResponse)
  /// Passes the request on, changed or unchanged; the interceptor does not see the response.
  case next(InterceptedRequest)
  /// Leaves the request to `startLoading`, outside the loading system's call, because the response takes time or the
  /// interceptor needs to see the response.
  case startLoading
}

extension InlineResponding {
  /// Carries out the result of ``respondInline(_:)``.
  ///
  /// - Throws: `WaylayError.missingResponse` if the result is ``InlineResponse/startLoading`` and the type does not
  ///   implement it.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    switch try respondInline(request) {
    case .response(let response): return response
    case .next(let request): return try await next(request)
    case .startLoading:
      throw WaylayError(
        .missingResponse,
        "\(name) leaves the request to startLoading, which it does not implement: implement startLoading(_:next:), or "
          + "respond in respondInline(_:).",
        interceptor: name, url: request.url, requestID: request.id)
    }
  }
}

/// An interceptor that checks the chain that contains it, for example whether another interceptor must come first.
///
/// ```swift
/// extension Sign: ChainValidating {
///   func problems(in chain: InterceptorChain) -> [String] {
///     chain.interceptors.last is Self ? [] : ["is followed by others, which may change what it has signed"]
///   }
/// }
/// ```
public protocol ChainValidating: RequestInterceptor {
  /// Returns the problems of the chain, each phrased to follow the interceptor's name. They are reported when a chain
  /// is registered: to the registry's logger, or without one to standard error.
  func problems(in chain: InterceptorChain) -> [String]
}

/// An interceptor that must see all requests of its chain: its guarantees do not hold for requests that bypass it.
package protocol GuardingInterceptor: RequestInterceptor {
  /// Checks a WebSocket task in whose handshake the interceptor would take part if it were a plain request. No chain
  /// handles such a task: it bypasses interception.
  ///
  /// - Parameter request: The handshake, with `ws` or `wss`.
  /// - Throws: Why the task must not be opened. Report the reason before you throw it: the task cannot carry it.
  func validate(webSocket request: URLRequest) throws

  /// Whether the interceptor handles requests of every scheme, because those that it does not answer must not be sent.
  var coversEveryScheme: Bool { get }

  /// Whether the interceptor never calls `next`, so that later interceptors get no requests.
  var isFinal: Bool { get }
}

extension GuardingInterceptor {
  package func validate(webSocket request: URLRequest) throws {}
  package var coversEveryScheme: Bool { false }
  package var isFinal: Bool { false }
}

/// A result builder for the ordered list of a chain's interceptors, which accepts conditions, loops and arrays.
///
/// ```swift
/// let chain = InterceptorChain("api") {
///   LoopGuard()
///   if isDebugBuild { RequestPrinter() }
///   for tenant in tenants { TenantHeader(tenant) }
/// }
/// ```
@resultBuilder
public enum InterceptorBuilder {
  /// One interceptor.
  public static func buildExpression(_ interceptor: any RequestInterceptor) -> [any RequestInterceptor] {
    [interceptor]
  }
  /// An existing list.
  public static func buildExpression(_ interceptors: [any RequestInterceptor]) -> [any RequestInterceptor] {
    interceptors
  }
  /// The empty list.
  public static func buildBlock() -> [any RequestInterceptor] { [] }
  /// All parts in the order of the source.
  public static func buildBlock(_ parts: [any RequestInterceptor]...) -> [any RequestInterceptor] {
    parts.flatMap { $0 }
  }
  /// `if` without `else`.
  public static func buildOptional(_ part: [any RequestInterceptor]?) -> [any RequestInterceptor] { part ?? [] }
  /// `if`, first branch.
  public static func buildEither(first part: [any RequestInterceptor]) -> [any RequestInterceptor] { part }
  /// `if`, second branch.
  public static func buildEither(second part: [any RequestInterceptor]) -> [any RequestInterceptor] { part }
  /// `for`.
  public static func buildArray(_ parts: [[any RequestInterceptor]]) -> [any RequestInterceptor] {
    parts.flatMap { $0 }
  }
  /// `if #available`.
  public static func buildLimitedAvailability(_ part: [any RequestInterceptor]) -> [any RequestInterceptor] { part }
}
