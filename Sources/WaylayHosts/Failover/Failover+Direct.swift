extension Failover {
  /// How long an address is trusted without a race after it has answered.
  private static let trust: Duration = .seconds(60)
  /// How long a kept connection is taken to be alive after something has come from its address.
  private static let freshness: Duration = .seconds(1)

  /// Whether an address is so well known that the request goes there without a race, which costs as much as a short
  /// load: then how long its connection may take, `.some(nil)` for no limit of its own. An open connection takes no
  /// time.
  func directLimit(of entry: Ranking.Entry, isOnly: Bool) -> Duration?? {
    let now = clock.time()
    guard entry.ban == nil, entry.record.isProven, !entry.record.isLate, now - entry.record.lastUse < Self.trust else {
      return nil
    }
    if isOnly, !policy.fallback.allowsSystem { return .some(nil) }
    let limit = policy.attempts.stagger ?? health.deadline(of: entry.candidate, at: authority)
    // An address that takes nearly as long as the stagger is better off in a race, where it is not given up.
    return (entry.record.smoothed ?? .zero) * 2 <= limit ? .some(limit) : nil
  }

  /// The request at one address, with nothing beside it, unless it is silent for long.
  func direct(_ entry: Ranking.Entry, limit: Duration?, others: [Ranking.Entry]) async throws -> Round {
    let begin = clock.time()
    let candidate = entry.candidate
    if silence != nil, isHedgeable, hasGates, begin - entry.record.lastUse >= Self.freshness {
      return try await round([entry], Plan(limit: limit, spares: others))
    }
    switch await attempt(candidate, gate: nil, limit: limit).result {
    case .success(let response):
      guard let answer = try accept(response, of: candidate, since: begin) else { return .again(without: [candidate]) }
      note(candidate, .answered, since: begin)
      return .answered(answer)
    case .failure(let error):
      switch try judge(error, of: candidate, since: begin, gate: nil, limit: limit) {
      case .late, .lost: return .again(without: [])
      case .next, .again: return .again(without: [candidate])
      }
    }
  }
}
