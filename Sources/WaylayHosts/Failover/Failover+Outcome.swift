extension Failover {
  /// What is to be done after an attempt has ended without an answer.
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
    _ error: any Error, of candidate: HostCandidate, since begin: Duration, gate: DialGate?, limit: Duration? = nil
  ) throws -> Verdict {
    guard !Task.isCancelled, !(error is CancellationError) else {
      if let route = gate?.claimant {
        if route.address == candidate.address.literal, route.port == candidate.port {
          wasGivenUp(candidate, since: begin, isSent: true)
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
      note(candidate, .overtaken, since: begin)
      return .lost
    }
    guard let outcome = HostAttempt.Outcome(error) else {
      note(candidate, .failed, since: begin, error: error)
      throw error
    }
    let isUnsent = (error as? TransportError)?.requestBytesSent == 0
    if limit != nil, isUnsent, outcome == .timedOut {
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

  /// Takes an answer, or rejects it.
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
    log.state.withLock { $0.answeredBy = candidate }
    let metrics = response.metrics
    let handshake = metrics?.isConnectionReused == false ? metrics?.secureConnection ?? metrics?.connect : nil
    health.answered(candidate, at: authority, handshake: handshake)
    settleLate(afterAnswerIn: handshake, hasAnswer: true)
    return watched(response, of: candidate)
  }

  /// An address whose body is cut or stays away is not trusted by the next request; this one cannot go anywhere else
  /// any more.
  private func watched(_ response: InterceptedResponse, of candidate: HostCandidate) -> InterceptedResponse {
    guard response.body.inMemory == nil, let patience = giveUpLimit else { return response }
    let watch = BodyWatch(response.body, clock: clock, patience: patience) { [health, authority] in
      health.demoted(candidate, at: authority)
    }
    var response = response
    response.body = .relaying(response.body, length: response.body.length) { try await watch.next() }
    return response
  }

  /// Writes the late attempts down. Once another address has answered, an address that was too slow for this network is
  /// banned, and one that was only slower is not; until then nobody is to blame.
  func settleLate(afterAnswerIn handshake: Duration?, hasAnswer: Bool) {
    for late in log.takeLate() {
      var ban: AddressBan?
      if !late.isOwn {
        note(late.candidate, .skipped, since: late.begin, lasting: late.duration, error: late.error)
        continue
      }
      if hasAnswer, late.duration >= max(health.deadline(of: late.candidate, at: authority), (handshake ?? .zero) * 4) {
        ban = self.ban(late.candidate, .timedOut, since: late.begin)
      } else if hasAnswer {
        health.overtaken(late.candidate, at: authority, after: late.duration)
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
  func ban(_ candidate: HostCandidate, _ outcome: HostAttempt.Outcome, since begin: Duration) -> AddressBan? {
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
    _ outcome: HostAttempt.Outcome, against candidate: HostCandidate, since begin: Duration, error: any Error,
    wasVerified: Bool
  ) {
    guard !wasVerified else {
      if health.epoch == epoch { health.demoted(candidate, at: authority) }
      return note(candidate, outcome, since: begin, error: error)
    }
    note(candidate, outcome, since: begin, error: error, ban: ban(candidate, outcome, since: begin))
  }
}
