import Foundation
import IssueReporting
import WaylayHAR
import WaylayRecording

extension Cassette {
  /// Sends a request on, and writes down what becomes of it. What passes is not held up, and not held back.
  func record(_ request: InterceptedRequest, _ next: InterceptorChain.Next) async throws -> InterceptedResponse {
    let slot = state.withLock { state -> Int? in
      guard !state.isEjected else { return nil }
      state.recorded.append(nil)
      return state.recorded.count - 1
    }
    guard let slot else {
      throw MockError(
        .unmatched, "\(file.lastPathComponent) was ejected, and no longer records: eject it after the last request.",
        location: location
      ).urlError(for: request)
    }
    var request = request
    let sent = BodyCopy(limit: options.bodyLimit)
    if let data = request.body.inMemory {
      sent.add(data)
    } else if request.body.isReplayable {
      // It may be asked for again beneath, for another attempt: it stays what it is, and is read once for itself.
      try await sent.add(all: request.body)
    } else {
      request.body = request.body.copied(to: sent)
    }
    let exchange = RecordedExchange(self, slot: slot, request, sent)
    state.withLock { $0.open[slot] = exchange }
    do {
      let response = try await next(request)
      return exchange.answered(response)
    } catch {
      exchange.end(.failed(error))
      throw error
    }
  }

  /// Writes down an exchange that has ended.
  fileprivate func store(_ entry: HAR.Entry, in slot: Int, isWhole: Bool) {
    let tooLarge =
      isWhole
      ? nil
      : MockError(
        .bodyTooLarge,
        "The exchange \(entry.request.method) \(shown(entry.request.url)) has a body of more than "
          + "\(options.bodyLimit) bytes, so nothing was recorded in \(file.lastPathComponent): raise "
          + "Cassette.Options.bodyLimit, or keep the request out of the cassette. An existing file is unchanged.",
        location: location)
    state.withLock { state in
      state.recorded[slot] = entry
      state.open[slot] = nil
      if let tooLarge, state.defect == nil { state.defect = tooLarge }
    }
  }

  private func shown(_ url: String) -> String { URL(string: url).map { Redaction.shown($0) } ?? "" }
}

/// The bytes of a body that passes, as many as may be kept.
final class BodyCopy: Sendable {
  private let seen = Locked<(data: Data, size: Int, pieces: [HAR.Body.Piece])>((Data(), 0, []))
  private let limit: Int
  private let stopwatch: Stopwatch?

  /// - Parameter stopwatch: Notes when each piece comes.
  init(limit: Int, _ stopwatch: Stopwatch? = nil) {
    self.limit = limit
    self.stopwatch = stopwatch
  }

  func add(_ chunk: Data) {
    let time = stopwatch?.elapsed().milliseconds
    seen.withLock { seen in
      seen.size = seen.size.saturating(adding: chunk.count)
      if seen.size <= limit { seen.data.append(chunk) } else { seen.data = Data() }
      guard let time, !chunk.isEmpty, seen.size <= limit else { return }
      // What comes after so many belongs to the last.
      if seen.pieces.count < 65_536 {
        seen.pieces.append(HAR.Body.Piece(time: time, size: chunk.count))
      } else {
        seen.pieces[seen.pieces.count - 1].size += chunk.count
      }
    }
  }

  /// Reads a body; one that is too large not to its end.
  func add(all body: MessageBody) async throws {
    for try await chunk in body {
      add(chunk)
      guard isWhole else { return }
    }
  }

  var isWhole: Bool { seen.withLock { $0.size <= limit } }

  var body: SeenBody { seen.withLock { SeenBody($0.data, size: $0.size, pieces: $0.pieces) } }
}

extension MessageBody {
  /// The same bytes, which are copied as they are read. It can be read once.
  ///
  /// - Parameter exchange: Told of the end, of an error, and of a body that is released before.
  func copied(to copy: BodyCopy, of exchange: RecordedExchange? = nil) -> MessageBody {
    let reader = CopyingReader(self, copy, exchange)
    return .relaying(self, length: length) { try await reader.next() }
  }
}

private final class CopyingReader: @unchecked Sendable {
  // Unchecked: used by one reader at a time, like any iterator; the body that it hands on can be read once.
  private var chunks: MessageBody.AsyncIterator
  private let copy: BodyCopy
  private let exchange: RecordedExchange?

  init(_ body: MessageBody, _ copy: BodyCopy, _ exchange: RecordedExchange?) {
    chunks = body.makeAsyncIterator()
    self.copy = copy
    self.exchange = exchange
  }

  deinit {
    exchange?.end(.abandoned)
  }

  func next() async throws -> Data? {
    do {
      guard let chunk = try await chunks.next() else {
        exchange?.end(.complete)
        return nil
      }
      copy.add(chunk)
      return chunk
    } catch {
      exchange?.end(.failed(error))
      throw error
    }
  }
}

/// One exchange on its way.
final class RecordedExchange: Sendable {
  enum End {
    case complete
    /// Nobody has read further.
    case abandoned
    case failed(any Error)
  }

  private struct State {
    var response: InterceptedResponse?
    var head: Duration?
    var isOver = false
  }

  private let cassette: Cassette
  private let slot: Int
  private let request: InterceptedRequest
  private let sent: BodyCopy
  private let received: BodyCopy
  private let started: Date
  private let stopwatch: Stopwatch
  private let state = Locked(State())

  init(_ cassette: Cassette, slot: Int, _ request: InterceptedRequest, _ sent: BodyCopy) {
    self.cassette = cassette
    self.slot = slot
    self.request = request
    self.sent = sent
    started = cassette.options.now()
    stopwatch = Stopwatch(cassette.options.clock)
    received = BodyCopy(limit: cassette.options.bodyLimit, stopwatch)
  }

  /// The response for the app.
  func answered(_ response: InterceptedResponse) -> InterceptedResponse {
    let head = stopwatch.elapsed()
    state.withLock { state in
      state.response = response
      state.head = head
    }
    if let data = response.body.inMemory {
      received.add(data)
      end(.complete)
      return response
    }
    var copied = response
    copied.body = response.body.copied(to: received, of: self)
    return copied
  }

  func end(_ end: End) {
    let elapsed = stopwatch.elapsed()
    // Until it is stored: who finds that it is over finds it in the cassette. The body that the response has holds a
    // connection, and is released afterwards.
    let response = state.withLock { state -> InterceptedResponse? in
      guard !state.isOver else { return nil }
      state.isOver = true
      var entry = HAR.Entry(
        request, body: sent.body, state.response, responseBody: received.body, started: started, head: state.head,
        elapsed: elapsed)
      switch end {
      case .complete: break
      case .abandoned: entry.abandon()
      case .failed(let error): entry.fail(error)
      }
      cassette.store(entry, in: slot, isWhole: sent.isWhole && received.isWhole)
      defer { state.response = nil }
      return state.response
    }
    _ = response
  }

  /// Ends it, if it has its response, though nobody has said that the body is left: that is noticed some time later.
  func leave() {
    if state.withLock({ $0.response != nil || $0.isOver }) { end(.abandoned) }
  }
}

extension Cassette {
  /// The problems found: requests without a matching entry, a file that is missing, expired or unreadable, and entries
  /// that were never requested.
  ///
  /// Read it when everything that uses the cassette is done.
  public var issues: [MockIssue] {
    let (noted, unused) = state.withLock { ($0.issues, $0.tracks.filter { $0.uses == 0 }) }
    if state.withLock({ $0.fresh != nil }) {
      let message =
        "\(file.lastPathComponent) was to be compared with what the server says, and nobody did: use .cassette or "
        + "withCassette of WaylayTesting, or waylay har diff."
      return noted + [MockIssue(kind: .notRecorded, message: message, location: location)]
    }
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
  /// Call it after all requests have ended: a request without a response is not recorded, and is among the ``issues``.
  /// Of a response that nobody has read to its end, it records what has arrived; playing it back ends there with an error.
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
        MockIssue(
          kind: .notRecorded,
          message:
            "A request was still running when \(file.lastPathComponent) was ejected, and was not recorded: in the "
            + "test, wait for the work it starts.", location: location))
    }
    let written = options.willWrite.map { recorded.compactMap($0) } ?? recorded
    if role.compares { return state.withLock { $0.fresh = written } }
    let pruned = options.unused == .prune && claim != nil ? Set(unused) : []
    guard !recorded.isEmpty || !pruned.isEmpty else { return }
    var archive = role.plays ? archive : HAR()
    let kept = archive.entries.indices.filter { !pruned.contains($0 + 1) }.map { archive.entries[$0] }
    var report = RedactionReport()
    archive.entries = options.redaction.redacted(kept + written, report: &report)
    if options.comparesBodies, !report.changedBodies.isEmpty {
      note(
        MockIssue(
          kind: .redacted,
          message:
            "\(file.lastPathComponent) compares bodies, and secrets were removed from them: requests that differ in their "
            + "secrets alone get the same response.\n\(report)", location: location, isWarning: true))
    }
    do { try CassetteFile.replace(file, by: archive.data(), version, calls) } catch {
      throw error.located(at: location)
    }
  }

  /// Ends the recording without writing anything: for a test that has failed half-way.
  package func discard() {
    if close() != nil { claim?.release() }
  }

  /// What the file holds, and what the server said instead of it; `nil` for a cassette that does not compare, or has not
  /// ended. Whoever asks reports it.
  package func comparison() -> (old: [HAR.Entry], new: [HAR.Entry])? {
    let fresh = state.withLock { state in
      defer { state.fresh = nil }
      return state.fresh
    }
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

extension Cassette.Options {
  /// Whether requests are told apart by their bodies, or by what is in them.
  fileprivate var comparesBodies: Bool {
    matching.contains { aspect in
      switch aspect.kind {
      case .body, .json, .field: true
      default: false
      }
    }
  }
}
