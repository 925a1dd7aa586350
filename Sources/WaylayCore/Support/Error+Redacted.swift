extension Error {
  /// The error as logs, events and messages may show it: the one way to print an error in this package.
  ///
  /// Errors of ours say what they say; those of the loading system say their code and what is beneath them, because
  /// their texts hold the URL; of any other error the type is told alone, because its text may say anything.
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
      // An `NSError` by its domain, which the app or the system has made up; anything else by its type.
      guard type(of: self) is NSError.Type else { return String(describing: type(of: self)) }
      let error = self as NSError
      return "\(error.domain) \(error.code)" + Self.beneath(error)
    }
  }

  /// What an error says is beneath it.
  private static func beneath(_ error: NSError) -> String {
    (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { ": \($0.redacted)" } ?? ""
  }
}
