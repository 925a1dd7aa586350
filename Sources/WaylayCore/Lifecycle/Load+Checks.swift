import Foundation

extension Load {
  /// Refuses a request whose URL a link has taken away.
  func check(_ request: InterceptedRequest, from link: any RequestInterceptor) throws {
    if request.storage.defect == .withoutURL { throw withoutURL(from: link) }
  }

  /// Refuses an answer that cannot be presented.
  func check(_ response: InterceptedResponse, of link: any RequestInterceptor) throws {
    guard (200...999).contains(response.status.code) else {
      throw WaylayError(
        .invalidResponse,
        "\(link.name) answered with the status \(response.status.code), which is not valid: use 200 to 599.",
        interceptor: link.name, url: url, requestID: id)
    }
    guard !Task.isCancelled else {
      let error = WaylayError(
        .answeredAfterCancellation,
        "\(link.name) answered after its load was cancelled; the answer was dropped. Check Task.isCancelled in "
          + "long work.",
        interceptor: link.name, url: url, requestID: id)
      report(.answerDropped, error: error)
      throw error
    }
  }

  /// Remembers where a failure began: in the innermost link that threw it.
  func noteFailure(_ error: any Error, in link: any RequestInterceptor) {
    state.withLock { state in
      if let failure = state.failure, Self.isSame(failure.error, error) { return }
      state.failure = (error, link.name)
    }
  }

  /// The interceptor that `error` began in, if it was thrown by one.
  func origin(of error: any Error) -> String? {
    state.withLock { state in
      guard let failure = state.failure, Self.isSame(failure.error, error) else { return nil }
      return failure.link
    }
  }

  /// Whether an error is one that came from further in: what a link throws after `next` has thrown is nearly always
  /// that.
  private static func isSame(_ one: any Error, _ other: any Error) -> Bool {
    guard type(of: one) == type(of: other) else { return false }
    let (one, other) = (one as NSError, other as NSError)
    return one.domain == other.domain && one.code == other.code
  }

  func withoutURL(from link: (any RequestInterceptor)? = nil) -> WaylayError {
    let culprit = link.map { "\($0.name) passed on" } ?? "the load has"
    return WaylayError(
      .invalidRequest, "\(culprit) a request without a URL: set its url.", interceptor: link?.name, requestID: id)
  }
}
