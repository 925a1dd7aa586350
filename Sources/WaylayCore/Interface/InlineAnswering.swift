import Foundation

/// An interceptor some of whose answers are there at once, and are given inside the loading system's own call: for
/// those who have measured that a change of threads is too much.
///
/// ```swift
/// struct Greeting: InlineAnswering {
///   func answerInline(_ request: InterceptedRequest) -> InlineAnswer {
///     request.url.path == "/hello" ? .response(InterceptedResponse(to: request, body: .text("hello"))) : .next(request)
///   }
/// }
/// ```
///
/// It has no `await`: an answer that has to wait for something is not one of these, and
/// ``RequestInterceptor/startLoading(_:next:)`` gives it. Like `canInit`, it runs wherever the loading system asks: it
/// must not block, and on Linux not make or resume the task of any session (platform facts P18 and P22). It sees
/// requests whose `canInit` was `true`, after `canonicalRequest`.
///
/// Only links of which all before them are `InlineAnswering`, too, are asked, and only in sessions on Linux; elsewhere,
/// and in a direct load, `startLoading` is called. So the two have to agree. Without a `startLoading` of its own a type
/// answers there what `answerInline` says.
public protocol InlineAnswering: RequestInterceptor {
  /// The answer to `request`, if it is there.
  ///
  /// Without any effect unless it answers: it may be followed by a call of `startLoading` with the same request.
  ///
  /// - Throws: What fails the load; see ``RequestInterceptor/startLoading(_:next:)``.
  func answerInline(_ request: InterceptedRequest) throws -> InlineAnswer
}

/// What an ``InlineAnswering`` interceptor says to a request.
public enum InlineAnswer: Sendable {
  /// This is the answer.
  case response(InterceptedResponse)
  /// It is for the next link to answer, as it is or changed, and this one need not see the response.
  case next(InterceptedRequest)
  /// The answer takes time, or the link wants to see what comes back: `startLoading` is called, outside of the loading
  /// system's call.
  case startLoading
}

extension InlineAnswering {
  /// What ``answerInline(_:)`` says.
  ///
  /// - Throws: ``WaylayError/Code/missingAnswer`` when that leaves it to this method, which then has to be implemented.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    switch try answerInline(request) {
    case .response(let response): return response
    case .next(let request): return try await next(request)
    case .startLoading:
      throw WaylayError(
        .missingAnswer,
        "\(name) leaves its answer to startLoading and has none: implement startLoading(_:next:), or answer in "
          + "answerInline(_:).",
        interceptor: name, url: request.url, requestID: request.id)
    }
  }
}
