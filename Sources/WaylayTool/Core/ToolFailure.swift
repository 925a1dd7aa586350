#if CommandLineTool
  import Foundation
  import WaylayArchive
  import WaylayCore
  import WaylayHAR
  import WaylayHosts
  import WaylayMocks

  /// Why a command did not do what it was to do.
  struct ToolFailure: Error {
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
      case let error as HARError: self.init(.files, "har.\(error.code)", error.message + Self.cause(error.underlying))
      case let error as ArchiveError:
        let isAbsent = error.code == .notStored || error.code == .forbiddenByRequest
        self.init(isAbsent ? .absent : .files, "archive.\(error.code)", Self.text(error))
      case let error as HostError:
        self.init(error.isNetworkFailure ? .network : .failed, "hosts.\(error.code)", Self.text(error))
      case let error as MockError:
        let isAbsent = error.code == .unmatched || error.code == .exhausted
        // How to record in a test is of no use here.
        let lines = error.message.split(separator: "\n").filter { !$0.contains("WAYLAY_RECORD") }
        self.init(isAbsent ? .absent : .files, "mocks.\(error.code)", lines.joined(separator: "\n"))
      case let error as URLError: self.init(loading: error)
      default: self.init(.files, "failed", (error as NSError).localizedDescription)
      }
    }

    /// Why a load failed: the innermost reason that one of the interceptors gives.
    private init(loading error: URLError) {
      if let cause = error.cause(as: ArchiveError.self), cause.code == .notStored || cause.code == .forbiddenByRequest {
        self.init(cause)
      } else if let cause = error.cause(as: MockError.self) {
        self.init(cause)
      } else if let cause = error.cause(as: HostError.self) {
        let attempts = cause.attempts.isEmpty ? "" : "\n" + cause.attempts.table
        self.init(.network, "hosts.\(cause.code)", Self.text(cause) + attempts)
      } else if let cause = error.cause(as: TransportError.self) {
        self.init(.network, "network.\(cause.code)", "\(cause.message) (while \(cause.phase))")
      } else if let cause = error.loadError as? WaylayError, cause.code == .timedOut {
        self.init(.network, "network", "\(cause.message.prefix { $0 != ":" }): raise --timeout.")
      } else if let cause = error.loadError {
        self.init(.network, "network", cause.message)
      } else {
        self.init(.network, "network", error.localizedDescription)
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
  enum ExitStatus: Int32 {
    /// Done.
    case done = 0
    /// What was asked for failed: a check found something, nothing matched.
    case failed = 1
    /// The network gave no response.
    case network = 2
    /// Nothing is stored, or no stub is there, for a request that must not go to the network.
    case absent = 3
    /// A file, a folder or an archive cannot be used.
    case files = 4
    /// The command line makes no sense: `EX_USAGE`, as the argument parser has it.
    case usage = 64
  }
#endif
