extension Failover {
  /// The results of the child tasks of a round.
  private enum Signal: Sendable {
    case timer
    case ended(Int, Tried)
    /// The second round, beside an attempt that has been silent for too long, is over.
    case hedged(Result<Round, any Error>)
  }

  /// The attempts of a round that run and those that wait.
  struct Attempts {
    let entries: [Ranking.Entry]
    var waiting: [Int]
    var running: [Int: Duration] = [:]
    var done: Set<HostCandidate> = []
    /// Those that were connected second: should the first fail before it has sent anything, they are the next.
    var connected: Set<Int> = []
    /// What the stagger counts from; `nil` when the next one is to start at once.
    var lastStart: Duration?
    /// When the timer that runs will go off.
    var alarm: Duration?
    var hedge = Hedge.possible

    init(_ entries: [Ranking.Entry]) {
      self.entries = entries
      waiting = Array(entries.indices)
    }

    func candidate(_ index: Int) -> HostCandidate { entries[index].candidate }
  }

  /// What a round is to do beyond trying its candidates.
  struct RoundOptions {
    /// How long to wait before the next is tried beside those that run; `nil`: one after the other.
    var stagger: Duration?
    /// How long a connection may take; `nil` for what is usual.
    var limit: Duration??
    /// How long a connection may take where nobody else is waiting to be tried.
    var longest: Duration?
    /// Candidates that are tried beside an attempt that is silent, after those of the round.
    var spares: [Ranking.Entry] = []
    /// Addresses that are dialled anew, because a kept connection to them is silent.
    var fresh: Set<HostCandidate> = []
  }

  /// Tries candidates until one has answered, something was sent in vain, or all that run are late.
  func round(_ entries: [Ranking.Entry], _ options: RoundOptions) async throws -> Round {
    let gate = hasGates ? DialGate() : nil
    return try await withThrowingTaskGroup(of: Signal.self) { group in
      defer { group.cancelAll() }
      var attempts = Attempts(entries)
      while true {
        let now = clock.time()
        if let index = startable(attempts, gate, options.stagger, now) {
          attempts.waiting.removeAll { $0 == index }
          attempts.running[index] = now
          attempts.lastStart = now
          let candidate = attempts.candidate(index)
          let limit = options.limit ?? options.longest ?? connectTimeout(of: candidate, attempts, options.stagger)
          let isFresh = options.fresh.contains(candidate)
          group.addTask { .ended(index, await attempt(candidate, gate: gate, limit: limit, isFresh: isFresh)) }
          continue
        }
        if attempts.running.isEmpty, attempts.hedge != .running { return .again(without: attempts.done) }
        if let gate, let index = silent(attempts, gate, now) {
          if let next = hedge(attempts, gate, options, index) {
            attempts.hedge = .running
            attempts.waiting = []
            group.addTask { .hedged(await Self.result { try await hedgeRounds(next.entries, next.options) }) }
          } else {
            attempts.hedge = .over
          }
        }
        if let alarm = dueTime(attempts, gate, options, now), attempts.alarm.map({ alarm < $0 }) ?? true {
          attempts.alarm = alarm
          group.addTask { [clock] in
            try? await clock.sleep(alarm - now)
            return .timer
          }
        }
        switch try await group.next() {
        case nil: return .again(without: attempts.done)
        case .timer: attempts.alarm = nil
        case .ended(let index, let tried):
          guard let end = try end(of: index, tried, &attempts, gate, options) else { continue }
          if case .again(let done) = end, attempts.hedge == .running {
            attempts.done.formUnion(done)
          } else {
            return end
          }
        case .hedged(let result):
          if let end = try hedged(result, &attempts, gate) { return end }
        }
      }
    }
  }

  private static func result(_ work: () async throws -> Round) async -> Result<Round, any Error> {
    do { return .success(try await work()) } catch { return .failure(error) }
  }

  /// The next attempt to start, if one is due.
  private func startable(_ attempts: Attempts, _ gate: DialGate?, _ stagger: Duration?, _ now: Duration) -> Int? {
    guard !attempts.waiting.isEmpty else { return nil }
    if attempts.running.isEmpty { return best(attempts, now) }
    guard let stagger, gate?.isClaimed == false else { return nil }
    return attempts.lastStart.map { now >= $0 + stagger } ?? true ? best(attempts, now) : nil
  }

  /// The best of those that wait, by what is known now: other requests may have found out something since they were
  /// ranked.
  private func best(_ attempts: Attempts, _ now: Duration) -> Int? {
    if let index = attempts.waiting.first(where: attempts.connected.contains) { return index }
    // At first nothing has happened since.
    guard attempts.lastStart != nil || !attempts.done.isEmpty, attempts.waiting.count > 1 else {
      return attempts.waiting.first
    }
    let candidates = attempts.waiting.map(attempts.candidate)
    let first = Ranking(candidates, records: health.records(of: candidates, at: authority), at: now).entries.first?
      .candidate
    return attempts.waiting.first { attempts.candidate($0) == first }
  }

  /// An attempt is over: the end of the round, or `nil` when it goes on.
  private func end(
    of index: Int, _ tried: Tried, _ attempts: inout Attempts, _ gate: DialGate?, _ options: RoundOptions
  ) throws -> Round? {
    let candidate = attempts.candidate(index)
    let begin = attempts.running.removeValue(forKey: index) ?? clock.time()
    switch tried.result {
    case .success(let response):
      guard let answer = try accept(response, of: candidate, since: begin) else {
        tried.probe?.end(
          .failed(HostError(.responseRejected, "the response check rejected the response to another request.")))
        return .again(without: attempts.done.union([candidate]))
      }
      tried.probe?.end(.connected)
      let now = clock.time()
      for (index, begin) in attempts.running.sorted(by: { $0.key < $1.key }) {
        let candidate = attempts.candidate(index)
        health.overtaken(candidate, at: authority, after: now - begin)
        note(candidate, .overtaken, since: begin)
      }
      // The last of the events of a request that is answered.
      note(candidate, .answered, since: begin)
      return .answered(answer)
    case .failure(let error):
      // An address that was tried without a race has less time than it needs to be late for good.
      let limit = options.limit ?? .some(.zero)
      let verdict = try judge(error, of: candidate, since: begin, gate: gate, limit: limit)
      switch verdict {
      case .lost:
        tried.probe?.end(.connected)
        guard attempts.hedge != .running else { break }
        attempts.waiting.insert(index, at: 0)
        attempts.connected.insert(index)
      case .next, .late:
        tried.probe?.end(verdict == .late ? .late : .failed(error))
        // Without a race the one that was late is tried again, after the others.
        if verdict == .next || options.limit == nil { attempts.done.insert(candidate) }
        attempts.lastStart = nil
      case .again:
        tried.probe?.end(.connected)
        return .again(without: attempts.done.union([candidate]))
      }
      return nil
    }
  }
}

// MARK: - Time

extension Failover {
  /// How long an attempt may take to be connected. The transport keeps this time, because it does not count while it
  /// has the attempt wait for a free connection, which is not the address's fault.
  private func connectTimeout(of candidate: HostCandidate, _ attempts: Attempts, _ stagger: Duration?) -> Duration {
    // In a race nobody waits for the late ones, unless the system's way does.
    let isAwaited = policy.allowsSystem || stagger == nil && (!attempts.waiting.isEmpty || !log.late.isEmpty)
    return isAwaited ? health.deadline(of: candidate, at: authority) : policy.deadlines.maximum
  }

  /// When to look again though nothing has happened.
  private func dueTime(_ attempts: Attempts, _ gate: DialGate?, _ options: RoundOptions, _ now: Duration) -> Duration? {
    guard let gate else { return nil }
    if gate.isClaimed { return silenceEnd(attempts, gate) }
    var times: [Duration] = []
    if let stagger = options.stagger, !attempts.waiting.isEmpty, let last = attempts.lastStart {
      times.append(last + stagger)
    }
    // Nothing is called when the gate is claimed, and silence counts from then on.
    if let silence, attempts.hedge == .possible, isHedgeable, let first = attempts.running.values.min() {
      times.append(first + silence > now ? first + silence : now + silence / 4)
    }
    return times.min()
  }
}

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
    guard let silence, attempts.hedge == .possible, isHedgeable, let index = claimedAttempt(attempts, gate) else {
      return nil
    }
    return attempts.running[index].map { $0 + silence }
  }

  /// The attempt that has taken the request and been silent for too long.
  func silent(_ attempts: Attempts, _ gate: DialGate, _ now: Duration) -> Int? {
    guard let end = silenceEnd(attempts, gate), now >= end else { return nil }
    return claimedAttempt(attempts, gate)
  }

  func claimedAttempt(_ attempts: Attempts, _ gate: DialGate?) -> Int? {
    guard let route = gate?.claimedRoute else { return nil }
    return attempts.running.keys.first { index in
      let candidate = attempts.candidate(index)
      return candidate.address.literal == route.address && candidate.port == route.port
    }
  }

  /// What is tried beside an attempt that is silent: the other candidates; at last its own address on another
  /// connection, if it is on one that was kept and may be dead (after a NAT has forgotten it, for example).
  func hedge(
    _ attempts: Attempts, _ gate: DialGate, _ options: RoundOptions, _ index: Int
  ) -> (entries: [Ranking.Entry], options: RoundOptions)? {
    let silent = attempts.entries[index]
    let others = attempts.waiting + attempts.running.keys.filter { $0 != index }.sorted()
    var entries = (others.map { attempts.entries[$0] } + options.spares).filter { $0.candidate != silent.candidate }
    var next = RoundOptions(stagger: policy.stagger)
    if gate.isClaimedOnKeptConnection, !options.fresh.contains(silent.candidate) {
      entries.append(silent)
      next.fresh = options.fresh.union([silent.candidate])
    }
    return entries.isEmpty ? nil : (entries, next)
  }

  /// Rounds of attempts beside a silent one, until one has answered or all have failed.
  func hedgeRounds(_ entries: [Ranking.Entry], _ options: RoundOptions) async throws -> Round {
    var entries = entries
    var all: Set<HostCandidate> = []
    while !entries.isEmpty {
      let end = try await round(entries, options)
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
      if let index = claimedAttempt(attempts, gate), let begin = attempts.running[index] {
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

  /// The request was cancelled by the app, or by its timeout. An address that had it and was silent for long is not
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
