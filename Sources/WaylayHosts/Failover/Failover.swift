import Foundation

/// Routes one request through the addresses of its host: decides which attempt comes next, how to treat a failure, and
/// when to stop.
///
/// All inputs are injected, the time included; only the health records outlive the request.
struct Failover: Sendable {
  let request: InterceptedRequest
  let authority: HostAuthority
  let policy: HostRewriter.Policy
  let health: HostHealth
  let clock: HostClock
  /// The rest of the chain.
  let next: InterceptorChain.Next
  /// The transport at the end of the chain, if known.
  let transport: (any Transport)?
  /// Called with each attempt, once its outcome is known.
  let report: @Sendable (HostAttempt, AddressBan?) -> Void
  /// When the request reached the rewriter.
  let start: Duration
  /// The network (epoch of the health records) in which the request began.
  let epoch: Int
  /// Whether the request changes no state, whatever its method: a DNS query.
  var isHarmless = false
  let log = Log()

  /// An attempt that missed its deadline.
  struct Late: Sendable {
    let candidate: HostCandidate
    let begin: Duration
    let duration: Duration
    let error: any Error
    /// `.timedOut`, or `.skipped` if another request has measured the delay; `.certificateUntrusted`, which is settled in
    /// the same way.
    let outcome: OpenEnum<HostAttempt>
  }

  /// A finished attempt, and the probe to conclude if other requests wait for its outcome.
  struct Tried: Sendable {
    let result: Result<InterceptedResponse, any Error>
    let probe: Probes.Probe?
  }

  /// A concurrent request has tried the address: this one did not dial.
  struct Skipped: Error {
    /// `nil` if the address was only late.
    let error: (any Error)?
  }

  /// The progress of the request so far.
  final class Log: Sendable {
    struct State {
      var attempts: [HostAttempt] = []
      /// Attempts in progress, with their start times.
      var running: [(candidate: HostCandidate, begin: Duration)] = []
      /// Late addresses: counted against them only if another address responds, which proves that the network works.
      var late: [Late] = []
      /// The address that responded.
      var respondedBy: HostCandidate?
      /// Addresses whose connection was silent while another one responded.
      var suspects: Set<HostCandidate> = []
      /// Whether a second server has received the request.
      var hasHedged = false
      /// Why the request did not fall back to the system.
      var fallbackRefusal: String?
    }

    let state = Locked(State())

    var attempts: [HostAttempt] { state.withLock { $0.attempts } }

    var late: [Late] { state.withLock { $0.late.filter { $0.outcome != .certificateUntrusted } } }

    var respondedBy: HostCandidate? { state.withLock { $0.respondedBy } }

    /// All attempts, including the late ones and those in progress.
    func table(start: Duration, now: Duration) -> [HostAttempt] {
      let state = state.withLock { $0 }
      let late = state.late.map {
        HostAttempt($0.candidate, $0.outcome, start: $0.begin - start, duration: $0.duration, error: $0.error)
      }
      let open = state.running.map {
        HostAttempt($0.candidate, .unfinished, start: $0.begin - start, duration: now - $0.begin)
      }
      return state.attempts + late + open
    }

    /// Removes and returns the late attempts.
    func takeLate() -> [Late] {
      state.withLock { exchange(&$0.late, with: []) }
    }
  }

  /// How a round of attempts ended.
  enum Round: Sendable {
    case responded(InterceptedResponse)
    /// Continue with another round, without these candidates.
    case again(without: Set<HostCandidate>)
  }

  /// Sends the request to the candidates, then to the system if allowed. Returns the response, or throws.
  func load(_ entries: [Ranking.Entry]) async throws -> InterceptedResponse {
    var entries = entries
    if let first = entries.first, let way = directWay(to: first, isOnly: entries.count == 1) {
      switch try await round(entries, RoundOptions(first: way)) {
      case .responded(let response): return response
      case .again(let done):
        // The address may only have been slow: try it again after the other candidates.
        entries = (entries.dropFirst() + [first]).filter { !done.contains($0.candidate) }
      }
    }
    if let response = try await rounds(entries, stagger: policy.connectionAttemptDelay) { return response }
    let late = Set(log.late.filter { $0.duration < policy.maximumDeadline }.map(\.candidate))
    settleLate(afterResponseIn: nil, hasResponse: false)
    // The first deadlines are estimates. Late addresses that never failed are tried once more, concurrently and up to
    // the maximum deadline; shorter if the system fallback remains, which needs a part of the request's timeout.
    let limit = lastWait
    let again = entries.filter { $0.ban == nil && late.contains($0.candidate) }
    if !again.isEmpty, let response = try await rounds(again, stagger: .zero, limit: limit) { return response }
    settleLate(afterResponseIn: nil, hasResponse: false)
    guard policy.allowsSystem else { throw allFailed() }
    return try await systemFallback()
  }

  /// Runs rounds until one address responds; `nil` if none does.
  private func rounds(
    _ entries: [Ranking.Entry], stagger: Duration?, limit: Duration? = nil
  ) async throws -> InterceptedResponse? {
    var entries = entries
    while !entries.isEmpty {
      switch try await round(entries, RoundOptions(stagger: hasGates ? stagger : nil, longest: limit)) {
      case .responded(let response): return response
      case .again(let done): entries.removeAll { done.contains($0.candidate) }
      }
    }
    return nil
  }

  /// Whether the transport holds a request back until its connection is verified. Chains that end in a closure are
  /// assumed to do so.
  var hasGates: Bool { transport?.capabilities.contains(.gates) ?? true }

  /// Whether the transport reports the start of a connection; before that, a request waits for a free one.
  private var reportsBegin: Bool { transport?.capabilities.contains(.gates) ?? false }

  var isSecure: Bool { request.url.scheme?.lowercased() == "https" }

  /// Whether the request may be repeated though a server may have acted on it (RFC 9110, section 9.2.2).
  var isRepeatable: Bool {
    (request.isIdempotent || isHarmless) && request.body.isReplayable
  }

  /// How long to wait for late addresses in the last round.
  private var lastWait: Duration {
    guard policy.allowsSystem else { return policy.maximumDeadline }
    let left = timeout - (clock.time() - start)
    return max(.milliseconds(1), min(policy.maximumDeadline, policy.initialDeadline * 3, left / 2))
  }

  /// Runs one attempt at one address; for an unproven address, only if no other request is probing it.
  func attempt(_ candidate: HostCandidate, _ dialing: Dialing) async -> Tried {
    guard hasGates, dialing.gate != nil, !dialing.isFresh, !health.isProven(candidate, at: authority) else {
      return Tried(result: await dial(candidate, dialing), probe: nil)
    }
    switch await health.probes.permit(for: .init(authority: authority, endpoint: candidate.endpoint)) {
    case .granted(let probe):
      let begin = clock.time()
      // Weak, because the route lives as long as the gate; a released probe passes the trial on to the next request.
      let result = await dial(candidate, dialing) { [weak probe] in probe?.connected() }
      if log.respondedBy != nil, clock.time() - begin >= policy.connectionAttemptDelay ?? .zero { probe.end(.late) }
      return Tried(result: result, probe: probe)
    case .settled(.connected): return Tried(result: await dial(candidate, dialing), probe: nil)
    case .settled(.failed(let error)): return Tried(result: .failure(Skipped(error: error)), probe: nil)
    case .settled(.late): return Tried(result: .failure(Skipped(error: nil)), probe: nil)
    case .settled(.abandoned): return Tried(result: .failure(CancellationError()), probe: nil)
    }
  }

  /// How an attempt dials.
  struct Dialing: Sendable {
    let gate: DialGate?
    /// The limit for opening the connection.
    let limit: Duration?
    /// Whether the attempt requires a new connection.
    let isFresh: Bool
    /// Whether other candidates start if its connection is late.
    let isRaced: Bool
    let report: @Sendable (Progress) -> Void
  }

  private func dial(
    _ candidate: HostCandidate, _ dialing: Dialing, whenConnected: (@Sendable () -> Void)? = nil
  ) async -> Result<InterceptedResponse, any Error> {
    let begin = clock.time()
    log.state.withLock { $0.running.append((candidate, begin)) }
    let reportsBegin = dialing.isRaced && reportsBegin
    if reportsBegin { dialing.report(.queued) }
    defer {
      // An abandoned attempt stays in the list, so that the error can report it as unfinished.
      if !Task.isCancelled {
        log.state.withLock { state in
          let index = state.running.firstIndex { $0.candidate == candidate && $0.begin == begin }
          if let index { state.running.remove(at: index) }
        }
      }
    }
    do {
      var request = request
      var route = try Route(
        candidate.address.literal, port: candidate.port, gate: dialing.gate, connectTimeout: dialing.limit)
      // These closures must not retain the gate: it retains the route that has claimed it.
      if reportsBegin { route.onBegin = { [report = dialing.report] in report(.begun) } }
      route.onConnected = { [report = dialing.report] in
        report(.connected)
        whenConnected?()
      }
      route.opensNewConnection = dialing.isFresh
      route.isPresumedDead = { [log] in log.state.withLock { $0.suspects.contains(candidate) } }
      request.route = route
      return .success(try await next(request))
    } catch {
      return .failure(error)
    }
  }

  /// Sends the request to the system, as without the rewriter. The response check applies to its response too.
  func systemFallback() async throws -> InterceptedResponse {
    if let reason = request.reasonAgainstSystemFallback {
      log.state.withLock { $0.fallbackRefusal = reason }
      throw allFailed()
    }
    let begin = clock.time()
    do {
      let response = try await next(request)
      if let rejection = rejection(of: response) {
        note(nil, .responseRejected, since: begin, error: rejection)
        throw allFailed()
      }
      note(nil, .responded, since: begin)
      return response
    } catch let error as TransportError {
      note(nil, OpenEnum<HostAttempt>(error) ?? .failed, since: begin, error: error)
      throw log.attempts.count > 1 ? allFailed() : error
    }
  }

  /// Why the response is not accepted as the host's own; `nil` if it is.
  func rejection(of response: InterceptedResponse) -> HostError? {
    guard !isSecure, let reason = policy.responseCheck?.rejection(of: response, to: request) else { return nil }
    return HostError(
      .responseRejected, "the response check rejected the response: \(reason).", host: authority.host.description)
  }

  /// Records an attempt and reports it.
  func note(
    _ candidate: HostCandidate?, _ outcome: OpenEnum<HostAttempt>, since begin: Duration,
    lasting duration: Duration? = nil,
    error: (any Error)? = nil, ban: AddressBan? = nil
  ) {
    let attempt = HostAttempt(
      candidate, outcome, start: begin - start, duration: duration ?? clock.time() - begin, error: error)
    log.state.withLock { $0.attempts.append(attempt) }
    report(attempt, ban)
  }
}

extension Failover {
  /// How long after a response an address is used without a race.
  private static let trust: Duration = .seconds(60)

  /// The way to a trusted address, for which a race would cost as much as a short load; `nil` if a race is needed. An
  /// open connection needs no race.
  func directWay(to entry: Ranking.Entry, isOnly: Bool) -> Way? {
    let now = clock.time()
    guard entry.ban == nil, entry.record.isProven, !entry.record.isLate, now - entry.record.lastUse < Self.trust else {
      return nil
    }
    if isOnly, !policy.allowsSystem { return .direct(limit: nil) }
    let limit = policy.connectionAttemptDelay ?? health.deadline(of: entry.candidate, at: authority)
    // An address nearly as slow as the stagger goes into a race, which does not abandon it.
    return (entry.record.smoothed ?? .zero) * 2 <= limit ? .direct(limit: limit) : nil
  }
}

extension InterceptedRequest {
  /// Why a request must not fall back to the system, where without a certificate any server may read it; `nil` if it
  /// may.
  ///
  /// The app has given the host's addresses because it does not trust the network's resolver. A request without a
  /// secret may go to the address that the resolver returns; a body or credentials may not.
  var reasonAgainstSystemFallback: String? {
    guard url.scheme?.lowercased() != "https" else { return nil }
    if !body.isEmpty { return "it has a body, which nothing protects without TLS" }
    if let name = fields.lazy.map(\.name.rawName).first(where: CredentialNames.isCredential) {
      return "it has the field \(name), which nothing protects without TLS"
    }
    // Items of the query, and parameters of the path (RFC 3986, section 3.3).
    let items = url.absoluteString.prefix { $0 != "#" }.split { "?&;".contains($0) }.dropFirst()
    let names = items.map { String($0.prefix { $0 != "=" && $0 != "/" }) }.map { $0.removingPercentEncoding ?? $0 }
    if let name = names.first(where: CredentialNames.isCredential) {
      return "its URL has the item \(name), which nothing protects without TLS"
    }
    if url.user != nil || url.password != nil {
      return "its URL has credentials, which nothing protects without TLS"
    }
    return nil
  }
}
