import Foundation

/// One request on its way through the addresses of its host: which attempt comes next, what a failure means, when it is
/// over.
///
/// Everything it needs is passed to it, the time too; what outlives the request is in the health records alone.
struct Failover: Sendable {
  let request: InterceptedRequest
  let authority: HostAuthority
  let policy: HostRewriter.Policy
  let health: HostHealth
  let clock: HostClock
  /// The rest of the chain.
  let next: InterceptorChain.Next
  /// What it ends in, where that is known.
  let transport: (any Transport)?
  /// Told of each attempt when its outcome is known.
  let report: @Sendable (HostAttempt, AddressBan?) -> Void
  /// When the request reached the rewriter.
  let start: Duration
  /// Which network the request has begun in.
  let epoch: Int
  /// Whether the request changes nothing, whatever its method: a DNS query.
  var isHarmless = false
  let log = Log()

  /// An attempt that was not connected in its time.
  struct Late: Sendable {
    let candidate: HostCandidate
    let begin: Duration
    let duration: Duration
    let error: any Error
    /// Whether this request has found it out by itself.
    var isOwn = true
  }

  /// An attempt that is over, and the probe to settle where other requests wait for its outcome.
  struct Tried: Sendable {
    let result: Result<InterceptedResponse, any Error>
    let probe: Probes.Probe?
  }

  /// Another request has tried the address meanwhile, and this came of it: nothing was dialled.
  struct Skipped: Error {
    /// `nil` when it was only late.
    let error: (any Error)?
  }

  /// What has happened so far.
  final class Log: Sendable {
    struct State {
      var attempts: [HostAttempt] = []
      /// Attempts that are under way, and since when.
      var running: [(candidate: HostCandidate, begin: Duration)] = []
      /// Addresses that were late: counted against them only when another one proves that the network is not to blame.
      var late: [Late] = []
      /// The address that has answered the request.
      var respondedBy: HostCandidate?
      /// Addresses whose connection was silent while another one answered.
      var suspects: Set<HostCandidate> = []
      /// Whether a second server has the request, or has had it.
      var hasHedged = false
      /// Why it was not sent the system's way.
      var fallbackRefusal: String?
    }

    let state = Locked(State())

    var attempts: [HostAttempt] { state.withLock { $0.attempts } }

    var late: [Late] { state.withLock { $0.late } }

    var respondedBy: HostCandidate? { state.withLock { $0.respondedBy } }

    /// All that was tried, with what is late or still under way.
    func table(start: Duration, now: Duration) -> [HostAttempt] {
      let state = state.withLock { $0 }
      let late = state.late.map {
        HostAttempt(
          $0.candidate, $0.isOwn ? .timedOut : .skipped, start: $0.begin - start, duration: $0.duration, error: $0.error
        )
      }
      let open = state.running.map {
        HostAttempt($0.candidate, .unfinished, start: $0.begin - start, duration: now - $0.begin)
      }
      return state.attempts + late + open
    }

    /// Those that were late, which are none any more.
    func takeLate() -> [Late] {
      state.withLock { state in
        defer { state.late = [] }
        return state.late
      }
    }
  }

  /// How a round of attempts ended.
  enum Round: Sendable {
    case responded(InterceptedResponse)
    /// To be gone on with, without these candidates.
    case again(without: Set<HostCandidate>)
  }

  /// Gets the request answered by one of the candidates, or the system's way, or throws.
  func load(_ entries: [Ranking.Entry]) async throws -> InterceptedResponse {
    var entries = entries
    if let first = entries.first, let way = directWay(to: first, isOnly: entries.count == 1) {
      switch try await round(entries, RoundOptions(first: way)) {
      case .responded(let response): return response
      case .again(let done):
        // It may only have been slow: then it is tried again after the others.
        entries = (entries.dropFirst() + [first]).filter { !done.contains($0.candidate) }
      }
    }
    if let response = try await rounds(entries, stagger: policy.connectionAttemptDelay) { return response }
    let late = Set(log.late.filter { $0.duration < policy.maximumDeadline }.map(\.candidate))
    settleLate(afterResponseIn: nil, hasResponse: false)
    // Deadlines come from a guess at first. Those that were late, and never failed, are tried once more, all at once,
    // for as long as is allowed; not that long when the system's way is left, which needs time of its own within the
    // request's timeout.
    let limit = lastWait
    let again = entries.filter { $0.ban == nil && late.contains($0.candidate) }
    if !again.isEmpty, let response = try await rounds(again, stagger: .zero, limit: limit) { return response }
    settleLate(afterResponseIn: nil, hasResponse: false)
    guard policy.allowsSystem else { throw allFailed() }
    return try await systemFallback()
  }

  /// Rounds of attempts until one has answered; `nil` when none has.
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

  /// Whether requests are held back until their connection is verified. A closure in place of a chain is trusted with
  /// it.
  var hasGates: Bool { transport?.capabilities.contains(.gates) ?? true }

  /// Whether the transport says when it begins to open a connection; until then a request waits for a free one.
  private var reportsBegin: Bool { transport?.capabilities.contains(.gates) ?? false }

  var isSecure: Bool { request.url.scheme?.lowercased() == "https" }

  /// Whether the request may be sent again though it may have been acted on (RFC 9110, section 9.2.2).
  var isRepeatable: Bool {
    (request.isIdempotent || isHarmless) && request.body.isReplayable
  }

  /// How long late addresses are waited for at last.
  private var lastWait: Duration {
    guard policy.allowsSystem else { return policy.maximumDeadline }
    let left = timeout - (clock.time() - start)
    return max(.milliseconds(1), min(policy.maximumDeadline, policy.initialDeadline * 3, left / 2))
  }

  /// One attempt at one address; at one that has not answered yet, when no other request is trying it.
  func attempt(_ candidate: HostCandidate, _ dialing: Dialing) async -> Tried {
    guard hasGates, dialing.gate != nil, !dialing.isFresh, !health.isProven(candidate, at: authority) else {
      return Tried(result: await dial(candidate, dialing), probe: nil)
    }
    switch await health.probes.permit(for: .init(authority: authority, endpoint: candidate.endpoint)) {
    case .granted(let probe):
      let begin = clock.time()
      // Weak, because the route lives as long as the gate: a probe that is released has the next request try.
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
    /// How long the connection may take to be open.
    let limit: Duration?
    /// Whether on a connection of its own.
    let isFresh: Bool
    /// Whether others are tried beside it when its connection is late.
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
      // One that was abandoned stays in the list, so that the error says that it was under way.
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
      // Nothing of this holds the gate, which holds the route that has claimed it.
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

  /// The request as it would have gone without the rewriter; its response has to pass the check too.
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

  /// Why a response is not taken for the host's own.
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
  /// How long an address is trusted without a race after it has answered.
  private static let trust: Duration = .seconds(60)

  /// The way to an address that is so well known that the request goes there without a race, which costs as much as a
  /// short load; `nil` for another address. An open connection takes no time.
  func directWay(to entry: Ranking.Entry, isOnly: Bool) -> Way? {
    let now = clock.time()
    guard entry.ban == nil, entry.record.isProven, !entry.record.isLate, now - entry.record.lastUse < Self.trust else {
      return nil
    }
    if isOnly, !policy.allowsSystem { return .direct(limit: nil) }
    let limit = policy.connectionAttemptDelay ?? health.deadline(of: entry.candidate, at: authority)
    // An address that takes nearly as long as the stagger is better off in a race, where it is not abandoned.
    return (entry.record.smoothed ?? .zero) * 2 <= limit ? .direct(limit: limit) : nil
  }
}

extension InterceptedRequest {
  /// Why a request must not go the system's way, where without a certificate any server may read it; `nil`
  /// when it may.
  ///
  /// The app has given the host's addresses because it does not trust the network's resolver. A request without a
  /// secret may go to the address that the resolver returns; a body or credentials may not.
  var reasonAgainstSystemFallback: String? {
    guard url.scheme?.lowercased() != "https" else { return nil }
    if !body.isEmpty { return "it has a body, which nothing protects without TLS" }
    if let name = fields.lazy.map(\.name.canonicalName).first(where: CredentialNames.isField) {
      return "it has the field \(name), which nothing protects without TLS"
    }
    // Items of the query, and parameters of the path (RFC 3986, section 3.3).
    let items = url.absoluteString.prefix { $0 != "#" }.split { "?&;".contains($0) }.dropFirst()
    let names = items.map { String($0.prefix { $0 != "=" && $0 != "/" }) }.map { $0.removingPercentEncoding ?? $0 }
    if let name = names.first(where: CredentialNames.isParameter) {
      return "its URL has the item \(name), which nothing protects without TLS"
    }
    if url.user != nil || url.password != nil {
      return "its URL has credentials, which nothing protects without TLS"
    }
    return nil
  }
}
