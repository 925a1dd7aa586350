import Foundation
import WaylayHAR
import WaylayRecording

extension Cassette {
  /// `true`: requests of interceptors are played or recorded, too.
  public var takesPartInNestedRequests: Bool { true }

  /// Plays the entry that matches a request, or records the exchange.
  ///
  /// - Throws: A `URLError` with a ``MockError`` beneath it if no entry matches the request; the recorded error of a
  ///   failed exchange; while recording, any error of the rest of the chain.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    if let defect = role.defect { throw defect.urlError(for: request) }
    guard role.plays else { return try await record(request, next) }
    var request = request
    let body = try await request.collectBody(
      upTo: options.bodyLimit, at: location,
      tooLarge: "The request's body exceeds the \(options.bodyLimit) bytes that the cassette reads: raise "
        + "Cassette.Options.bodyLimit.")
    let asked = ComparedRequest(request, body: body, options, isRedacted: isRedacted)
    if let track = take(asked) {
      compare(asked, with: track)
      return try await play(track, to: request)
    }
    if role.records { return try await record(request, next) }
    let error = state.withLock { miss(asked, in: $0) }
    note(error.code == .exhausted ? .exhausted : .unmatched, error.message)
    throw error.urlError(for: request)
  }

  /// Claims an unused entry for a request, atomically: two concurrent requests never get the same entry.
  func take(_ asked: ComparedRequest) -> Track? {
    guard let taken = state.withLock({ $0.take(asked, options) }) else { return nil }
    if !taken.choice.isEmpty { noteChoice(taken.track, taken.choice) }
    if !taken.changed.isEmpty {
      note(
        .redacted,
        "\(taken.track) was played to another value than before in place of a hidden one "
          + "(\(taken.changed.sorted().joined(separator: ", "))), because no other entry fits: a refreshed token, or another "
          + "user?", isWarning: true)
    }
    return taken.track
  }

  /// Notes that entries differ only in hidden values.
  func noteChoice(_ track: Track, _ places: Set<String>, isWarning: Bool = false) {
    note(
      .redacted,
      """
      \(file.lastPathComponent) has several entries for \(track.question.method) \(Redaction.shown(track.question.url.url)) \
      that differ only in hidden values (\(places.sorted().joined(separator: ", "))): a request does not tell which is \
      meant, and gets the first. Name the values, and record again (WAYLAY_RECORD=all swift test):
        options.redaction.hide(value: "…", as: "USER-A")
      """, isWarning: isWarning)
  }

  private func play(_ track: Track, to request: InterceptedRequest) async throws -> InterceptedResponse {
    if let missing = track.missingBody {
      let message =
        "The cassette \(file.lastPathComponent) lacks \(missing) of the body of \(track): export it with bodies, put the "
        + "file that the entry names (_file) beside it, or re-record it: WAYLAY_RECORD=all swift test."
      let isEmpty = track.entry.response.body.data.isEmpty
      note(.invalidCassette, message, isWarning: !isEmpty)
      if isEmpty { throw MockError(.unreadableFile, message, location: location).urlError(for: request) }
    }
    let timings = track.entry.timings
    let stopwatch = Stopwatch(options.clock)
    let scale = options.timeScale > 0 ? options.timeScale : 0
    let total = Duration.ofSeconds(timings.total / 1000 * scale)
    let head = Duration.ofSeconds(max(0, timings.total - timings.receive) / 1000 * scale)
    let failure = track.failure(of: request)
    guard var response = InterceptedResponse(track.entry.response, to: request, source: .cassette) else {
      try await stopwatch.sleep(until: total)
      throw failure ?? Track.silence(request)
    }
    response.dropCoding(of: request)
    try await stopwatch.sleep(until: head)
    var timing = MockTiming()
    timing.chunking = options.chunking
    let body = track.entry.response.body
    if total > head { timing.schedule = body.pieces.map { .ofSeconds($0.time / 1000 * scale) } }
    if total > head, timing.schedule.isEmpty { timing.total = total }
    guard timing.pacesBody || failure != nil else { return response }
    let length = body.data.count
    let pace = timing.pace(stopwatch, length: Int64(length), SeededRandom(seed: 0))
    let fault = failure.map { NetworkFault.Body(bytes: length, ending: .error($0)) }
    response.body = PacedBody.body(response.body, pace: pace, fault: fault)
    return response
  }

  /// Notes an issue if the body differs from the recorded one, although the entry matches.
  private func compare(_ asked: ComparedRequest, with track: Track) {
    // Some programs record a body's size without its text.
    let isKnown = !track.question.body.isEmpty || track.entry.request.bodySize ?? 0 <= 0
    guard isKnown, options.matcher == nil, !options.ignored.contains(.body), !track.accepts(asked, [.body]) else {
      return
    }
    let message = asked.reporting {
      """
      The body of \(asked.method) \(Redaction.shown(asked.url.url)) differs from the recorded one. The cassette \
      \(file.lastPathComponent) answered it nevertheless, with \(track):
      \(track.mismatches(asked, [.body]).lines)
      Re-record it (WAYLAY_RECORD=all swift test), say what may differ (Cassette.Options.ignoring), or make it a \
      failure (Cassette.Options.matching.insert(.body)).
      """
    }
    note(.differing, message, isWarning: true)
  }

  func note(_ kind: OpenEnum<MockIssue>, _ message: String, isWarning: Bool = false) {
    let issue = MockIssue(kind: kind, message: message, location: location, isWarning: isWarning)
    state.withLock { $0.issues.append(issue) }
  }
}

extension InterceptedResponse {
  /// HAR files store decoded bodies.
  fileprivate mutating func dropCoding(of request: InterceptedRequest) {
    guard request.method != .head, fields[.contentEncoding] != nil else { return }
    fields[.contentEncoding] = nil
    fields[.contentLength] = nil
  }
}

extension Cassette: GuardingInterceptor {
  /// Refuses a WebSocket task: it bypasses every chain on its way to the network, so it can be neither recorded nor
  /// played.
  public func validate(webSocket request: URLRequest) throws {
    let url = request.url.map { Redaction.shown($0) } ?? "no URL"
    let message = """
      The WebSocket \(url) can neither be recorded nor played: it bypasses all interceptors, so it was refused, and \
      nothing was sent. Inject whatever opens WebSockets into the code under test.
      """
    // Apple's loading system calls this several times per task; the set holds the issue once.
    state.withLock { _ = $0.issues.insert(MockIssue(kind: .unmatched, message: message, location: location)) }
    throw MockError(.unmatched, message, location: location)
  }
}

// A failed exchange has Chrome's `_error` (text) and our own field `_failure` (code, phase, bytes sent).

extension HAR.Entry {
  /// Records the failure in the entry's extension fields.
  mutating func fail(_ error: any Error) {
    let transport = error.first(as: TransportError.self)
    let code =
      transport?.urlErrorCode ?? (error as? URLError)?.code ?? (error is CancellationError ? .cancelled : .unknown)
    var failure: [String: JSONValue] = [
      "code": JSONValue(code.rawValue), "message": JSONValue(transport?.message ?? "The load failed."),
    ]
    if let transport {
      failure["cause"] = JSONValue(transport.code.description)
      failure["phase"] = JSONValue(transport.phase.description)
      if let sent = transport.requestBytesSent { failure["bytesSent"] = JSONValue(sent) }
    }
    extensions["_failure"] = JSONValue(failure)
    extensions["_error"] = "URLError \(code.rawValue)"
  }
}

extension Track {
  /// The part of the response's body that the file does not have, if any.
  var missingBody: String? {
    let (response, body) = (entry.response, entry.response.body)
    let isFailure = entry.extensions["_failure"] != nil || entry.extensions["_abandoned"] != nil
    guard !isFailure, question.method != "HEAD", ![204, 205].contains(response.status), !(0..<200 ~= response.status),
      !(300..<400 ~= response.status)
    else { return nil }
    let length = response.headers.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
    let size = body.data.isEmpty ? max(body.size, response.bodySize ?? 0, length) : body.size
    let isNamed = body.data.isEmpty && body.extensions["_file"] != nil
    return size > body.data.count || isNamed ? "\(size - body.data.count) of \(size) bytes" : nil
  }

  /// The recorded failure, if any.
  func failure(of request: InterceptedRequest) -> TransportError? {
    if entry.extensions["_abandoned"]?.bool == true {
      return TransportError(
        .networkConnectionLost, phase: .receiving,
        message: "the response was not read beyond this point when the cassette was recorded: re-record it.")
    }
    if let failure = entry.extensions["_failure"], let number = failure["code"]?.int {
      // On Apple platforms, `URLError.Code(rawValue:)` never fails.
      let code: URLError.Code? = URLError.Code(rawValue: number)
      return TransportError(
        code ?? .unknown, code: failure["cause"]?.string.map { ErrorCode($0) },
        phase: failure["phase"]?.string.map { TransportError.Phase($0) } ?? .unknown,
        requestBytesSent: failure["bytesSent"]?.int.map(Int64.init),
        message: failure["message"]?.string ?? "the exchange failed when it was recorded.")
    }
    let browserError = (entry.extensions["_error"] ?? entry.response.extensions["_error"])?.string
    guard entry.response.status == 0 || browserError != nil else { return nil }
    guard let browserError, !browserError.isEmpty else { return Self.silence(request) }
    return TransportError(
      Self.code(ofBrowser: browserError), message: "the exchange failed when it was recorded: \(browserError)")
  }

  /// The error for an entry without a response.
  static func silence(_ request: InterceptedRequest) -> TransportError {
    TransportError(.networkConnectionLost, message: "there was no response when the cassette was recorded.")
  }

  /// The `URLError` code closest to Chrome's name of the error.
  private static func code(ofBrowser error: String) -> URLError.Code {
    let known: [(String, URLError.Code)] = [
      ("NAME_NOT_RESOLVED", .cannotFindHost), ("CONNECTION_REFUSED", .cannotConnectToHost),
      ("ADDRESS_UNREACHABLE", .cannotConnectToHost), ("CONNECTION_FAILED", .cannotConnectToHost),
      ("INTERNET_DISCONNECTED", .notConnectedToInternet), ("TIMED_OUT", .timedOut),
      ("CERT_DATE_INVALID", .serverCertificateHasBadDate), ("CERT_", .serverCertificateUntrusted),
      ("SSL_", .secureConnectionFailed), ("ABORTED", .cancelled), ("INVALID_RESPONSE", .badServerResponse),
    ]
    return known.first { error.uppercased().contains($0.0) }?.1 ?? .networkConnectionLost
  }
}
