extension Failover {
  /// What a round waits for.
  enum Signal: Sendable {
    /// It is time to look again, or something is known that was not.
    case look
    case ended(Int, Tried)
    /// The second round, beside an attempt that has been silent for too long, is over.
    case hedged(Result<Round, any Error>)
  }

  /// The attempts of a round that run and those that wait.
  struct Attempts {
    let entries: [Ranking.Entry]
    var waiting: [Int]
    /// Those that are tried only when the address that all others would go to directly is silent.
    var reserve: [Int] = []
    var running: [Int: Duration] = [:]
    var done: Set<HostCandidate> = []
    /// Those that were connected second: should the first fail before it has sent anything, they are the next.
    var connected: Set<Int> = []
    /// Those that have waited in vain for a free connection.
    var stuck: Set<Int> = []
    /// What the stagger counts from; `nil` when the next one is to start at once.
    var lastStart: (index: Int, time: Duration)?
    var hedge = Hedge.possible
    /// When another may be asked beside a silent one, after those that were could not be reached.
    var nextHedge: (time: Duration, delay: Duration)?
    let signals = Signals()

    init(_ entries: [Ranking.Entry], isDirect: Bool) {
      self.entries = entries
      waiting = isDirect ? [0] : Array(entries.indices)
      if isDirect { reserve = Array(entries.indices.dropFirst()) }
    }

    func candidate(_ index: Int) -> HostCandidate { entries[index].candidate }

    /// When an attempt could send its request: with its connection, or its beginning where nobody tells of that.
    func sentAt(_ index: Int) -> Duration? { signals.progress(of: index).connected ?? running[index] }
  }

  /// How a request goes to a candidate.
  enum Way: Equatable {
    /// As one of several that are tried side by side.
    case raced
    /// Without a race; the connection may take so long, `nil` for as long as the request has.
    case direct(limit: Duration?)
  }

  /// What a round is to do beyond trying its candidates.
  struct RoundOptions {
    /// How long to wait before the next is tried beside those that run; `nil`: one after the other.
    var stagger: Duration?
    /// How the request goes to the first candidate.
    var first = Way.raced
    /// How long a connection may take where nobody else is waiting to be tried.
    var longest: Duration?
    /// Addresses that are dialled anew, because a kept connection to them is silent.
    var fresh: Set<HostCandidate> = []
    /// Whether another may be asked beside one that is slow, and not only beside one that was found silent: no more than
    /// two have the request at a time.
    var mayHedge = true
  }

  /// Tries candidates until one has answered, something was sent in vain, or all that run are late.
  func round(_ entries: [Ranking.Entry], _ options: RoundOptions) async throws -> Round {
    let gate = hasGates ? DialGate() : nil
    var attempts = Attempts(entries, isDirect: options.first != .raced)
    let signals = attempts.signals
    health.alarms.set(signals, at: nil)
    defer {
      health.alarms.remove(signals)
      signals.close()
    }
    return try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      while true {
        let now = clock.time()
        if let gate { release(&attempts, gate, now) }
        if let index = startable(attempts, gate, options, now) {
          attempts.waiting.removeAll { $0 == index }
          attempts.running[index] = now
          attempts.lastStart = (index, now)
          let dialing = dialing(index, attempts, gate, options)
          group.addPromptTask { [candidate = attempts.candidate(index)] in
            signals.send(.ended(index, await attempt(candidate, dialing)))
          }
          continue
        }
        if attempts.running.isEmpty, attempts.hedge != .running { return .again(without: attempts.done) }
        if let gate, let index = silent(attempts, gate, options, now) {
          if !isHedgeable {
            holdSilence(against: index, attempts)
            attempts.hedge = .over
          } else if let next = hedge(&attempts, gate, options, index) {
            attempts.hedge = .running
            group.addTask {
              signals.send(.hedged(await Self.result { try await hedgeRounds(next.entries, next.options) }))
            }
          } else {
            attempts.hedge = .over
          }
        }
        if let alarm = dueTime(attempts, gate, options) { health.alarms.set(signals, at: alarm) }
        switch await signals.next() {
        case .look: break
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

  /// How an attempt of a round dials, and what its progress does.
  private func dialing(
    _ index: Int, _ attempts: Attempts, _ gate: DialGate?, _ options: RoundOptions
  ) -> Dialing {
    let limit: Duration? =
      switch way(to: index, options) {
      case .direct(let limit): limit
      case .raced: options.longest ?? connectTimeout(of: index, attempts, options.stagger)
      }
    let (signals, stagger) = (attempts.signals, options.stagger)
    let silence = options.mayHedge ? silence : nil
    return Dialing(
      gate: gate, limit: limit, isFresh: options.fresh.contains(attempts.candidate(index)),
      isRaced: stagger != nil && !attempts.waiting.isEmpty
    ) { [clock, health] progress in
      let now = clock.time()
      signals.note(progress, of: index, at: now)
      switch progress {
      case .queued: break
      case .begun: if let stagger { health.alarms.set(signals, at: now + stagger) }
      case .connected: if let silence { health.alarms.set(signals, at: now + silence) }
      }
    }
  }

  private func way(to index: Int, _ options: RoundOptions) -> Way { index == 0 ? options.first : .raced }

  private static func result(_ work: () async throws -> Round) async -> Result<Round, any Error> {
    do { return .success(try await work()) } catch { return .failure(error) }
  }

  /// The next attempt to start, if one is due.
  private func startable(
    _ attempts: Attempts, _ gate: DialGate?, _ options: RoundOptions, _ now: Duration
  ) -> Int? {
    guard !attempts.waiting.isEmpty else { return nil }
    if attempts.running.isEmpty { return best(attempts, now) }
    guard gate?.isClaimed == false, let time = staggerEnd(attempts, options) else { return nil }
    return now >= time ? best(attempts, now) : nil
  }

  /// When the next attempt is to start beside those that run; `nil` when that is not foreseeable: while an attempt waits
  /// for a free connection, none is being opened that could be late.
  private func staggerEnd(_ attempts: Attempts, _ options: RoundOptions) -> Duration? {
    guard let stagger = options.stagger ?? (attempts.stuck.isEmpty ? nil : policy.connectionAttemptDelay) else {
      return nil
    }
    guard let last = attempts.lastStart else { return .zero }
    let progress = attempts.signals.progress(of: last.index)
    return progress.isQueued ? nil : (progress.begun ?? last.time) + stagger
  }

  /// Has others started beside an attempt that waits for a free connection in vain.
  private func release(_ attempts: inout Attempts, _ gate: DialGate, _ now: Duration) {
    guard !attempts.reserve.isEmpty || !attempts.waiting.isEmpty, !gate.isClaimed else { return }
    for index in attempts.running.keys where patienceEnd(index, attempts).map({ now >= $0 }) ?? false {
      attempts.stuck.insert(index)
      attempts.waiting += attempts.reserve
      attempts.reserve = []
      attempts.lastStart = nil
    }
  }

  /// Until when an attempt waits for a free connection: an address that gives no response at all, to nobody, is silent.
  private func patienceEnd(_ index: Int, _ attempts: Attempts) -> Duration? {
    guard !attempts.stuck.contains(index), let begin = attempts.running[index] else { return nil }
    let progress = attempts.signals.progress(of: index)
    guard progress.isQueued || !attempts.reserve.isEmpty else { return nil }
    let contact = health.contact(with: attempts.candidate(index), at: authority)
    if contact.isSilent(since: start) { return .zero }
    return silence.map { max(begin, contact.lastResponse ?? begin) + $0 }
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
      guard let accepted = try accept(response, of: candidate, since: begin) else {
        tried.probe?.end(
          .failed(HostError(.responseRejected, "the response check rejected the response to another request.")))
        return .again(without: attempts.done.union([candidate]))
      }
      tried.probe?.end(.connected)
      let now = clock.time()
      for (index, begin) in attempts.running.sorted(by: { $0.key < $1.key }) {
        let candidate = attempts.candidate(index)
        // One that has waited for a free connection says nothing of its address.
        if !attempts.stuck.contains(index) { health.superseded(candidate, at: authority, after: now - begin) }
        note(candidate, .superseded, since: begin)
      }
      // The last of the events of a request that is answered.
      note(candidate, .responded, since: begin)
      return .responded(accepted)
    case .failure(let error):
      // An address that was tried without a race has less time than it needs to be late for good.
      let way = way(to: index, options)
      let verdict = try judge(
        error, of: candidate, since: begin, sentAt: attempts.signals.progress(of: index).connected, gate: gate,
        hasLimit: way != .direct(limit: nil))
      switch verdict {
      case .lost:
        tried.probe?.end(.connected)
        guard attempts.hedge != .running else { break }
        attempts.waiting.insert(index, at: 0)
        attempts.connected.insert(index)
      case .next, .late:
        tried.probe?.end(verdict == .late ? .late : .failed(error))
        // Without a race the one that was late is tried again, after the others.
        if verdict == .next || way == .raced { attempts.done.insert(candidate) }
        attempts.lastStart = nil
      case .again:
        tried.probe?.end(.connected)
        if !options.mayHedge { log.state.withLock { $0.hasHedged = true } }
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
  private func connectTimeout(of index: Int, _ attempts: Attempts, _ stagger: Duration?) -> Duration {
    // In a race nobody waits for the late ones, unless the system's way does.
    let isAwaited = policy.allowsSystem || stagger == nil && (!attempts.waiting.isEmpty || !log.late.isEmpty)
    return isAwaited ? health.deadline(of: attempts.candidate(index), at: authority) : policy.maximumDeadline
  }

  /// When to look again though nothing has happened.
  private func dueTime(_ attempts: Attempts, _ gate: DialGate?, _ options: RoundOptions) -> Duration? {
    guard let gate else { return nil }
    if gate.isClaimed { return silenceEnd(attempts, gate, options) }
    var times = attempts.waiting.isEmpty ? [] : [staggerEnd(attempts, options)]
    if !attempts.waiting.isEmpty || !attempts.reserve.isEmpty {
      times += attempts.running.keys.map { patienceEnd($0, attempts) }
    }
    return times.compactMap(\.self).min()
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
    policy.silenceTimeout.map { min($0, timeout / 3) }
  }

  /// How long it has to be silent for giving up to speak against it.
  var giveUpLimit: Duration? {
    policy.silenceTimeout.map { min($0, timeout * 9 / 10) }
  }

  /// Whether the request may be with two servers at once: it is safe (RFC 9110, section 9.2.1). One that is only
  /// idempotent, such as PUT and DELETE, may be repeated after it has failed, but two of them side by side end in
  /// either order, and a later change may be undone.
  var isHedgeable: Bool {
    (request.isSafe || isHarmless) && request.options.allowsHedging && request.body.isReplayable
  }

  /// The request's own timeout; a day for none.
  var timeout: Duration {
    let seconds = request.idleTimeout
    return seconds > 0 && seconds < 86_400 ? .seconds(seconds) : .seconds(86_400)
  }

  /// When the attempt that has taken the request has been silent for too long: so long after its connection was open, or
  /// at once when another request finds the address silent.
  func silenceEnd(_ attempts: Attempts, _ gate: DialGate, _ options: RoundOptions) -> Duration? {
    guard let silence, attempts.hedge == .possible, let index = claimedAttempt(attempts, gate),
      let sentAt = attempts.sentAt(index)
    else { return nil }
    let isFoundSilent = health.contact(with: attempts.candidate(index), at: authority).isSilent(since: sentAt)
    guard options.mayHedge || isFoundSilent else { return nil }
    return max(isFoundSilent ? sentAt : sentAt + silence, attempts.nextHedge?.time ?? sentAt)
  }

  /// The attempt that has taken the request and been silent for too long.
  func silent(_ attempts: Attempts, _ gate: DialGate, _ options: RoundOptions, _ now: Duration) -> Int? {
    guard let end = silenceEnd(attempts, gate, options), now >= end else { return nil }
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
    _ attempts: inout Attempts, _ gate: DialGate, _ options: RoundOptions, _ index: Int
  ) -> (entries: [Ranking.Entry], options: RoundOptions)? {
    let silent = attempts.entries[index]
    var others = attempts.waiting + attempts.reserve
    others += attempts.running.keys.sorted().filter { $0 != index && !others.contains($0) }
    (attempts.waiting, attempts.reserve) = ([], others)
    var entries = others.map { attempts.entries[$0] }.filter { $0.candidate != silent.candidate }
    var next = RoundOptions(stagger: policy.connectionAttemptDelay, mayHedge: false)
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
    case .success(.responded(let response)):
      if let index = claimedAttempt(attempts, gate), let begin = attempts.running[index] {
        let sentAt = attempts.sentAt(index) ?? begin
        wasSilent(attempts.candidate(index), since: begin, sentAt: sentAt, respondedBy: log.respondedBy)
      }
      return .responded(response)
    case .success(.again(let done)):
      attempts.done.formUnion(done)
      guard !attempts.running.isEmpty else { return .again(without: attempts.done) }
      if let silence, !log.state.withLock({ $0.hasHedged }) {
        // None of them has the request: it has not been hedged. They may be reached later.
        let delay = attempts.nextHedge.map { $0.delay * 2 } ?? silence / 4
        attempts.nextHedge = (clock.time() + delay, delay)
        attempts.hedge = .possible
      }
      return nil
    case .failure(let error):
      // What was silent may answer yet.
      if Task.isCancelled || attempts.running.isEmpty { throw error }
      return nil
    }
  }

  /// Another connection has answered while this one was silent.
  private func wasSilent(
    _ candidate: HostCandidate, since begin: Duration, sentAt: Duration, respondedBy other: HostCandidate?
  ) {
    // Nothing comes on it: the transport closes it rather than use it again.
    log.state.withLock { _ = $0.suspects.insert(candidate) }
    // An address that has answered others meanwhile is only slow with this one.
    guard candidate != other, !hasResponded(candidate, since: sentAt) else {
      return note(candidate, .silent, since: begin)
    }
    // Its certificate was verified: it may be busy with this request alone.
    let ban = isSecure ? nil : ban(candidate, .silent, since: begin)
    if isSecure { health.demoted(candidate, at: authority) }
    note(candidate, .silent, since: begin, ban: ban)
    // So that others do not wait as long to find out the same.
    if health.epoch == epoch { health.silent(candidate, at: authority) }
  }

  /// An address that has a request is silent, which nobody else may be asked: those after it prefer others, unless it
  /// has answered somebody meanwhile, or may be waiting for a body that is on its way.
  func holdSilence(against index: Int, _ attempts: Attempts) {
    let candidate = attempts.candidate(index)
    guard let length = request.body.length, length <= Self.sentAtOnce, health.epoch == epoch,
      let sentAt = attempts.sentAt(index), !hasResponded(candidate, since: sentAt)
    else { return }
    health.demoted(candidate, at: authority)
  }

  /// Whether an address has answered anybody since.
  private func hasResponded(_ candidate: HostCandidate, since time: Duration) -> Bool {
    health.contact(with: candidate, at: authority).lastResponse.map { $0 > time } ?? false
  }

  /// Bytes of a body that the system takes from a sender at once.
  private static let sentAtOnce: Int64 = 64 * 1024

  /// The request was cancelled by the app, or by its timeout. An address that had it and was silent for long is not
  /// trusted by the next one.
  func wasGivenUp(_ candidate: HostCandidate, since begin: Duration, isSent: Bool) {
    let elapsed = clock.time() - begin
    // One that is given up because another one has answered is not to blame.
    guard let limit = giveUpLimit, elapsed >= limit, log.respondedBy == nil else { return }
    if isSent {
      health.demoted(candidate, at: authority)
    } else if health.contact(with: candidate, at: authority).lastResponse.map({ $0 < begin }) ?? true {
      health.superseded(candidate, at: authority, after: elapsed)
    }
  }
}
