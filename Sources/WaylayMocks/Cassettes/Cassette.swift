import IssueReporting
import WaylayHAR

/// Records exchanges with the network into an HTTP archive, and plays them back without it.
///
/// ```swift
/// let cassette = Cassette("login.har", mode: .once)
/// let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { cassette }))
/// let (data, _) = try await session.data(from: url)
/// try cassette.eject()
/// ```
///
/// In tests, the trait `.cassette("login")` of `WaylayTesting` makes one for each, ejects it and reports its
/// ``issues``.
///
/// A request is answered by the first entry that is for it, as far as ``Options/matching`` says, and that has not been
/// played: identical requests get their answers in the order in which they were recorded, and one more fails. A
/// request that failed when it was recorded fails again.
///
/// What is a secret by ``Options/redaction`` is never written. It is taken out of what is asked, too, before that is
/// compared, so a cassette replays with other credentials than those it was recorded with.
///
/// The file of a relative path is looked up beside the source file that makes the cassette, in a folder `Cassettes`, or
/// `__Cassettes__` where that is there; an absolute path is taken as it is. It is written when the cassette is
/// ejected, all of it or nothing: until then what was there stays, also when the process is killed.
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

  /// The name that errors, logs and reports use.
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
  /// Nothing is thrown: what is wrong with the file fails the requests, and is among the ``issues``.
  ///
  /// - Parameters:
  ///   - path: The file; `.har` may be left out.
  ///   - mode: What is recorded. Nothing, unless `WAYLAY_RECORD` says otherwise.
  ///   - options: What is compared, redacted, reported, and how old a recording may be.
  ///   - fileID: Where it is reported: the caller's file.
  ///   - filePath: The same file, with its path, beside which the cassette's is.
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
