extension Error {
  /// The error without secrets, for logs, events and messages: the only way to print an error in this package.
  ///
  /// Errors of this package print their text; errors of the loading system print their code and their underlying error,
  /// because their texts contain the URL; any other error prints only its type, because its text may contain secrets.
  package var redacted: String {
    switch self {
    case let error as any LoadError: return error.description
    case let error as URLError:
      return "URLError \(error.code.rawValue)" + Self.beneath(error as NSError)
    case let error as POSIXError:
      return "POSIXError \(error.code.rawValue) (\(String(cString: strerror(error.code.rawValue))))"
    case is CancellationError: return "CancellationError"
    case let error as CocoaError: return "CocoaError \(error.code.rawValue)" + Self.beneath(error as NSError)
    default:
      // For an `NSError`, the domain, which is a constant; for other errors the type.
      guard type(of: self) is NSError.Type else { return String(describing: type(of: self)) }
      let error = self as NSError
      return "\(error.domain) \(error.code)" + Self.beneath(error)
    }
  }

  /// The underlying error of an error.
  private static func beneath(_ error: NSError) -> String {
    (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { ": \($0.redacted)" } ?? ""
  }
}
