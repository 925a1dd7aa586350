extension Failover {
  /// How to continue after an attempt without a response.
  enum Verdict {
    /// Another attempt won the race; nothing was sent.
    case lost
    /// Nothing was sent: try the next address.
    case next
    /// The connection missed its deadline: nothing was sent, and the address may only be slow.
    case late
    /// Bytes were sent, and the request may be repeated: cancel the round's other attempts.
    case again
  }

  /// Classifies a failure and records it.
  ///
  /// - Throws: The error, if no other address would help or the request must not be repeated.
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
          candidate: candidate, begin: begin, duration: clock.time() - begin, error: Self.lateElsewhere,
          outcome: .skipped)
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
    let late = Late(
      candidate: candidate, begin: begin, duration: clock.time() - begin, error: error, outcome: outcome)
    if outcome == .certificateUntrusted, isUnsent {
      log.state.withLock { $0.late.append(late) }
      return .next
    }
    if hasLimit, isUnsent, outcome == .timedOut {
      log.state.withLock { $0.late.append(late) }
      health.late(candidate, at: authority)
      return .late
    }
    if outcome == .handshakeFailed, isUnsent, request.method == .connect {
      // The address may accept the handshake of another client.
      health.late(candidate, at: authority)
      note(candidate, outcome, since: begin, error: error)
      return .next
    }
    hold(outcome, against: candidate, since: begin, error: error, wasVerified: isSecure && !isUnsent)
    if isUnsent { return .next }
    guard isRepeatable else { throw error }
    return .again
  }

  /// Accepts or rejects a response.
  ///
  /// - Returns: `nil` if the response was rejected and the request may be repeated.
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

  /// Watches the body: if it is cut off or stalls, later requests prefer other addresses. This request cannot change
  /// its address any more.
  private func watched(_ response: InterceptedResponse, of candidate: HostCandidate) -> InterceptedResponse {
    guard response.body.inMemory == nil, let limit = giveUpLimit else { return response }
    var response = response
    response.body = response.body.relayed { [clock, health, authority] chunks in
      let begin = clock.time()
      do { return try await chunks.next() } catch {
        let isGivenUp = error is CancellationError || Task.isCancelled
        // A reader that gives up after a short wait says nothing about the address.
        if isGivenUp ? clock.time() - begin >= limit : OpenEnum<HostAttempt>(error) != nil {
          health.demoted(candidate, at: authority)
        }
        throw error
      }
    }
    return response
  }

  /// Records the late attempts. If another address responded, an address that was too slow for this network is banned,
  /// and one that was only slower is not; otherwise the network itself may be the cause, and no address is blamed.
  /// Likewise, an untrusted certificate counts against its address only if another address responded; otherwise this
  /// machine may lack the authority.
  func settleLate(afterResponseIn handshake: Duration?, hasResponse: Bool) {
    for late in log.takeLate() {
      var (ban, outcome): (AddressBan?, _) = (nil, late.outcome)
      switch outcome {
      case .certificateUntrusted:
        if hasResponse { outcome = .certificateRefused }
        ban = self.ban(late.candidate, outcome, since: late.begin)
      case .timedOut where hasResponse:
        let limit = max(health.deadline(of: late.candidate, at: authority), (handshake ?? .zero) * 4)
        if late.duration >= limit {
          ban = self.ban(late.candidate, outcome, since: late.begin)
        } else {
          health.superseded(late.candidate, at: authority, after: late.duration)
        }
      default: break
      }
      note(late.candidate, outcome, since: late.begin, lasting: late.duration, error: late.error, ban: ban)
    }
  }

  private static let lateElsewhere = TransportError(
    .timedOut, phase: .connecting, requestBytesSent: 0,
    message: "another request that tried this address did not connect in time.")

  /// Bans an address, and closes its idle connections.
  ///
  /// - Returns: The ban; `nil` if another request has caused one since this attempt began.
  func ban(_ candidate: HostCandidate, _ outcome: OpenEnum<HostAttempt>, since begin: Duration) -> AddressBan? {
    // A failure due to a change of the network says nothing about the address in the new network.
    guard health.epoch == epoch, let ban = health.failed(candidate, at: authority, outcome, since: begin) else {
      return nil
    }
    transport?.closeIdleConnections(to: candidate.address.literal, port: candidate.port)
    return ban
  }

  /// Counts a failure against an address. After a verified certificate it is only demoted, not banned: the server may
  /// have failed on this request alone.
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
  /// The app's error when no address responded: the most specific failure, with all attempts beneath.
  func allFailed() -> URLError {
    let attempts = log.attempts
    let error = HostError(
      allFailed: attempts, host: authority.host.description, fallbackRefusal: log.state.withLock { $0.fallbackRefusal })
    return error.urlError(Self.code(of: attempts), of: request)
  }

  /// Converts the load's own timeout to an error that lists the attempts. The load retains this closure, so the closure
  /// must not retain the load.
  var timeoutError: @Sendable (WaylayError) -> any Error {
    { [log, clock, start, authority] timeout in
      HostError(timedOut: log.table(start: start, now: clock.time()), host: authority.host.description, timeout)
    }
  }

  /// Whether the request may be sent again: it is idempotent, or no byte of it was sent.
  static func allowsAnotherTry(after error: any Error, of request: InterceptedRequest) -> Bool {
    guard request.body.isReplayable, !(error is CancellationError) else { return false }
    if request.isIdempotent { return true }
    let cause = (error as? URLError)?.cause(as: HostError.self)
    let errors = cause.map { $0.attempts.map(\.error) } ?? [error]
    return errors.allSatisfy { ($0 as? TransportError)?.requestBytesSent == 0 }
  }

  /// Prefers the most specific failure: a wrong certificate says more than an address that does not respond.
  static func code(of attempts: [HostAttempt]) -> URLError.Code {
    let failures = attempts.filter { $0.finding.isAddressFault || $0.outcome == .failed }
    let telling =
      failures.last { $0.finding == .certificateRefused } ?? failures.last { $0.finding == .certificateUntrusted }
      ?? failures.last { $0.finding.isSuspectedHijack } ?? failures.last { $0.finding == .handshakeFailed }
      ?? failures.last { $0.error is TransportError }
      ?? failures.last
    if let error = telling?.error as? TransportError { return error.urlErrorCode }
    return telling?.finding == .responseRejected ? .badServerResponse : .timedOut
  }
}

extension HostAttempt {
  /// The outcome for the address; for a skipped attempt, the outcome of the other request's attempt.
  var finding: OpenEnum<HostAttempt> {
    outcome == .skipped ? error.flatMap(OpenEnum<HostAttempt>.init) ?? .skipped : outcome
  }
}

extension HostError {
  /// No address responded.
  init(allFailed attempts: [HostAttempt], host: String, fallbackRefusal: String? = nil) {
    let hint =
      attempts.contains(where: \.finding.isSuspectedHijack)
      ? " Another server may be posing as the host: compare the addresses with those its owner publishes." : ""
    let held = fallbackRefusal.map { " The system's resolver was not used: \($0)." } ?? ""
    let story = Self.story(of: attempts, orElse: "there is none")
    self.init(.allAddressesFailed, "no address of \(host) answered: \(story).\(hint)\(held)", host: host)
    self.attempts = attempts
  }

  /// The request's own timeout expired before an address responded.
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
