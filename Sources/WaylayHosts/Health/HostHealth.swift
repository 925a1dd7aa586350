/// The health records of addresses: times, failures and bans. Thread-safe.
final class HostHealth: Sendable {
  fileprivate struct State {
    var authorities: [HostAuthority: [HostEndpoint: AddressRecord]] = [:]
    /// Records of an address for all hosts: unreachable or late.
    var shared: [HostEndpoint: AddressRecord] = [:]
    /// The number of the current network.
    var epoch = 0
    var pace = HandshakePace()
    var count = 0
  }

  /// The maximum number of addresses; the least recently used are removed first.
  private let capacity: Int
  private let policy: HostRewriter.Policy
  private let clock: HostClock
  private let state = Locked(State())
  /// The trials of unproven addresses.
  let probes = Probes()
  /// Wakes the requests that wait for an address.
  let alarms: Alarms

  init(policy: HostRewriter.Policy, clock: HostClock, capacity: Int = 4096) {
    self.policy = policy
    self.clock = clock
    self.capacity = capacity
    alarms = Alarms(clock: clock)
  }

  /// The records of the candidates, in the same order.
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

  /// The number of the current network: failures in one network do not count in the next.
  var epoch: Int { state.withLock { $0.epoch } }

  /// Whether an address has responded, and has not failed since.
  func isProven(_ candidate: HostCandidate, at authority: HostAuthority) -> Bool {
    let now = clock.time()
    return state.withLock {
      $0.authorities[authority]?[candidate.endpoint].map { $0.isProven && !$0.isLate && $0.ban(at: now) == nil }
        ?? false
    }
  }

  /// When an address last responded, and when it was last silent.
  func contact(with candidate: HostCandidate, at authority: HostAuthority) -> AddressRecord.Contact {
    state.withLock { $0.authorities[authority]?[candidate.endpoint]?.contact } ?? .init()
  }

  /// Records that an address was silent while another one responded, and wakes the requests that wait for it.
  func silent(_ candidate: HostCandidate, at authority: HostAuthority) {
    let now = clock.time()
    change(candidate, at: authority) { $0.contact.lastSilence = now }
    alarms.wakeAll()
  }

  /// The deadline of an attempt that begins now.
  func deadline(of candidate: HostCandidate, at authority: HostAuthority) -> Duration {
    let (pace, own) = state.withLock { ($0.pace, $0.authorities[authority]?[candidate.endpoint]?.smoothed) }
    return pace.deadline(own: own, limits: policy)
  }

  /// Records a response, which clears the address's failures and ban.
  ///
  /// - Parameter handshake: The time for connecting and the TLS handshake; `nil` for a reused connection.
  func responded(_ candidate: HostCandidate, at authority: HostAuthority, handshake: Duration?) {
    let now = clock.time()
    change(candidate, at: authority) { $0.responded(in: handshake, at: now) }
    state.withLock { state in
      state.shared[candidate.endpoint] = nil
      if let handshake { state.pace.add(handshake) }
    }
  }

  /// Records that another address connected first.
  func superseded(_ candidate: HostCandidate, at authority: HostAuthority, after time: Duration) {
    let now = clock.time()
    change(candidate, at: authority) { $0.superseded(after: time, at: now) }
    if time >= Self.lateness { share(candidate) { $0.superseded(after: time, at: now) } }
  }

  /// Records a missed deadline. Until this or another address responds, one request at a time tries it.
  func late(_ candidate: HostCandidate, at authority: HostAuthority) {
    change(candidate, at: authority) { $0.isLate = true }
  }

  /// Records a failure: bans the address for a time that grows with its failures. Failures of concurrent attempts count
  /// once.
  ///
  /// - Parameter begin: When the attempt began; `nil` counts the failure in any case.
  /// - Returns: The ban; `nil` if the failure was already counted.
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

  /// Records a failure that need not be the address's fault: other addresses are preferred until it responds again.
  func demoted(_ candidate: HostCandidate, at authority: HostAuthority) {
    let now = clock.time()
    change(candidate, at: authority) { $0.failed(nil, at: now) }
  }

  /// Clears bans, times and pace, and increments ``epoch``.
  func networkChanged() {
    state.withLock { $0 = State(epoch: $0.epoch + 1) }
  }

  /// The delay from which lateness counts for all hosts of the address.
  private static let lateness: Duration = .milliseconds(200)

  /// Records a fact that applies to all hosts of an address.
  private func share(_ candidate: HostCandidate, _ body: (inout AddressRecord) -> Void) {
    state.withLock { state in
      // No LRU here: real entries are few, many come from a hostile resolver.
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
  /// Removes an eighth of the addresses, so that not every insertion scans the table.
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

/// The health record of one address of one host.
struct AddressRecord: Sendable, Hashable {
  /// The smoothed time for connecting and the TLS handshake (an exponentially weighted moving average).
  private(set) var smoothed: Duration?
  /// Whether the address has responded, and has not failed since.
  private(set) var isProven = false
  /// Whether the address missed a deadline since, while the network may be at fault.
  fileprivate(set) var isLate = false
  /// The number of failures since its last response.
  private(set) var failures = 0
  /// How often another address connected first since its last response.
  private(set) var timesSuperseded = 0
  /// When the address was last used, or failed.
  private(set) var lastUse: Duration = .zero
  /// When the address last failed.
  private(set) var lastFailure: Duration?
  /// When the address last responded, and was last found silent.
  fileprivate(set) var contact = Contact()
  /// The last ban, which may have expired.
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

  /// Another address connected first; this one has taken at least `time` so far.
  mutating func superseded(after time: Duration, at now: Duration) {
    lastUse = now
    timesSuperseded += 1
    if let smoothed, time > smoothed { note(time) }
  }

  mutating func failed(_ ban: AddressBan?, at now: Duration) {
    lastUse = now
    lastFailure = now
    isProven = false
    failures += 1
    if let ban { self.ban = ban }
  }

  /// A new measurement has a weight of 0.3, so a handful of them replace the old value.
  private mutating func note(_ time: Duration) {
    smoothed = smoothed.map { $0 * 7 / 10 + time * 3 / 10 } ?? time
  }
}

extension AddressRecord {
  /// When an address last responded, and when it last failed to respond.
  struct Contact: Sendable, Hashable {
    var lastResponse: Duration?
    var lastSilence: Duration?

    /// Whether it was found silent at or after `time`, and has not responded since.
    func isSilent(since time: Duration) -> Bool {
      lastSilence.map { $0 >= time && $0 > lastResponse ?? .zero } ?? false
    }
  }
}

/// The cause and the end of a ban; a banned address is tried last.
struct AddressBan: Sendable, Hashable {
  /// The outcome that caused the ban.
  let cause: OpenEnum<HostAttempt>
  /// The end of the ban, by the clock of the health records.
  let until: Duration
}

/// The pace of the network: the time for connecting and the TLS handshake over all addresses. Deadlines derive from it.
///
/// Mean and mean deviation, as TCP estimates round trips (RFC 6298, section 2): a slow network gets long deadlines, and
/// none of its addresses is banned.
struct HandshakePace: Sendable, Hashable {
  private var mean: Duration?
  private var deviation: Duration = .zero

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

  /// The deadline for an address.
  ///
  /// - Parameter own: The smoothed time of the address itself.
  func deadline(own: Duration?, limits: HostRewriter.Policy) -> Duration {
    guard let mean else { return limits.initialDeadline }
    let wanted = max(mean * 2 + deviation * 4, (own ?? .zero) * 4)
    return min(max(wanted, limits.minimumDeadline), limits.maximumDeadline)
  }
}
