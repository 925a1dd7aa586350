import Foundation

extension Load {
  /// Records the innermost interceptor that threw an error.
  func noteFailure(_ error: any Error, in interceptor: any RequestInterceptor) {
    if origin(of: error) == nil { state.withLock { $0.failure = (error, interceptor.name) } }
  }

  /// Records that a body failed, rather than the interceptor that awaits it.
  func noteBodyFailure(_ error: any Error) { state.withLock { $0.failure = (error, Self.bodyReading) } }

  private static let bodyReading = "Reading the body"

  /// The name of the interceptor that threw `error`, or ``bodyReading``; `nil` if neither did.
  private func origin(of error: any Error) -> String? {
    state.withLock { $0.failure.flatMap { Self.isSameThrow($0.error, error) ? $0.origin : nil } }
  }

  /// Whether both are one thrown error, which has passed several interceptors. An error that is thrown anew has another
  /// box, also if it is equal.
  private static func isSameThrow(_ one: any Error, _ other: any Error) -> Bool {
    // `as` keeps the existentials from being opened: their boxes are compared.
    unsafeBitCast(one as any Error, to: UnsafeRawPointer.self)
      == unsafeBitCast(other as any Error, to: UnsafeRawPointer.self)
  }

  func withoutURL(from interceptor: (any RequestInterceptor)? = nil) -> WaylayError {
    let culprit = interceptor.map { "\($0.name) passed on" } ?? "the load has"
    return WaylayError(
      .invalidRequest, "\(culprit) a request without a URL: set its url.", interceptor: interceptor?.name, requestID: id
    )
  }
}

extension Load {
  /// Ends the load, and returns the app's error for the error that ended it.
  func ended(by error: any Error) -> URLError {
    let failure = urlError(for: error)
    end(error: failure)
    return failure
  }

  /// Converts a failure to the app's error: a `URLError` with the failing URL, and the original under
  /// `NSUnderlyingErrorKey` (rule 5).
  func urlError(for error: any Error) -> URLError {
    var userInfo = URLError.failingURL(url)
    switch error {
    case let error as URLError:
      // Prefer the URL of the failing hop to the first URL; an interceptor's own error often has none.
      if error.userInfo[NSURLErrorFailingURLErrorKey] != nil {
        userInfo = URLError.failingURL(error.userInfo[NSURLErrorFailingURLErrorKey] as? URL)
      }
      userInfo.merge(error.userInfo) { _, theirs in theirs }
      URLError.hideUserInfo(in: &userInfo)
      return URLError(error.code, userInfo: userInfo)
    case let error as TransportError:
      return URLError(error.urlErrorCode, underlying: error, url: url)
    case let error as WaylayError:
      userInfo[NSLocalizedDescriptionKey] = error.message
      let account = error.code == .timedOut ? state.withLock { $0.timeoutError } : nil
      userInfo[NSUnderlyingErrorKey] = account?(error) ?? error
      return URLError(error.urlErrorCode, userInfo: userInfo)
    case is CancellationError:
      return URLError(.cancelled, userInfo: userInfo)
    default:
      let origin = origin(of: error)
      userInfo[NSLocalizedDescriptionKey] =
        (error as? any LocalizedError)?.errorDescription?.withRedactedURLs
        ?? "\(origin ?? "A part of the load") threw \(type(of: error)), which is not a URLError; it is the underlying error. Throw a URLError "
        + "with the code that the app should see."
      userInfo[NSUnderlyingErrorKey] = error
      return URLError(origin == Self.bodyReading ? .cannotOpenFile : .unknown, userInfo: userInfo)
    }
  }
}

extension URLError {
  /// Removes user names and passwords from the URLs in an error: errors are printed.
  fileprivate static func hideUserInfo(in userInfo: inout [String: Any]) {
    for (key, value) in userInfo {
      if let url = value as? URL { userInfo[key] = url.withoutUserInfo }
      // The same URL as text, under a key that is deprecated but still used.
      if key == "NSErrorFailingURLStringKey", let text = value as? String, let url = URL(string: text) {
        userInfo[key] = url.withoutUserInfo.absoluteString
      }
    }
  }
}
