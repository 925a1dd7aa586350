#if CommandLineTool
  import Foundation
  import WaylayArchive
  import WaylayCore
  import WaylayHAR
  import WaylayHosts

  /// Why a command did not do what it was to do.
  struct ToolFailure: Error, Encodable {
    let status: ExitStatus
    /// For programs: the library's own code where the failure is one of its errors.
    let code: String
    /// For people: what happened, and what to do about it.
    let message: String

    init(_ status: ExitStatus, _ code: String, _ message: String) {
      self.status = status
      self.code = code
      self.message = message
    }

    /// Any error, as the program says it.
    init(_ error: any Error) {
      switch error {
      case let failure as ToolFailure: self = failure
      case let error as HARError:
        // That of writing has the cause in its message.
        let cause = error.code == .unwritable ? "" : Self.cause(error.underlying)
        self.init(.files, "har.\(error.code)", error.message + cause)
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

  /// How the program ends, for scripts.
  enum ExitStatus: Int32, Encodable {
    /// Done.
    case done = 0
    /// What was asked for failed: a check found something, nothing matched.
    case failed = 1
    /// The network gave no response.
    case network = 2
    /// A file, a folder or an archive cannot be used.
    case files = 4
    /// The command line makes no sense: `EX_USAGE`, as the argument parser has it.
    case usage = 64
  }
#endif
