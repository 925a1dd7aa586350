extension Failover {
  /// The events that a round waits for.
  enum Signal: Sendable {
    /// A deadline has passed or a health record has changed: check the attempts again.
    case look
    case ended(Int, Tried)
    /// The hedge, a second round concurrent with a silent attempt, has ended.
    case hedged(Result<Round, any Error>)
  }

  /// The running and waiting attempts of a round.
  struct Attempts {
    let entries: [Ranking.Entry]
    var waiting: [Int]
    /// Candidates held back while requests go directly to the preferred address; used if that address is silent.
    var reserve: [Int] = []
    var running: [Int: Duration] = [:]
    var done: Set<HostCandidate> = []
    /// Attempts that connected second. They are next if the first one fails before it has sent any byte.
    var connected: Set<Int> = []
    /// Attempts that waited too long for a free connection.
    var stuck: Set<Int> = []
    /// The last start, from which the stagger counts; `nil` to start the next attempt at once.
    var lastStart: (index: Int, time: Duration)?
    var hedge = Hedge.possible
    /// When to hedge again, after a hedge that reached no address.
    var nextHedge: (time: Duration, delay: Duration)?
    let signals = Signals()

    init(_ entries: [Ranking.Entry], isDirect: Bool) {
      self.entries = entries
      waiting = isDirect ? [0] : Array(entries.indices)
      if isDirect { reserve = Array(entries.indices.dropFirst()) }
    }

    func candidate(_ index: Int) -> HostCandidate { entries[index].candidate }

    /// When an attempt could send its request: once connected, or at its start if the transport does not report
    /// connections.
    func sentAt(_ index: Int) -> Duration? { signals.progress(of: index).connected ?? running[index] }
  }

  /// How a request goes to a candidate.
  enum Way: Equatable {
    /// Raced against other candidates.
    case raced
    /// Without a race, with a limit for opening the connection; `nil` for the request's own timeout.
    case direct(limit: Duration?)
  }

  /// The options of a round.
  struct RoundOptions {
    /// How long to wait before the next candidate is tried concurrently; `nil`: one after the other.
    var stagger: Duration?
    /// How the request goes to the first candidate.
    var first = Way.raced
    /// The limit for opening a connection if no other candidate is waiting.
    var longest: Duration?
    /// Addresses that need a new connection, because a reused one is silent.
    var fresh: Set<HostCandidate> = []
    /// Whether a slow attempt may be hedged, not only a silent one. At most two servers have the request at a time.
    var mayHedge = true
  }

  /// Tries candidates until one responds, a sent request fails, or all running attempts are late.
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

  /// How an attempt dials, and how the round handles its progress.
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

  /// When to start the next attempt; `nil` if unknown: while an attempt waits for a free connection, no connection is
  /// being opened that could be late.
  private func staggerEnd(_ attempts: Attempts, _ options: RoundOptions) -> Duration? {
    guard let stagger = options.stagger ?? (attempts.stuck.isEmpty ? nil : policy.connectionAttemptDelay) else {
      return nil
    }
    guard let last = attempts.lastStart else { return .zero }
    let progress = attempts.signals.progress(of: last.index)
    return progress.isQueued ? nil : (progress.begun ?? last.time) + stagger
  }

  /// Starts other candidates when an attempt has waited too long for a free connection.
  private func release(_ attempts: inout Attempts, _ gate: DialGate, _ now: Duration) {
    guard !attempts.reserve.isEmpty || !attempts.waiting.isEmpty, !gate.isClaimed else { return }
    for index in attempts.running.keys where patienceEnd(index, attempts).map({ now >= $0 }) ?? false {
      attempts.stuck.insert(index)
      attempts.waiting += attempts.reserve
      attempts.reserve = []
      attempts.lastStart = nil
    }
  }

  /// Until when an attempt waits for a free connection: an address without a response to any request is silent.
  private func patienceEnd(_ index: Int, _ attempts: Attempts) -> Duration? {
    guard !attempts.stuck.contains(index), let begin = attempts.running[index] else { return nil }
    let progress = attempts.signals.progress(of: index)
    guard progress.isQueued || !attempts.reserve.isEmpty else { return nil }
    let contact = health.contact(with: attempts.candidate(index), at: authority)
    if contact.isSilent(since: start) { return .zero }
    return silence.map { max(begin, contact.lastResponse ?? begin) + $0 }
  }

  /// The best waiting candidate by the current health records, which may have changed since the ranking.
  private func best(_ attempts: Attempts, _ now: Duration) -> Int? {
    if let index = attempts.waiting.first(where: attempts.connected.contains) { return index }
    // Nothing has changed before the first start.
    guard attempts.lastStart != nil || !attempts.done.isEmpty, attempts.waiting.count > 1 else {
      return attempts.waiting.first
    }
    let candidates = attempts.waiting.map(attempts.candidate)
    let first = Ranking(candidates, records: health.records(of: candidates, at: authority), at: now).entries.first?
      .candidate
    return attempts.waiting.first { attempts.candidate($0) == first }
  }

  /// Handles the end of an attempt. Returns the end of the round; `nil` if the round continues.
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
        // A wait for a free connection says nothing about the address.
        if !attempts.stuck.contains(index) { health.superseded(candidate, at: authority, after: now - begin) }
        note(candidate, .superseded, since: begin)
      }
      // The last event of a request with a response.
      note(candidate, .responded, since: begin)
      return .responded(accepted)
    case .failure(let error):
      // Without a race, an address gets less time than a final verdict of "late" needs.
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
        // Without a race, a late address is tried again after the other candidates.
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
  /// The limit for opening a connection. The transport measures it, because only the transport can exclude the wait for
  /// a free connection, which is not the address's fault.
  private func connectTimeout(of index: Int, _ attempts: Attempts, _ stagger: Duration?) -> Duration {
    // In a race, the round does not wait for late attempts, unless the system fallback does.
    let isAwaited = policy.allowsSystem || stagger == nil && (!attempts.waiting.isEmpty || !log.late.isEmpty)
    return isAwaited ? health.deadline(of: attempts.candidate(index), at: authority) : policy.maximumDeadline
  }

  /// When to check the attempts again without an event.
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
  /// The state of the hedge, a second round concurrent with a silent attempt.
  enum Hedge {
    case possible
    case running
    case over
  }

  /// How long an address that has the request may be silent before it is hedged; `nil` for no hedge. At most a third of
  /// the request's timeout, so that the second address has time to respond.
  var silence: Duration? {
    policy.silenceTimeout.map { min($0, timeout / 3) }
  }

  /// The silence from which an abandoned attempt counts against its address.
  var giveUpLimit: Duration? {
    policy.silenceTimeout.map { min($0, timeout * 9 / 10) }
  }

  /// Whether two servers may process the request concurrently: only safe methods (RFC 9110, section 9.2.1). An
  /// idempotent method such as PUT or DELETE may be repeated after a failure, but two concurrent copies complete in
  /// either order and can undo a later change.
  var isHedgeable: Bool {
    (request.isSafe || isHarmless) && request.options.allowsHedging && request.body.isReplayable
  }

  /// The request's own timeout; one day if it has none.
  var timeout: Duration {
    let seconds = request.idleTimeout
    return seconds > 0 && seconds < 86_400 ? .seconds(seconds) : .seconds(86_400)
  }

  /// When to hedge the attempt that has claimed the request: when the limit for silence has passed since its connection
  /// opened, or at once if another request finds the address silent.
  func silenceEnd(_ attempts: Attempts, _ gate: DialGate, _ options: RoundOptions) -> Duration? {
    guard let silence, attempts.hedge == .possible, let index = claimedAttempt(attempts, gate),
      let sentAt = attempts.sentAt(index)
    else { return nil }
    let isFoundSilent = health.contact(with: attempts.candidate(index), at: authority).isSilent(since: sentAt)
    guard options.mayHedge || isFoundSilent else { return nil }
    return max(isFoundSilent ? sentAt : sentAt + silence, attempts.nextHedge?.time ?? sentAt)
  }

  /// The attempt that has claimed the request and has been silent for too long.
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

  /// Starts the hedge of a silent attempt: the other candidates first, then its own address on a new connection if the
  /// silent one was reused and may be dead (for example, after a NAT has dropped it).
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

  /// Runs rounds concurrently with a silent attempt, until one address responds or all have failed.
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

  /// Handles the end of the hedge. Returns the end of the first round; `nil` if the first round continues.
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
        // No candidate has received the request, so it was not hedged. They may become reachable later.
        let delay = attempts.nextHedge.map { $0.delay * 2 } ?? silence / 4
        attempts.nextHedge = (clock.time() + delay, delay)
        attempts.hedge = .possible
      }
      return nil
    case .failure(let error):
      // The silent attempt may still respond.
      if Task.isCancelled || attempts.running.isEmpty { throw error }
      return nil
    }
  }

  /// Records that a connection was silent while another one responded.
  private func wasSilent(
    _ candidate: HostCandidate, since begin: Duration, sentAt: Duration, respondedBy other: HostCandidate?
  ) {
    // Marks the connection as dead: the transport closes it instead of reusing it.
    log.state.withLock { _ = $0.suspects.insert(candidate) }
    // If the address has responded to other requests meanwhile, it is only slow with this one.
    guard candidate != other, !hasResponded(candidate, since: sentAt) else {
      return note(candidate, .silent, since: begin)
    }
    // After a verified certificate no ban: the server may be busy with this request alone.
    let ban = isSecure ? nil : ban(candidate, .silent, since: begin)
    if isSecure { health.demoted(candidate, at: authority) }
    note(candidate, .silent, since: begin, ban: ban)
    // Other requests need not wait as long to find the same.
    if health.epoch == epoch { health.silent(candidate, at: authority) }
  }

  /// Records silence for a request that must not be hedged, so that later requests prefer other addresses; not if the
  /// address has responded to any request meanwhile, or may be waiting for the rest of the request's body.
  func holdSilence(against index: Int, _ attempts: Attempts) {
    let candidate = attempts.candidate(index)
    guard let length = request.body.length, length <= Self.sentAtOnce, health.epoch == epoch,
      let sentAt = attempts.sentAt(index), !hasResponded(candidate, since: sentAt)
    else { return }
    health.demoted(candidate, at: authority)
  }

  /// Whether an address has responded to any request since.
  private func hasResponded(_ candidate: HostCandidate, since time: Duration) -> Bool {
    health.contact(with: candidate, at: authority).lastResponse.map { $0 > time } ?? false
  }

  /// The number of body bytes that the system's send buffer accepts at once.
  private static let sentAtOnce: Int64 = 64 * 1024

  /// Handles an attempt that the app cancelled, or that ran into its timeout. A long silence after the request was sent
  /// counts against the address.
  func wasGivenUp(_ candidate: HostCandidate, since begin: Duration, isSent: Bool) {
    let elapsed = clock.time() - begin
    // An attempt that lost to another address is not at fault.
    guard let limit = giveUpLimit, elapsed >= limit, log.respondedBy == nil else { return }
    if isSent {
      health.demoted(candidate, at: authority)
    } else if health.contact(with: candidate, at: authority).lastResponse.map({ $0 < begin }) ?? true {
      health.superseded(candidate, at: authority, after: elapsed)
    }
  }
}
