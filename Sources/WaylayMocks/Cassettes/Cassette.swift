import IssueReporting
import WaylayHAR

/// Records network exchanges to an HTTP archive, and plays them back without the network.
///
/// ```swift
/// let cassette = Cassette("login.har", mode: .once)
/// let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { cassette }))
/// let (data, _) = try await session.data(from: url)
/// try cassette.eject()
/// ```
///
/// In tests, the trait `.cassette("login")` of `WaylayTesting` makes a cassette for each test, ejects it and reports
/// its ``issues``.
///
/// A request is answered by the first entry that matches by ``Options/matching`` and has not been played: identical
/// requests get their responses in recorded order, and one more request fails. A request that failed when it was
/// recorded fails again.
///
/// Secrets, as defined by ``Options/redaction``, are never written. They are also removed from requests before these
/// are compared, so a cassette can replay with other credentials than the recorded ones.
///
/// A relative path is resolved in the folder `Cassettes`, or `__Cassettes__` if that exists, next to the source file
/// that makes the cassette; an absolute path is used unchanged. The file is written atomically when the cassette is
/// ejected: until then an existing file stays, even if the process is killed.
public final class Cassette: RequestInterceptor {
  struct State {
    /// What can be played, the oldest first.
    var tracks: [Track] = []
    /// What has been recorded, by the order in which it began; `nil` for what has not ended.
    var recorded: [HAR.Entry?] = []
    var issues: [MockIssue] = []
    /// Why what was recorded cannot be kept.
    var defect: MockError?
    var isEjected = false
  }

  /// The name in errors, logs and reports.
  public let name: String
  /// The file.
  public let file: URL
  /// Where the cassette was made.
  public let location: MockSourceLocation
  /// What it does beside playing, after `WAYLAY_RECORD`, the file and its age have been looked at.
  let role: Role
  let options: Options
  /// What the file says beside its entries.
  let archive: HAR
  let claim: CassetteFile.Claim?
  let writing: CassetteFile.Writing
  let state = Locked(State())

  /// Makes a cassette, and reads its file.
  ///
  /// The initializer does not throw: problems with the file fail the requests, and are among the ``issues``.
  ///
  /// - Parameters:
  ///   - path: The file; the extension `.har` is optional.
  ///   - mode: What to record. Nothing by default, unless `WAYLAY_RECORD` says otherwise.
  ///   - options: What to compare, redact and report, and the maximum age of a recording.
  ///   - fileID: The file to report issues at: the caller's.
  ///   - filePath: The path of that file, next to which the cassette's file lies.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  public convenience init(
    _ path: String, mode: Mode = .environment, options: Options = Options(), fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    self.init(
      path, mode: mode, options: options,
      location: MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// The same at a given place.
  package init(
    _ path: String, mode: Mode, options: Options, location: MockSourceLocation,
    environment: [String: String] = ProcessInfo.processInfo.environment,
    writing: CassetteFile.Writing = CassetteFile.Writing()
  ) {
    file = CassetteFile.place(of: path, besides: location.filePath.description)
    name = "Cassette \(file.lastPathComponent)"
    self.location = location
    self.options = options
    self.writing = writing
    var opening = Opening(file: file, options: options, location: location)
    opening.open(mode, environment: environment)
    role = opening.role
    archive = opening.archive
    claim = opening.claim
    let (tracks, issues) = (opening.tracks, opening.issues)
    state.withLock { ($0.tracks, $0.issues) = (tracks, issues) }
  }

  deinit {
    // Nobody is left to be told by an error.
    do { try eject() } catch {
      reportIssue(
        "\(error)", fileID: location.fileID, filePath: location.filePath, line: location.line, column: location.column)
    }
  }
}

extension InterceptedResponse.Source {
  /// An entry of a cassette.
  public static let cassette = InterceptedResponse.Source("cassette", storesCookies: true)
}
