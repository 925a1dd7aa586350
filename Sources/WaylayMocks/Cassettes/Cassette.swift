import Foundation
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
/// are compared with a file from which some were removed, so a cassette can replay with other credentials than the
/// recorded ones.
///
/// A relative path is resolved in the folder `Cassettes`, or `__Cassettes__` if that exists, next to the source file
/// that makes the cassette; an absolute path is used unchanged. The file is written atomically when the cassette is
/// ejected: until then an existing file stays, even if the process is killed.
public final class Cassette: RequestInterceptor {
  struct State {
    /// Playable entries, oldest first.
    var tracks: [Track] = []
    /// The indexes that find the entry for a request, see ``take(_:_:)``.
    var indexes: [TrackIndex] = []
    /// Recorded entries in the order of their requests; `nil` while the exchange is in flight.
    var recorded: [HAR.Entry?] = []
    /// Exchanges in flight, by their index in ``recorded``.
    var open: [Int: RecordedExchange] = [:]
    var issues: [MockIssue] = []
    /// The live values in place of hidden ones.
    var bindings = Bindings("")
    /// The places at which another value was reported.
    var reported: Set<String> = []
    /// The server's current responses, for a comparison.
    var fresh: [HAR.Entry]?
    /// The reason to discard the recording.
    var defect: MockError?
    var isEjected = false
  }

  /// The name in errors, logs and reports.
  public let name: String
  /// The file.
  public let file: URL
  /// Where the cassette was made.
  public let location: MockSourceLocation
  /// Playing and recording, derived from the mode, `WAYLAY_RECORD`, the file and its age.
  let role: Role
  package let options: Options
  /// The parsed file, including its fields outside the entries.
  let archive: HAR
  /// Whether the file is redacted.
  let isRedacted: Bool
  let claim: CassetteFile.Claim?
  /// Whether the cassette asks the server for a comparison, and keeps the file.
  package var compares: Bool { role.compares }
  let calls: AtomicFile.Calls
  /// The version of the file when it was read.
  let version: AtomicFile.Version?
  let state = Locked(State())

  /// Makes a cassette, and reads its file.
  ///
  /// The initializer does not throw: problems with the file fail the requests, and are among the ``issues``.
  ///
  /// - Parameters:
  ///   - path: The file; the extension `.har` is optional.
  ///   - mode: When to play and when to record. By default it plays only, unless `WAYLAY_RECORD` says otherwise.
  ///   - options: Matching, redaction, issues, and the maximum age of a recording.
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

  /// Makes a cassette at the given source location.
  package init(
    _ path: String, mode: Mode, options: Options, location: MockSourceLocation,
    environment: [String: String] = ProcessInfo.processInfo.environment,
    calls: AtomicFile.Calls = AtomicFile.Calls()
  ) {
    file = CassetteFile.place(of: path, besides: location.filePath.description)
    name = "Cassette \(file.lastPathComponent)"
    self.location = location
    self.options = options
    self.calls = calls
    version = AtomicFile.Version(of: file.path)
    var opening = Opening(file: file, options: options, location: location)
    opening.open(mode, environment: environment)
    role = opening.role
    (archive, isRedacted) = (opening.archive, opening.isRedacted)
    claim = opening.claim
    let (tracks, issues) = (opening.tracks, opening.issues)
    let indexes = TrackIndex.all(tracks, matching: options.matching)
    let bindings = Bindings(options.redaction.replacement)
    state.withLock { ($0.tracks, $0.indexes, $0.bindings, $0.issues) = (tracks, indexes, bindings, issues) }
  }

  deinit {
    // A deinitializer cannot throw, so report the error as an issue.
    do { try eject() } catch {
      location.report("\(error)")
    }
  }
}

extension InterceptedResponse.Source {
  /// An entry of a cassette.
  public static let cassette = InterceptedResponse.Source("cassette", storesCookies: true)
}

extension Cassette {
  /// The tasks of a cassette after all settings were evaluated.
  struct Role: Sendable {
    var plays = true
    var records = false
    /// Whether it records for a comparison only.
    var compares = false
    /// The reason why it neither plays nor records.
    var defect: MockError?
  }

  /// Evaluates the mode, the environment, the file and its age.
  struct Opening {
    let file: URL
    let options: Options
    let location: MockSourceLocation
    var role = Role()
    var archive = HAR()
    var isRedacted = true
    var claim: CassetteFile.Claim?
    var tracks: [Track] = []
    var issues: [MockIssue] = []

    mutating func open(_ mode: Mode, environment: [String: String]) {
      do { try tryToOpen(mode, environment) } catch {
        role = Role(plays: false, records: false, defect: error)
        issues.append(MockIssue(kind: .invalidCassette, message: error.message, location: location))
      }
    }

    private mutating func tryToOpen(_ written: Mode, _ environment: [String: String]) throws(MockError) {
      let mode = try effective(written, environment)
      for case .json(let path) in options.ignored.union(options.matching).map(\.kind) {
        do { _ = try JSONPath(path) } catch { throw error.located(at: location) }
      }
      let isThere = FileManager.default.fileExists(atPath: file.path)
      guard isThere || mode != .none && mode != .compare else { throw missing(written) }
      role.compares = mode == .compare
      role.records = mode == .all || mode == .newEpisodes || role.compares || mode == .once && !isThere
      role.plays = isThere && mode != .all
      if role.plays { try read() }
      guard !role.compares else {
        role.plays = false
        tracks = []
        return
      }
      if role.plays, let expiry = options.expiry { try look(at: expiry, mode) }
      let prunes = options.unused == .prune && role.plays && mode != .none
      guard role.records || prunes else { return }
      do { claim = try CassetteFile.Claim(file, at: location) } catch {
        throw MockError(
          .unwritableFile,
          "\(file.lastPathComponent) is already being recorded, by the cassette of \(error.owner): two cassettes that "
            + "record to one file would overwrite each other. Give each its own name, or let both use one Cassette.",
          location: location)
      }
    }

    private func effective(_ written: Mode, _ environment: [String: String]) throws(MockError) -> Mode {
      guard written != .none else { return .none }
      guard let text = environment["WAYLAY_RECORD"], !text.isEmpty else {
        return written == .environment ? .none : written
      }
      guard let mode = Mode(named: text) else {
        throw MockError(
          .invalidMode, "WAYLAY_RECORD is \"\(text)\": use once, newEpisodes, all, compare or none.", location: location
        )
      }
      return mode
    }

    private func missing(_ written: Mode) -> MockError {
      let how =
        written == .none
        ? "Its mode is .none, which never records: add the file, or omit the mode and record it with "
        : "With network access, record it with "
      return MockError(
        .unreadableFile,
        "There is no cassette at \(file.path). \(how)WAYLAY_RECORD=once swift test, and put the file under version "
          + "control.",
        location: location)
    }

    private mutating func read() throws(MockError) {
      do { archive = try HAR(contentsOf: file) } catch {
        let reason = (error as? HARError)?.message ?? "It cannot be read."
        throw MockError(
          .unreadableFile,
          "The cassette \(file.path) cannot be played: \(reason) Re-record it: WAYLAY_RECORD=all swift test.",
          location: location, underlying: error)
      }
      // Some programs write entries out of chronological order.
      let order = archive.entries.indices.sorted {
        (archive.entries[$0].started, $0) < (archive.entries[$1].started, $1)
      }
      isRedacted = archive.entries.contains { $0.isRedacted(by: options.redaction) }
      tracks = order.compactMap { Track(archive.entries[$0], number: $0 + 1, options, isRedacted: isRedacted) }
      for line in archive.unreadEntries {
        let message = "An entry of the cassette \(file.path) is left out: \(line)"
        issues.append(MockIssue(kind: .invalidCassette, message: message, location: location, isWarning: true))
      }
    }

    private mutating func look(at expiry: Expiry, _ mode: Mode) throws(MockError) {
      // Ignore entries without a time (1970).
      guard let oldest = tracks.map(\.entry.started).filter({ $0.timeIntervalSince1970 > 0 }).min() else { return }
      let age = options.now().timeIntervalSince(oldest)
      guard age > expiry.age else { return }
      let message =
        "The cassette \(file.path) has expired: its age in days is \(Int(age / 86_400)), and the limit is "
        + "\(Int(expiry.age / 86_400)). Re-record it: WAYLAY_RECORD=all swift test."
      switch expiry.action {
      case .fail: throw MockError(.expiredCassette, message, location: location)
      case .record where mode != .none:
        role.plays = false
        role.records = true
        tracks = []
      default:
        issues.append(MockIssue(kind: .expired, message: message, location: location, isWarning: true))
      }
    }
  }
}
