package import WaylayHAR

extension Cassette {
  /// The problems found: requests without a matching entry, a file that is missing, expired or unreadable, and entries
  /// that were never requested.
  ///
  /// Read it when everything that uses the cassette is done.
  public var issues: [MockIssue] {
    let (noted, tracks) = state.withLock { ($0.issues, $0.tracks) }
    let unused = tracks.filter { $0.uses == 0 }
    if state.withLock({ $0.fresh != nil }) {
      let message =
        "\(file.lastPathComponent) was recorded for a comparison that did not take place: use .cassette or "
        + "withCassette of WaylayTesting, or waylay har diff."
      return noted + [MockIssue(kind: .notRecorded, message: message, location: location)]
    }
    guard !unused.isEmpty, options.unused != .ignore, options.unused != .prune || claim == nil else {
      return noted
    }
    let list = unused.prefix(5).map { "\n  \($0)" }.joined() + (unused.count > 5 ? "\n  …" : "")
    let cure =
      options.unused == .prune
      ? "Remove them: WAYLAY_RECORD=newEpisodes swift test."
      : "Re-record it (WAYLAY_RECORD=all swift test), remove them (Cassette.Options.unused = .prune), or ignore them "
        + "(.ignore)."
    let message =
      "The cassette \(file.lastPathComponent) has entries that were not played: \(unused.count) of \(tracks.count). "
      + cure + list
    return noted + [
      MockIssue(kind: .unused, message: message, location: location, isWarning: options.unused != .fail)
    ]
  }

  /// Reports each of the ``issues`` as a failure of the running test, or as a warning, at the cassette's source
  /// location.
  public func reportIssues() {
    for issue in issues { issue.report() }
  }

  /// Ends the recording, and writes the file if there is anything to write.
  ///
  /// Call it after all requests have ended: a request without a response is not recorded, and is among the ``issues``.
  /// If the app did not read a response to its end, the cassette records the bytes that arrived; playing them ends with
  /// an error.
  /// A second call does nothing. A cassette that is released without a call does the same, but cannot throw.
  ///
  /// - Throws: ``MockError`` with `MockError.bodyTooLarge` or `MockError.unwritableFile`. An existing
  ///   file stays unchanged.
  public func eject() throws {
    guard let (recorded, unused, isUnfinished, defect) = close() else { return }
    defer { claim?.release() }
    if let defect { throw defect }
    if isUnfinished {
      note(
        .notRecorded,
        "A request was still running when \(file.lastPathComponent) was ejected, and was not recorded: in the test, "
          + "wait for the work it starts.")
    }
    let written = options.willWrite.map { recorded.compactMap($0) } ?? recorded
    if role.compares { return state.withLock { $0.fresh = written } }
    let pruned = options.unused == .prune && claim != nil ? Set(unused) : []
    guard !recorded.isEmpty || !pruned.isEmpty else { return }
    var archive = role.plays ? archive : HAR()
    let kept = archive.entries.indices.filter { !pruned.contains($0 + 1) }.map { archive.entries[$0] }
    let known = state.withLock { $0.bindings.numbers }
    let mark = options.redaction.replacement
    let last = archive.data().hiddenNumbers(mark).map(\.number).max() ?? 0
    var report = RedactionReport(HiddenNumbers(after: last, known))
    archive.entries = options.redaction.redacted(kept + written, report: &report)
    let tracks = archive.entries.enumerated().compactMap { Track($1, number: $0 + 1, options, isRedacted: true) }
    let given = archive.entries.flatMap { $0.response.hiddenNumbers(mark) }
    let choices = TrackIndex(tracks, matching: options.matching).choices(given: Set(given))
    for (track, places) in choices.sorted(by: { $0.key < $1.key }) {
      noteChoice(tracks[track], places, isWarning: true)
    }
    do { try CassetteFile.replace(file, by: archive.data(), version, calls) } catch {
      throw error.located(at: location)
    }
  }

  /// Ends the recording without writing a file, for a test that failed.
  package func discard() {
    if close() != nil { claim?.release() }
  }

  /// The recorded entries and the server's current responses; `nil` unless the cassette compares and has been ejected.
  /// The first call takes the result: the caller reports it.
  package func comparison() -> (old: [HAR.Entry], new: [HAR.Entry])? {
    let fresh = state.withLock { $0.fresh.take() }
    return fresh.map { (archive.entries, $0) }
  }

  private func close() -> (recorded: [HAR.Entry], unused: [Int], isUnfinished: Bool, defect: MockError?)? {
    for exchange in state.withLock({ $0.isEjected ? [] : Array($0.open.values) }) { exchange.leave() }
    return state.withLock { state in
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
