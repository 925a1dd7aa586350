extension Failover {
  /// What the app sees when nothing has answered: the most telling of the failures, with all of them beneath.
  func allFailed() -> URLError {
    let attempts = log.attempts
    let error = HostError(
      allFailed: attempts, host: authority.host.description, heldBack: log.state.withLock { $0.heldBack })
    return error.urlError(Self.code(of: attempts), of: request)
  }

  /// What the load's own timeout becomes: an error that tells what was tried until then. The load holds it, so it holds
  /// nothing of the load.
  var account: @Sendable (WaylayError) -> any Error {
    { [log, clock, start, authority] timeout in
      HostError(timedOut: log.table(start: start, now: clock.time()), host: authority.host.description, timeout)
    }
  }

  /// Whether a request that has failed may be sent again: it may be repeated, or nothing of it was sent.
  static func allowsAnotherTry(after error: any Error, of request: InterceptedRequest) -> Bool {
    guard request.body.isReplayable, !(error is CancellationError) else { return false }
    if request.isIdempotent { return true }
    let cause = (error as? URLError)?.cause(as: HostError.self)
    let errors = cause.map { $0.attempts.map(\.error) } ?? [error]
    return errors.allSatisfy { ($0 as? TransportError)?.requestBytesSent == 0 }
  }

  /// A wrong certificate says more than an address that does not answer.
  static func code(of attempts: [HostAttempt]) -> URLError.Code {
    let failures = attempts.filter { $0.finding.isAddressFault || $0.outcome == .failed }
    let telling =
      failures.last { $0.finding == .certificateRefused } ?? failures.last { $0.finding.isSuspectedHijack }
      ?? failures.last { $0.finding == .handshakeFailed } ?? failures.last { $0.error is TransportError }
      ?? failures.last
    if let error = telling?.error as? TransportError { return error.code }
    return telling?.finding == .responseRejected ? .badServerResponse : .timedOut
  }
}

extension HostAttempt {
  /// What is known of the address: what another request has found, where this one has skipped it.
  fileprivate var finding: Outcome { outcome == .skipped ? error.flatMap(Outcome.init) ?? .skipped : outcome }
}

extension HostError {
  /// No address has answered.
  init(allFailed attempts: [HostAttempt], host: String, heldBack: String? = nil) {
    let hint =
      attempts.contains(where: \.finding.isSuspectedHijack)
      ? " Another server may be posing as the host: compare the addresses with those its owner publishes." : ""
    let held = heldBack.map { " The system's way was not taken: \($0)." } ?? ""
    let story = Self.story(of: attempts, orElse: "there is none")
    self.init(.allAddressesFailed, "no address of \(host) answered: \(story).\(hint)\(held)", host: host)
    self.attempts = attempts
  }

  /// The request's own timeout was over before an address had answered.
  init(timedOut attempts: [HostAttempt], host: String, _ timeout: WaylayError) {
    let story = Self.story(of: attempts, orElse: "none was tried yet")
    self.init(
      .timedOut, "the request timed out before an address of \(host) answered: \(story).", host: host,
      underlying: timeout)
    self.attempts = attempts
  }

  private static func story(of attempts: [HostAttempt], orElse none: String) -> String {
    attempts.isEmpty ? none : attempts.map(\.description).joined(separator: "; ")
  }
}
