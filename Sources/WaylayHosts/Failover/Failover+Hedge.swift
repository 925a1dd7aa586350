extension Failover {
  /// The second round, beside an attempt that has been silent for too long.
  enum Hedge {
    case possible
    case running
    case over
  }

  /// How long an address that has the request may be silent before another is tried beside it; `nil` when that is not
  /// wanted. Well within the request's own timeout, so that the other one has time to answer.
  var silence: Duration? {
    policy.silence.map { min($0, timeout / 3) }
  }

  /// How long it has to be silent for giving up to speak against it.
  var giveUpLimit: Duration? {
    policy.silence.map { min($0, timeout * 9 / 10) }
  }

  /// Whether the request may be with two servers at once: it is safe (RFC 9110, section 9.2.1). One that is only
  /// idempotent, such as PUT and DELETE, may be repeated after it has failed, but two of them side by side end in
  /// either order, and a later change may be undone.
  var isHedgeable: Bool {
    request.isSafe && request.body.isReplayable
  }

  /// The request's own timeout; a day for none.
  var timeout: Duration {
    let seconds = request.idleTimeout
    return seconds > 0 && seconds < 86_400 ? .seconds(seconds) : .seconds(86_400)
  }

  /// When the attempt that has taken the request has been silent for too long.
  func silenceEnd(_ attempts: Attempts, _ gate: DialGate) -> Duration? {
    guard let silence, attempts.hedge == .possible, isHedgeable, let index = claimant(attempts, gate) else {
      return nil
    }
    return attempts.running[index].map { $0 + silence }
  }

  /// The attempt that has taken the request and been silent for too long.
  func silent(_ attempts: Attempts, _ gate: DialGate, _ now: Duration) -> Int? {
    guard let end = silenceEnd(attempts, gate), now >= end else { return nil }
    return claimant(attempts, gate)
  }

  func claimant(_ attempts: Attempts, _ gate: DialGate?) -> Int? {
    guard let route = gate?.claimant else { return nil }
    return attempts.running.keys.first { index in
      let candidate = attempts.candidate(index)
      return candidate.address.literal == route.address && candidate.port == route.port
    }
  }

  /// What is tried beside an attempt that is silent: the other candidates; at last its own address on another
  /// connection, if it is on one that was kept and may be dead (after a NAT has forgotten it, for example).
  func hedge(
    _ attempts: Attempts, _ gate: DialGate, _ plan: Plan, _ index: Int
  ) -> (entries: [Ranking.Entry], plan: Plan)? {
    let silent = attempts.entries[index]
    let others = attempts.waiting + attempts.running.keys.filter { $0 != index }.sorted()
    var entries = (others.map { attempts.entries[$0] } + plan.spares).filter { $0.candidate != silent.candidate }
    var next = Plan(stagger: policy.attempts.stagger)
    if gate.isClaimedOnKeptConnection, !plan.fresh.contains(silent.candidate) {
      entries.append(silent)
      next.fresh = plan.fresh.union([silent.candidate])
    }
    return entries.isEmpty ? nil : (entries, next)
  }

  /// Rounds of attempts beside a silent one, until one has answered or all have failed.
  func hedgeRounds(_ entries: [Ranking.Entry], _ plan: Plan) async throws -> Round {
    var entries = entries
    var all: Set<HostCandidate> = []
    while !entries.isEmpty {
      let end = try await round(entries, plan)
      guard case .again(let done) = end, !done.isEmpty else { return end }
      all.formUnion(done)
      entries.removeAll { done.contains($0.candidate) }
    }
    return .again(without: all)
  }

  /// The second round is over: the end of the first, or `nil` when it goes on.
  func hedged(_ result: Result<Round, any Error>, _ attempts: inout Attempts, _ gate: DialGate?) throws -> Round? {
    attempts.hedge = .over
    switch result {
    case .success(.answered(let response)):
      if let index = claimant(attempts, gate), let begin = attempts.running[index] {
        wasSilent(attempts.candidate(index), since: begin, answeredBy: log.answeredBy)
      }
      return .answered(response)
    case .success(.again(let done)):
      attempts.done.formUnion(done)
      return attempts.running.isEmpty ? .again(without: attempts.done) : nil
    case .failure(let error):
      // What was silent may answer yet.
      if Task.isCancelled || attempts.running.isEmpty { throw error }
      return nil
    }
  }

  /// Another connection has answered while this one was silent.
  private func wasSilent(_ candidate: HostCandidate, since begin: Duration, answeredBy other: HostCandidate?) {
    // Nothing comes on it: the transport closes it rather than use it again.
    log.state.withLock { _ = $0.suspects.insert(candidate) }
    guard candidate != other else { return note(candidate, .silent, since: begin) }
    if isSecure {
      // Its certificate was verified: it may be busy with this request alone.
      health.demoted(candidate, at: authority)
      note(candidate, .silent, since: begin)
    } else {
      note(candidate, .silent, since: begin, ban: ban(candidate, .silent, since: begin))
    }
  }

  /// The request was given up by the app, or by its timeout. An address that had it and was silent for long is not
  /// trusted by the next one.
  func wasGivenUp(_ candidate: HostCandidate, since begin: Duration, isSent: Bool) {
    let elapsed = clock.time() - begin
    guard let limit = giveUpLimit, elapsed >= limit else { return }
    if isSent {
      health.demoted(candidate, at: authority)
    } else {
      health.overtaken(candidate, at: authority, after: elapsed)
    }
  }
}
