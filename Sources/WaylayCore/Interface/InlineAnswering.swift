import Foundation

/// An interceptor that has some answers ready at once and gives them inside the loading system's own call. Use it only
/// if you have measured that the thread hop costs too much.
///
/// ```swift
/// struct Greeting: InlineAnswering {
///   func answerInline(_ request: InterceptedRequest) -> InlineAnswer {
///     request.url.path == "/hello" ? .response(InterceptedResponse(to: request, body: .text("hello"))) : .next(request)
///   }
/// }
/// ```
///
/// The call has no `await`: if an answer has to wait for something, leave it to
/// ``RequestInterceptor/startLoading(_:next:)``. Like `canInit`, the method runs on whatever thread the loading system
/// uses. It must not block, and on Linux it must not make or resume a task of any session (platform facts P18 and P22).
/// It sees requests for which `canInit` returned `true`, after `canonicalRequest`.
///
/// The chain asks an interceptor inline only if all interceptors before it are `InlineAnswering` too, and only in
/// sessions on Linux; elsewhere, and in direct loads, it calls `startLoading`. Both methods therefore have to agree.
/// The default `startLoading` does what `answerInline` returns.
public protocol InlineAnswering: RequestInterceptor {
  /// Returns the answer to `request`, if it is available at once.
  ///
  /// The call must have no side effects unless it answers: `startLoading` may follow with the same request.
  ///
  /// - Throws: The error that fails the load; see ``RequestInterceptor/startLoading(_:next:)``.
  func answerInline(_ request: InterceptedRequest) throws -> InlineAnswer
}

/// What an ``InlineAnswering`` interceptor does with a request.
public enum InlineAnswer: Sendable {
  /// Answers the request with this response.
  case response(InterceptedResponse)
  /// Passes the request on, changed or unchanged; the interceptor does not see the response.
  case next(InterceptedRequest)
  /// Leaves the request to `startLoading`, outside the loading system's call, because the answer takes time or the
  /// interceptor needs to see the response.
  case startLoading
}

extension InlineAnswering {
  /// Does what ``answerInline(_:)`` returns.
  ///
  /// - Throws: ``WaylayError/Code/missingAnswer`` if that leaves the answer to this method and the type does not
  ///   implement it.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    switch try answerInline(request) {
    case .response(let response): return response
    case .next(let request): return try await next(request)
    case .startLoading:
      throw WaylayError(
        .missingAnswer,
        "\(name) leaves its answer to startLoading, which it does not implement: implement startLoading(_:next:), or "
          + "answer in answerInline(_:).",
        interceptor: name, url: request.url, requestID: request.id)
    }
  }
}
