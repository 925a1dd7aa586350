import Foundation

extension Load {
  /// Remembers where a failure began: in the innermost interceptor that threw it.
  func noteFailure(_ error: any Error, in interceptor: any RequestInterceptor) {
    if origin(of: error) == nil { state.withLock { $0.failure = (error, interceptor.name) } }
  }

  /// The interceptor that `error` began in, if it was thrown by one.
  func origin(of error: any Error) -> String? {
    guard let failure = state.withLock({ $0.failure }), type(of: failure.error) == type(of: error),
      // Errors are values: one that says the same is the one that came from further in. A description is anybody's
      // code, so that it is asked for without the lock.
      String(reflecting: failure.error) == String(reflecting: error)
    else { return nil }
    return failure.interceptor
  }

  func withoutURL(from interceptor: (any RequestInterceptor)? = nil) -> WaylayError {
    let culprit = interceptor.map { "\($0.name) passed on" } ?? "the load has"
    return WaylayError(
      .invalidRequest, "\(culprit) a request without a URL: set its url.", interceptor: interceptor?.name, requestID: id
    )
  }
}

extension Load {
  /// What the app sees of a failure: a `URLError` with the failing URL, the original under `NSUnderlyingErrorKey` (rule
  /// 5).
  func urlError(for error: any Error) -> URLError {
    var userInfo = URLError.failingURL(url)
    switch error {
    case let error as URLError:
      // The URL of the failing hop is better than that of the first one; an interceptor's own error often has none.
      if error.userInfo[NSURLErrorFailingURLErrorKey] != nil {
        userInfo = URLError.failingURL(error.userInfo[NSURLErrorFailingURLErrorKey] as? URL)
      }
      userInfo.merge(error.userInfo) { _, theirs in theirs }
      URLError.hideUserInfo(in: &userInfo)
      return URLError(error.code, userInfo: userInfo)
    case let error as TransportError:
      userInfo[NSLocalizedDescriptionKey] = error.message.withRedactedURLs
      userInfo[NSUnderlyingErrorKey] = error
      return URLError(error.urlErrorCode, userInfo: userInfo)
    case let error as WaylayError:
      userInfo[NSLocalizedDescriptionKey] = error.message
      let account = error.code == .timedOut ? state.withLock { $0.timeoutError } : nil
      userInfo[NSUnderlyingErrorKey] = account?(error) ?? error
      return URLError(error.urlErrorCode, userInfo: userInfo)
    case is CancellationError:
      return URLError(.cancelled, userInfo: userInfo)
    default:
      let culprit = origin(of: error) ?? "A part of the load"
      userInfo[NSLocalizedDescriptionKey] =
        (error as? any LocalizedError)?.errorDescription?.withRedactedURLs
        ?? "\(culprit) threw \(type(of: error)), which is not a URLError; it is the underlying error. Throw a URLError "
        + "with the code that the app should see."
      userInfo[NSUnderlyingErrorKey] = error
      return URLError(.unknown, userInfo: userInfo)
    }
  }
}

extension URLError {
  /// Takes user names and passwords out of the URLs that an error names: errors are printed.
  fileprivate static func hideUserInfo(in userInfo: inout [String: Any]) {
    for (key, value) in userInfo {
      if let url = value as? URL { userInfo[key] = url.withoutUserInfo }
      // The same URL as text, under a key that is deprecated and still used.
      if key == "NSErrorFailingURLStringKey", let text = value as? String, let url = URL(string: text) {
        userInfo[key] = url.withoutUserInfo.absoluteString
      }
    }
  }
}
