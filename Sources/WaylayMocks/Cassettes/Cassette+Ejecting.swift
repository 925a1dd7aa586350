import Foundation
import IssueReporting
import WaylayHAR

extension Cassette {
  /// The problems found: requests without a matching entry, a file that is missing, expired or unreadable, and entries
  /// that were never requested.
  ///
  /// Read it when everything that uses the cassette is done.
  public var issues: [MockIssue] {
    let (noted, unused) = state.withLock { ($0.issues, $0.tracks.filter { $0.uses == 0 }) }
    guard !unused.isEmpty, options.unused.kind != .ignore, options.unused.kind != .prune || claim == nil else {
      return noted
    }
    let list = unused.prefix(5).map { "\n  \($0)" }.joined() + (unused.count > 5 ? "\n  …" : "")
    let cure =
      options.unused.kind == .prune
      ? "Remove them: WAYLAY_RECORD=newEpisodes swift test."
      : "Re-record it (WAYLAY_RECORD=all swift test), remove them (Cassette.Options.unused = .prune), or ignore them "
        + "(.ignore)."
    let message =
      "\(unused.count) of \(tracksCount) entries of the cassette \(file.lastPathComponent) were not played. "
      + cure + list
    return noted + [
      MockIssue(kind: .unused, message: message, location: location, isWarning: options.unused.kind != .fail)
    ]
  }

  private var tracksCount: Int { state.withLock { $0.tracks.count } }

  /// Reports each of the ``issues`` as a failure of the running test, or as a warning, at the cassette's source
  /// location.
  public func reportIssues() {
    for issue in issues {
      reportIssue(
        issue.message, severity: issue.isWarning ? .warning : .error, fileID: issue.location.fileID,
        filePath: issue.location.filePath, line: issue.location.line, column: issue.location.column)
    }
  }

  /// Ends the recording, and writes the file if there is anything to write.
  ///
  /// Call it after all requests have ended: an exchange still in progress is not recorded, and is among the ``issues``.
  /// A second call does nothing. A cassette that is released without a call does the same, but cannot throw.
  ///
  /// - Throws: ``MockError`` with ``MockError/Code/bodyTooLarge`` or ``MockError/Code/unwritableFile``. An existing
  ///   file stays unchanged.
  public func eject() throws {
    guard let (recorded, unused, isUnfinished, defect) = close() else { return }
    defer { claim?.release() }
    if let defect { throw defect }
    if isUnfinished {
      note(
        MockIssue(
          kind: .notRecorded,
          message:
            "A request was still running when \(file.lastPathComponent) was ejected, and was not recorded: in the "
            + "test, wait for the work it starts.", location: location))
    }
    let pruned = options.unused == .prune && claim != nil ? Set(unused) : []
    guard !recorded.isEmpty || !pruned.isEmpty else { return }
    var archive = role.plays ? archive : HAR()
    let kept = archive.entries.indices.filter { !pruned.contains($0 + 1) }.map { archive.entries[$0] }
    archive.entries = options.redaction.redacted(kept + recorded)
    do { try CassetteFile.replace(file, by: archive.data(), writing) } catch { throw error.located(at: location) }
  }

  /// Ends the recording without writing anything: for a test that has failed half-way.
  package func discard() {
    if close() != nil { claim?.release() }
  }

  private func close() -> (recorded: [HAR.Entry], unused: [Int], isUnfinished: Bool, defect: MockError?)? {
    state.withLock { state in
      guard !state.isEjected else { return nil }
      state.isEjected = true
      defer { state.recorded = state.recorded.map { _ in nil } }
      return (
        state.recorded.compactMap(\.self), state.tracks.filter { $0.uses == 0 }.map(\.number),
        state.recorded.contains { $0 == nil }, state.defect
      )
    }
  }
}
