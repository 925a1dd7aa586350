import Foundation
import WaylayHAR

extension Cassette {
  /// What a cassette does.
  struct Role: Sendable {
    var plays = true
    var records = false
    /// Why it does neither.
    var defect: MockError?
  }

  /// Looks at the mode, the environment, the file and its age.
  struct Opening {
    let file: URL
    let options: Options
    let location: MockSourceLocation
    var role = Role()
    var archive = HAR()
    var claim: CassetteFile.Claim?
    var tracks: [Track] = []
    var issues: [MockIssue] = []

    init(file: URL, options: Options, location: MockSourceLocation) {
      self.file = file
      self.options = options
      self.location = location
    }

    mutating func open(_ mode: Mode, environment: [String: String]) {
      do { try tryToOpen(mode, environment) } catch {
        role = Role(plays: false, records: false, defect: error)
        issues.append(MockIssue(kind: .invalidCassette, message: error.message, location: location))
      }
    }

    private mutating func tryToOpen(_ written: Mode, _ environment: [String: String]) throws(MockError) {
      let mode = try effective(written, environment)
      let isThere = FileManager.default.fileExists(atPath: file.path)
      guard isThere || mode != .none else { throw missing(written) }
      role.records = mode == .all || mode == .newEpisodes || mode == .once && !isThere
      role.plays = isThere && mode != .all
      if role.plays { try read() }
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
          .invalidFixture, "WAYLAY_RECORD is \"\(text)\": use once, newEpisodes, all or none.", location: location
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
      // Some programs write entries in another order than that of time.
      let order = archive.entries.indices.sorted {
        (archive.entries[$0].started, $0) < (archive.entries[$1].started, $1)
      }
      tracks = order.compactMap { Track(archive.entries[$0], number: $0 + 1, options.redaction) }
    }

    private mutating func look(at expiry: Expiry, _ mode: Mode) throws(MockError) {
      // Entries without a time are as old as computers are.
      guard let oldest = tracks.map(\.entry.started).filter({ $0.timeIntervalSince1970 > 0 }).min() else { return }
      let age = options.now().timeIntervalSince(oldest)
      guard age > expiry.age else { return }
      let message =
        "The cassette \(file.path) is \(Int(age / 86_400)) days old, and expires after "
        + "\(Int(expiry.age / 86_400)) days. Re-record it: WAYLAY_RECORD=all swift test."
      switch expiry.action {
      case .fail: throw MockError(.expiredCassette, message, location: location)
      case .record where mode != .none:
        role.plays = false
        role.records = true
        tracks = []
      case .warn, .record:
        issues.append(MockIssue(kind: .expired, message: message, location: location, isWarning: true))
      }
    }
  }
}
