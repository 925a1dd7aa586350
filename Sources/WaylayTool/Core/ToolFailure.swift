#if CommandLineTool
  import Foundation
  import WaylayArchive
  import WaylayCore
  import WaylayHAR
  import WaylayHosts

  /// The failure of a command.
  struct ToolFailure: Error, Encodable {
    let status: ExitStatus
    /// For programs: the library's error code, or one of the tool.
    let code: String
    /// For people: the failure, and how to correct it.
    let message: String

    init(_ status: ExitStatus, _ code: String, _ message: String) {
      self.status = status
      self.code = code
      self.message = message
    }

    /// Converts any error.
    init(_ error: any Error) {
      switch error {
      case let failure as ToolFailure: self = failure
      case let error as HARError:
        // The message of a write error includes the cause.
        let cause = error.code == .unwritable ? "" : Self.cause(error.underlying)
        let name = error.file.map(\.lastPathComponent).flatMap { error.message.contains($0) ? nil : $0 + ": " } ?? ""
        self.init(.files, "har.\(error.code)", name + error.message + cause)
      case let error as ArchiveError: self.init(.files, "archive.\(error.code)", Self.text(error))
      case let error as HostError:
        self.init(error.isNetworkFailure ? .network : .failed, "hosts.\(error.code)", Self.text(error))
      case let error as WaylayError: self.init(.failed, "\(error.code)", error.message)
      default: self.init(.files, "failed", (error as NSError).localizedDescription)
      }
    }

    private static func text(_ error: some LoadError) -> String { error.errorDescription ?? error.message }

    private static func cause(_ error: (any Error)?) -> String {
      guard let error, !(error is DecodingError) else { return "" }
      let posix = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError ?? error as NSError
      guard posix.domain == NSPOSIXErrorDomain, let text = strerror(Int32(posix.code)) else { return "" }
      return " (\(String(cString: text)))"
    }
  }

  /// The exit status, for scripts.
  enum ExitStatus: Int32, Encodable {
    /// Success.
    case done = 0
    /// The command failed: a check found something, nothing matched.
    case failed = 1
    /// The network gave no response.
    case network = 2
    /// A file, a folder or an archive cannot be used.
    case files = 4
    /// A misuse of the command line: `EX_USAGE`, like the argument parser's.
    case usage = 64
  }
#endif
