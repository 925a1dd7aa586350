import Foundation

extension Error {
  /// The error as events and log lines may show it: its kind and its code.
  ///
  /// What an error says of itself may be anything: a `URLError` prints the failing URL with password and token, and an app's own error
  /// whatever was given to it. Messages are shown of this package's errors alone, which carry neither.
  var redactedText: String {
    switch self {
    case let error as ArchiveError: return error.description
    case let error as WaylayError: return "WaylayError.\(error.code): \(error.message)"
    case let error as TransportError: return "TransportError while \(error.phase) (URLError \(error.code.rawValue))"
    case let error as URLError:
      let cause = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { ", beneath it: " + $0.codeText } ?? ""
      return "URLError \(error.code.rawValue)" + cause
    case is CancellationError: return "cancelled"
    default: return codeText
    }
  }

  /// The error's type, and the number of its case or its system's code.
  private var codeText: String {
    let error = self as NSError
    return "\(type(of: self)) (\(error.domain), code \(error.code))"
  }
}

extension URL {
  /// The URL without user name and password, which nobody needs to know which resource it is.
  var withoutUserInfo: URL {
    guard user != nil || password != nil, var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
    parts.user = nil
    parts.password = nil
    return parts.url ?? self
  }
}
