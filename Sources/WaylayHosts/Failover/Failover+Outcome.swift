extension Failover {
  /// What is to be done after an attempt has ended without a response.
  enum Verdict {
    /// Another attempt was first; nothing was sent.
    case lost
    /// Another address may be tried: nothing was sent.
    case next
    /// It was not connected in the time that it had: nothing was sent, and it may only be slow.
    case late
    /// Something was sent, and may be sent again: all other attempts of the round end.
    case again
  }

  /// Judges a failure and writes it down.
  ///
  /// - Throws: The error, where no other address would help or the request must not be sent again.
  func judge(
    _ error: any Error, of candidate: HostCandidate, since begin: Duration, sentAt: Duration?, gate: DialGate?,
    hasLimit: Bool = false
  ) throws -> Verdict {
    guard !Task.isCancelled, !(error is CancellationError) else {
      if let route = gate?.claimedRoute {
        if route.address == candidate.address.literal, route.port == candidate.port {
          wasGivenUp(candidate, since: sentAt ?? begin, isSent: true)
        }
      } else {
        wasGivenUp(candidate, since: begin, isSent: gate == nil)
      }
      throw CancellationError()
    }
    if let skipped = error as? Skipped {
      guard let found = skipped.error else {
        let late = Late(
          candidate: candidate, begin: begin, duration: clock.time() - begin, error: Self.lateElsewhere, isOwn: false)
        log.state.withLock { $0.late.append(late) }
        return .late
      }
      note(candidate, .skipped, since: begin, error: found)
      return .next
    }
    if gate != nil, let error = error as? TransportError, error.code == .cancelled, error.requestBytesSent == 0 {
      note(candidate, .superseded, since: begin)
      return .lost
    }
    guard let outcome = OpenEnum<HostAttempt>(error) else {
      note(candidate, .failed, since: begin, error: error)
      throw error
    }
    let isUnsent = (error as? TransportError)?.requestBytesSent == 0
    if hasLimit, isUnsent, outcome == .timedOut {
      let late = Late(candidate: candidate, begin: begin, duration: clock.time() - begin, error: error)
      log.state.withLock { $0.late.append(late) }
      health.late(candidate, at: authority)
      return .late
    }
    hold(outcome, against: candidate, since: begin, error: error, wasVerified: isSecure && !isUnsent)
    if isUnsent { return .next }
    guard isRepeatable else { throw error }
    return .again
  }

  /// Takes a response, or rejects it.
  ///
  /// - Returns: `nil` when it was rejected and the request may be sent again.
  func accept(
    _ response: InterceptedResponse, of candidate: HostCandidate, since begin: Duration
  ) throws -> InterceptedResponse? {
    if let rejection = rejection(of: response) {
      hold(.responseRejected, against: candidate, since: begin, error: rejection, wasVerified: false)
      guard isRepeatable else { throw allFailed() }
      return nil
    }
    log.state.withLock { $0.respondedBy = candidate }
    let metrics = response.metrics
    let handshake = metrics?.isConnectionReused == false ? metrics?.secureConnection ?? metrics?.connect : nil
    health.responded(candidate, at: authority, handshake: handshake)
    settleLate(afterResponseIn: handshake, hasResponse: true)
    return watched(response, of: candidate)
  }

  /// An address whose body is cut off or stalls is not trusted by the next request; this one cannot go to another
  /// address any more.
  private func watched(_ response: InterceptedResponse, of candidate: HostCandidate) -> InterceptedResponse {
    guard response.body.inMemory == nil, let limit = giveUpLimit else { return response }
    let watch = BodyWatch(response.body, clock: clock, limit: limit) { [health, authority] in
      health.demoted(candidate, at: authority)
    }
    var response = response
    response.body = .relaying(response.body, length: response.body.length) { try await watch.next() }
    return response
  }

  /// Writes the late attempts down. Once another address has answered, an address that was too slow for this network is
  /// banned, and one that was only slower is not; until then it is unknown whose fault it is.
  func settleLate(afterResponseIn handshake: Duration?, hasResponse: Bool) {
    for late in log.takeLate() {
      var ban: AddressBan?
      if !late.isOwn {
        note(late.candidate, .skipped, since: late.begin, lasting: late.duration, error: late.error)
        continue
      }
      if hasResponse, late.duration >= max(health.deadline(of: late.candidate, at: authority), (handshake ?? .zero) * 4)
      {
        ban = self.ban(late.candidate, .timedOut, since: late.begin)
      } else if hasResponse {
        health.superseded(late.candidate, at: authority, after: late.duration)
      }
      note(late.candidate, .timedOut, since: late.begin, lasting: late.duration, error: late.error, ban: ban)
    }
  }

  private static let lateElsewhere = TransportError(
    .timedOut, phase: .connecting, requestBytesSent: 0,
    message: "another request that tried this address did not connect in time.")

  /// Bans an address, and closes its idle connections.
  ///
  /// - Returns: The ban, unless another request has had it banned since this attempt began.
  func ban(_ candidate: HostCandidate, _ outcome: OpenEnum<HostAttempt>, since begin: Duration) -> AddressBan? {
    // What fails because the network has gone says nothing of the address in the next one.
    guard health.epoch == epoch, let ban = health.failed(candidate, at: authority, outcome, since: begin) else {
      return nil
    }
    transport?.closeIdleConnections(to: candidate.address.literal, port: candidate.port)
    return ban
  }

  /// Holds a failure against an address. One whose certificate was verified is not banned: its server may have failed
  /// on this request alone.
  private func hold(
    _ outcome: OpenEnum<HostAttempt>, against candidate: HostCandidate, since begin: Duration, error: any Error,
    wasVerified: Bool
  ) {
    guard !wasVerified else {
      if health.epoch == epoch { health.demoted(candidate, at: authority) }
      return note(candidate, outcome, since: begin, error: error)
    }
    note(candidate, outcome, since: begin, error: error, ban: ban(candidate, outcome, since: begin))
  }
}

extension Failover {
  /// What the app sees when nothing has answered: the most telling of the failures, with all of them beneath.
  func allFailed() -> URLError {
    let attempts = log.attempts
    let error = HostError(
      allFailed: attempts, host: authority.host.description, fallbackRefusal: log.state.withLock { $0.fallbackRefusal })
    return error.urlError(Self.code(of: attempts), of: request)
  }

  /// What the load's own timeout becomes: an error that tells what was tried until then. The load holds it, so it holds
  /// nothing of the load.
  var timeoutError: @Sendable (WaylayError) -> any Error {
    { [log, clock, start, authority] timeout in
      HostError(timedOut: log.table(start: start, now: clock.time()), host: authority.host.description, timeout)
    }
  }

  /// Whether a request that has failed may be sent again: it may be repeated, or nothing of it was sent.
  static func allowsAnotherTry(after error: any Error, of request: InterceptedRequest) -> Bool {
    guard request.body.isReplayable, !(error is CancellationError) else { return false }
    if request.isIdempotent { return true }
    let cause = (error as? URLError)?.cause(as: HostError.self)
    let errors = cause.map { $0.attempts.map(\.error) } ?? [error]
    return errors.allSatisfy { ($0 as? TransportError)?.requestBytesSent == 0 }
  }

  /// A wrong certificate says more than an address that does not answer.
  static func code(of attempts: [HostAttempt]) -> URLError.Code {
    let failures = attempts.filter { $0.finding.isAddressFault || $0.outcome == .failed }
    let telling =
      failures.last { $0.finding == .certificateRefused } ?? failures.last { $0.finding.isSuspectedHijack }
      ?? failures.last { $0.finding == .handshakeFailed } ?? failures.last { $0.error is TransportError }
      ?? failures.last
    if let error = telling?.error as? TransportError { return error.urlErrorCode }
    return telling?.finding == .responseRejected ? .badServerResponse : .timedOut
  }
}

extension HostAttempt {
  /// What is known of the address: what another request has found, where this one has skipped it.
  var finding: OpenEnum<HostAttempt> {
    outcome == .skipped ? error.flatMap(OpenEnum<HostAttempt>.init) ?? .skipped : outcome
  }
}

extension HostError {
  /// No address has answered.
  init(allFailed attempts: [HostAttempt], host: String, fallbackRefusal: String? = nil) {
    let hint =
      attempts.contains(where: \.finding.isSuspectedHijack)
      ? " Another server may be posing as the host: compare the addresses with those its owner publishes." : ""
    let held = fallbackRefusal.map { " The system's way was not taken: \($0)." } ?? ""
    let story = Self.story(of: attempts, orElse: "there is none")
    self.init(.allAddressesFailed, "no address of \(host) answered: \(story).\(hint)\(held)", host: host)
    self.attempts = attempts
  }

  /// The request's own timeout was over before an address had answered.
  init(timedOut attempts: [HostAttempt], host: String, _ timeout: WaylayError) {
    let story = Self.story(of: attempts, orElse: "none was tried yet")
    self.init(
      .timedOut, "the request timed out before an address of \(host) answered: \(story).", host: host,
      underlying: timeout)
    self.attempts = attempts
  }

  private static func story(of attempts: [HostAttempt], orElse none: String) -> String {
    attempts.isEmpty ? none : attempts.map(\.description).joined(separator: "; ")
  }
}

/// Reads a body, and reports a fault of its address when the body is cut off, or stalls until the reader gives up.
final class BodyWatch: @unchecked Sendable {
  // Unchecked: used by one reader at a time, like any iterator.
  private var chunks: MessageBody.AsyncIterator
  private let clock: HostClock
  /// How long a part of the body may take before giving up counts against the address.
  private let limit: Duration
  private let fault: @Sendable () -> Void

  init(_ body: MessageBody, clock: HostClock, limit: Duration, fault: @escaping @Sendable () -> Void) {
    chunks = body.makeAsyncIterator()
    self.clock = clock
    self.limit = limit
    self.fault = fault
  }

  func next() async throws -> Data? {
    let begin = clock.time()
    do {
      return try await chunks.next()
    } catch {
      let isGivenUp = error is CancellationError || Task.isCancelled
      if isGivenUp ? clock.time() - begin >= limit : OpenEnum<HostAttempt>(error) != nil { fault() }
      throw error
    }
  }
}
