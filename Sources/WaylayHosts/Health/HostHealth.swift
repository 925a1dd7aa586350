/// What was learnt about the addresses of hosts: times, failures, bans. Safe from any thread.
final class HostHealth: Sendable {
  fileprivate struct State {
    var authorities: [HostAuthority: [HostEndpoint: AddressRecord]] = [:]
    /// What is known of an address whatever the host: that nobody answers there, or late.
    var shared: [HostEndpoint: AddressRecord] = [:]
    /// Which network it is.
    var epoch = 0
    var pace = HandshakePace()
    var count = 0
  }

  /// Addresses that are remembered; beyond it those that were used longest ago are forgotten.
  private let capacity: Int
  private let policy: HostRewriter.Policy
  private let clock: HostClock
  private let state = Locked(State())
  /// The attempts at addresses of which nothing is known.
  let probes = Probes()
  /// Wakes the requests that wait for an address.
  let alarms: Alarms

  init(policy: HostRewriter.Policy, clock: HostClock, capacity: Int = 4096) {
    self.policy = policy
    self.clock = clock
    self.capacity = capacity
    alarms = Alarms(clock: clock)
  }

  /// What is known of the candidates, in their order.
  func records(of candidates: [HostCandidate], at authority: HostAuthority) -> [AddressRecord] {
    state.withLock { state in
      let known = state.authorities[authority]
      if known == nil, state.shared.isEmpty { return Array(repeating: AddressRecord(), count: candidates.count) }
      return candidates.map { candidate in
        let key = candidate.endpoint
        return known?[key] ?? state.shared[key] ?? AddressRecord()
      }
    }
  }

  /// Which network it is: what fails in one says nothing in the next.
  var epoch: Int { state.withLock { $0.epoch } }

  /// Whether an address has answered, and nothing speaks against it.
  func isProven(_ candidate: HostCandidate, at authority: HostAuthority) -> Bool {
    let now = clock.time()
    return state.withLock {
      $0.authorities[authority]?[candidate.endpoint].map { $0.isProven && !$0.isLate && $0.ban(at: now) == nil }
        ?? false
    }
  }

  /// When an address last answered, and was last silent.
  func contact(with candidate: HostCandidate, at authority: HostAuthority) -> AddressRecord.Contact {
    state.withLock { $0.authorities[authority]?[candidate.endpoint]?.contact } ?? .init()
  }

  /// An address was silent while another one answered: requests that wait for it need not find that out by themselves.
  func silent(_ candidate: HostCandidate, at authority: HostAuthority) {
    let now = clock.time()
    change(candidate, at: authority) { $0.contact.lastSilence = now }
    alarms.wakeAll()
  }

  /// When an attempt that begins now counts as late.
  func deadline(of candidate: HostCandidate, at authority: HostAuthority) -> Duration {
    let (pace, own) = state.withLock { ($0.pace, $0.authorities[authority]?[candidate.endpoint]?.smoothed) }
    return pace.deadline(own: own, limits: policy)
  }

  /// An address has answered: its failures and its ban are forgotten.
  ///
  /// - Parameter handshake: The time to connect and agree on TLS; `nil` for a connection that was open already.
  func responded(_ candidate: HostCandidate, at authority: HostAuthority, handshake: Duration?) {
    let now = clock.time()
    change(candidate, at: authority) { $0.responded(in: handshake, at: now) }
    state.withLock { state in
      state.shared[candidate.endpoint] = nil
      if let handshake { state.pace.add(handshake) }
    }
  }

  /// Another address was connected first.
  func superseded(_ candidate: HostCandidate, at authority: HostAuthority, after time: Duration) {
    let now = clock.time()
    change(candidate, at: authority) { $0.superseded(after: time, at: now) }
    if time >= Self.lateness { share(candidate) { $0.superseded(after: time, at: now) } }
  }

  /// An address was not connected in its time. Until it answers, or another does, one request at a time tries it.
  func late(_ candidate: HostCandidate, at authority: HostAuthority) {
    change(candidate, at: authority) { $0.late() }
  }

  /// An address has failed: it is banned for a time that grows with its failures. Attempts that were under way together
  /// have found out the same, which counts once.
  ///
  /// - Parameter begin: When the attempt began; `nil` counts it in any case.
  /// - Returns: The ban, if it is a new one.
  @discardableResult
  func failed(
    _ candidate: HostCandidate, at authority: HostAuthority, _ outcome: OpenEnum<HostAttempt>,
    since begin: Duration? = nil
  ) -> AddressBan? {
    let now = clock.time()
    let bans = policy.bans
    if outcome.isOfAddress {
      share(candidate) {
        $0.failed(AddressBan(cause: outcome, until: now + bans.duration(of: outcome, failures: 0)), at: now)
      }
    }
    return change(candidate, at: authority) { record in
      if let begin, let last = record.lastFailure, last > begin, record.ban(at: now) != nil { return nil }
      let ban = AddressBan(cause: outcome, until: now + bans.duration(of: outcome, failures: record.failures))
      record.failed(ban, at: now)
      return ban
    }
  }

  /// An address has failed in a way that need not be its own fault: others are preferred until it answers again.
  func demoted(_ candidate: HostCandidate, at authority: HostAuthority) {
    let now = clock.time()
    change(candidate, at: authority) { $0.failed(nil, at: now) }
  }

  /// The network is another one: bans, times and the pace belonged to the one before.
  func networkChanged() {
    state.withLock { $0 = State(epoch: $0.epoch + 1) }
  }

  /// How long an address has to take for the delay to count for other hosts too.
  private static let lateness: Duration = .milliseconds(200)

  /// Notes what holds for all hosts of an address.
  private func share(_ candidate: HostCandidate, _ body: (inout AddressRecord) -> Void) {
    state.withLock { state in
      // Their age is not kept: they are few, or made up by a hostile resolver.
      if state.shared.count >= capacity { state.shared = [:] }
      body(&state.shared[candidate.endpoint, default: AddressRecord()])
    }
  }

  @discardableResult
  private func change<Result>(
    _ candidate: HostCandidate, at authority: HostAuthority, _ body: (inout AddressRecord) -> Result
  ) -> Result {
    state.withLock { state in
      let key = candidate.endpoint
      let isNew = state.authorities[authority]?[key] == nil
      let result = body(&state.authorities[authority, default: [:]][key, default: AddressRecord()])
      if isNew {
        state.count += 1
        if state.count > capacity { state.forgetOldest() }
      }
      return result
    }
  }
}

extension HostHealth.State {
  /// Forgets an eighth of the addresses, so that it is not done for each new one.
  fileprivate mutating func forgetOldest() {
    let uses = authorities.values.flatMap { $0.values.map(\.lastUse) }.sorted()
    let limit = uses[uses.count / 8]
    for (authority, records) in authorities {
      let kept = records.filter { $0.value.lastUse > limit }
      authorities[authority] = kept.isEmpty ? nil : kept
    }
    count = authorities.values.reduce(0) { $0 + $1.count }
  }
}

/// What is known of one address of one host.
struct AddressRecord: Sendable, Hashable {
  /// The measured time to connect and agree on TLS, smoothed (an exponentially weighted moving average).
  private(set) var smoothed: Duration?
  /// Whether it has answered before, and nothing has spoken against it since.
  private(set) var isProven = false
  /// Whether a request has found it late since, and nobody knows yet whose fault that is.
  private(set) var isLate = false
  /// Failures since it answered last.
  private(set) var failures = 0
  /// How often another address was connected first, since it answered last.
  private(set) var timesSuperseded = 0
  /// When it was last used, or failed.
  private(set) var lastUse: Duration = .zero
  /// When it failed last.
  private(set) var lastFailure: Duration?
  /// When it answered last, and when it was found silent.
  fileprivate(set) var contact = Contact()
  /// The ban, which may be over.
  private(set) var ban: AddressBan?

  /// The ban, if it is in force.
  func ban(at now: Duration) -> AddressBan? {
    ban.flatMap { $0.until > now ? $0 : nil }
  }

  mutating func responded(in time: Duration?, at now: Duration) {
    isProven = true
    isLate = false
    failures = 0
    timesSuperseded = 0
    ban = nil
    lastUse = now
    contact.lastResponse = now
    if let time { note(time) }
  }

  /// Another was first; this one has taken at least `time` so far.
  mutating func superseded(after time: Duration, at now: Duration) {
    lastUse = now
    timesSuperseded += 1
    if let smoothed, time > smoothed { note(time) }
  }

  /// It was not connected in its time.
  mutating func late() {
    isLate = true
  }

  mutating func failed(_ ban: AddressBan?, at now: Duration) {
    lastUse = now
    lastFailure = now
    isProven = false
    failures += 1
    if let ban { self.ban = ban }
  }

  /// A new measurement counts for three tenths: a handful of them replace what was known.
  private mutating func note(_ time: Duration) {
    smoothed = smoothed.map { $0 * 7 / 10 + time * 3 / 10 } ?? time
  }
}

extension AddressRecord {
  /// When an address answered last, and when it last did not although it should have.
  struct Contact: Sendable, Hashable {
    var lastResponse: Duration?
    var lastSilence: Duration?

    /// Whether it was found silent since, and has not answered after that.
    func isSilent(since time: Duration) -> Bool {
      lastSilence.map { $0 >= time && $0 > lastResponse ?? .zero } ?? false
    }
  }
}

/// Why and for how long an address is tried only when everything else has failed.
struct AddressBan: Sendable, Hashable {
  /// What it did.
  let cause: OpenEnum<HostAttempt>
  /// When the ban ends, by the clock of the health records.
  let until: Duration

  /// Whether it also ends with the network.
  var isSuspectedHijack: Bool { cause.isSuspectedHijack }
}

/// How long it takes to connect and agree on TLS in this network, over all addresses: what deadlines follow.
///
/// Mean and mean deviation as TCP estimates round trips (RFC 6298, section 2), so that a slow network gets long
/// deadlines and bans nobody.
struct HandshakePace: Sendable, Hashable {
  private var mean: Duration?
  private var deviation: Duration = .zero

  /// Makes a pace that has measured nothing.
  /// Adds a measurement.
  mutating func add(_ time: Duration) {
    guard let mean else {
      (self.mean, deviation) = (time, time / 2)
      return
    }
    let difference = time > mean ? time - mean : mean - time
    deviation = deviation * 3 / 4 + difference / 4
    self.mean = mean * 7 / 8 + time / 8
  }

  /// How long to wait for an address before it counts as late.
  ///
  /// - Parameter own: What was measured of the address itself.
  func deadline(own: Duration?, limits: HostRewriter.Policy) -> Duration {
    guard let mean else { return limits.initialDeadline }
    let wanted = max(mean * 2 + deviation * 4, (own ?? .zero) * 4)
    return min(max(wanted, limits.minimumDeadline), limits.maximumDeadline)
  }
}
