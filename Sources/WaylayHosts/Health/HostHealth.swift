/// What was learnt about the addresses of hosts: times, failures, bans. Safe from any thread.
package final class HostHealth: Sendable {
  /// A host and the port of its URL: what an address is good for.
  package struct Authority: Hashable, Sendable {
    package let host: HostName
    package let port: Int

    package init(_ host: HostName, port: Int) {
      self.host = host
      self.port = port
    }
  }

  /// An address of a host and the port that is dialled.
  fileprivate struct Endpoint: Hashable {
    let address: HostAddress
    let port: Int
  }

  fileprivate struct State {
    var authorities: [Authority: [Endpoint: AddressRecord]] = [:]
    /// What is known of an address whatever the host: that nobody answers there, or late.
    var shared: [Endpoint: AddressRecord] = [:]
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
  /// Who tries addresses of which nothing is known.
  package let probes = Probes()

  package init(policy: HostRewriter.Policy, clock: HostClock, capacity: Int = 4096) {
    self.policy = policy
    self.clock = clock
    self.capacity = capacity
  }

  /// What is known of the candidates, in their order.
  package func records(of candidates: [HostCandidate], at authority: Authority) -> [AddressRecord] {
    state.withLock { state in
      let known = state.authorities[authority]
      if known == nil, state.shared.isEmpty { return Array(repeating: AddressRecord(), count: candidates.count) }
      return candidates.map { candidate in
        let key = Endpoint(candidate)
        return known?[key] ?? state.shared[key] ?? AddressRecord()
      }
    }
  }

  /// Which network it is: what fails in one says nothing in the next.
  package var epoch: Int { state.withLock { $0.epoch } }

  /// Whether an address has answered, and nothing speaks against it.
  package func isProven(_ candidate: HostCandidate, at authority: Authority) -> Bool {
    let now = clock.time()
    return state.withLock {
      $0.authorities[authority]?[Endpoint(candidate)].map { $0.isProven && !$0.isLate && $0.ban(at: now) == nil }
        ?? false
    }
  }

  /// When an attempt that begins now counts as late.
  package func deadline(of candidate: HostCandidate, at authority: Authority) -> Duration {
    let (pace, own) = state.withLock { ($0.pace, $0.authorities[authority]?[Endpoint(candidate)]?.smoothed) }
    return pace.deadline(own: own, limits: policy.deadlines)
  }

  /// An address has answered: what was held against it is forgotten.
  ///
  /// - Parameter handshake: The time to connect and agree on TLS; `nil` for a connection that was open already.
  package func answered(_ candidate: HostCandidate, at authority: Authority, handshake: Duration?) {
    let now = clock.time()
    change(candidate, at: authority) { $0.answered(in: handshake, at: now) }
    state.withLock { state in
      state.shared[Endpoint(candidate)] = nil
      if let handshake { state.pace.add(handshake) }
    }
  }

  /// Another address was connected first.
  package func overtaken(_ candidate: HostCandidate, at authority: Authority, after time: Duration) {
    let now = clock.time()
    change(candidate, at: authority) { $0.overtaken(after: time, at: now) }
    if time >= Self.lateness { share(candidate) { $0.overtaken(after: time, at: now) } }
  }

  /// An address was not connected in its time. Until it answers, or another does, one request at a time tries it.
  package func late(_ candidate: HostCandidate, at authority: Authority) {
    change(candidate, at: authority) { $0.late() }
  }

  /// An address has failed: it is banned for a time that grows with its failures. Attempts that were under way together
  /// have found out the same, which counts once.
  ///
  /// - Parameter begin: When the attempt began; `nil` counts it in any case.
  /// - Returns: The ban, if it is a new one.
  @discardableResult
  package func failed(
    _ candidate: HostCandidate, at authority: Authority, _ outcome: HostAttempt.Outcome, since begin: Duration? = nil
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
  package func demoted(_ candidate: HostCandidate, at authority: Authority) {
    let now = clock.time()
    change(candidate, at: authority) { $0.failed(nil, at: now) }
  }

  /// The network is another one: bans, times and the pace belonged to the one before.
  package func networkChanged() {
    state.withLock { $0 = State(epoch: $0.epoch + 1) }
  }

  /// How long an address has to take for other hosts to hear of it.
  private static let lateness: Duration = .milliseconds(200)

  /// Notes what holds for all hosts of an address.
  private func share(_ candidate: HostCandidate, _ body: (inout AddressRecord) -> Void) {
    state.withLock { state in
      // Rather than keep an account of their age: they are few, or somebody makes them up.
      if state.shared.count >= capacity { state.shared = [:] }
      body(&state.shared[Endpoint(candidate), default: AddressRecord()])
    }
  }

  @discardableResult
  private func change<Result>(
    _ candidate: HostCandidate, at authority: Authority, _ body: (inout AddressRecord) -> Result
  ) -> Result {
    state.withLock { state in
      let key = Endpoint(candidate)
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

extension HostHealth.Endpoint {
  fileprivate init(_ candidate: HostCandidate) {
    self.init(address: candidate.address, port: candidate.port)
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
