extension HostRewriter {
  /// Explains what the rewriter would do with `url` now, and why. It looks up the host's addresses if a request would,
  /// and dials nothing.
  public func explain(_ url: URL) async -> HostExplanation {
    guard let authority = Self.authority(of: url) else {
      return HostExplanation(
        host: url.host, rule: nil, candidates: [],
        summary: "\(url.redacted): not http or https, or no host: left alone", error: nil)
    }
    let host = "\(authority.host):\(authority.port)"
    let end = policy.fallback.allowsSystem ? "then the system's way" : "and nothing else"
    do {
      guard let decision = try await decide(authority, url) else {
        let rule = try? ruleSource.match(authority.host, port: authority.port)
        let reason = rule.map { "rule \"\($0)\"" } ?? "no rule"
        return HostExplanation(
          host: host, rule: rule, candidates: [], summary: "\(host), \(reason): the request is left alone", error: nil)
      }
      let now = clock.time()
      let rows = decision.ranking.entries.map { entry in
        HostExplanation.Row(
          candidate: entry.candidate, standing: entry.standing, handshake: entry.record.smoothed,
          ban: entry.ban.map { $0.until - now })
      }
      return HostExplanation(
        host: host, rule: decision.rule, candidates: rows, summary: "\(host), rule \"\(decision.rule)\", \(end)",
        error: nil)
    } catch {
      let rule = try? ruleSource.match(authority.host, port: authority.port)
      return HostExplanation(
        host: host, rule: rule, candidates: [], summary: "\(host), no address, \(end)", error: error)
    }
  }
}
