package import WaylayHAR

extension MockInterceptor {
  private static let shownStubs = 3

  /// The report of a request that no stub answered, with the closest stubs.
  ///
  /// - Parameters:
  ///   - sender: The request whose response redirected to this one.
  ///   - isIssue: Whether the report is an issue, which replaces the issues of the nearest stubs.
  func unmatchedReport(
    _ facts: RequestFacts, _ spent: [Spent], redirectedBy sender: MockRequest?, isIssue: Bool = true
  ) -> String {
    facts.reporting { report(facts, spent, redirectedBy: sender, isIssue: isIssue) }
  }

  private func report(
    _ facts: RequestFacts, _ spent: [Spent], redirectedBy sender: MockRequest?, isIssue: Bool
  ) -> String {
    let entries = layers.flatMap { layer in layer.state.withLock { $0.entries } }
    let request = "\(facts.method) \(Redaction.shown(facts.url.url))"
    var parts: [String] = []
    if !spent.isEmpty {
      parts.append("\(request) matched, but the \(spent.count == 1 ? "stub does" : "stubs do") not answer it:")
    } else {
      parts.append("No stub matches \(request)" + (entries.isEmpty ? ": the mock \"\(name)\" has none." : ""))
    }
    if let sender {
      parts.append(
        "A redirect from \(sender) led to this request"
          + (sender.stubLocation.map { "; the stub at \($0) sent it." } ?? "."))
    }
    let nearest = spent.isEmpty ? Self.nearest(to: facts, among: entries) : []
    parts += spent.prefix(Self.shownStubs).map {
      "  \($0.entry.stub) [\($0.entry.stub.location)]\n    \($0.explanation)"
    }
    if !nearest.isEmpty {
      parts.append("Nearest of \(entries.count) \(entries.count == 1 ? "stub" : "stubs"):")
      parts += nearest.map { "  \($0.entry.stub) [\($0.entry.stub.location)]\n\($0.mismatches.lines)" }
    }
    let invalid = entries.filter { !$0.canMatch }.prefix(Self.shownStubs)
    let suspects = invalid.filter { $0.stub.pattern.leastDistance(to: facts) <= 1 }
    for entry in isIssue ? suspects + meant(nearest) : [] { entry.isReported.withLock { $0 = true } }
    let broken = invalid.map(\.stub)
    if !broken.isEmpty {
      parts.append("Invalid stubs, which match nothing:")
      parts += broken.map { "  \($0) [\($0.location)]\n    \($0.problems.first?.message ?? "")" }
    }
    parts += MockRequest(facts.request, body: facts.body).repetition.map { ["The request:\n  \($0)"] } ?? []
    parts.append(
      "Suggested stub:\n\n"
        + StubSource.text(for: facts).split(separator: "\n").map { "    " + $0 }.joined(separator: "\n"))
    return parts.joined(separator: "\n")
  }

  /// Describes the stub that would answer a request, or why none would; `nil` if the request is not HTTP. Counts no
  /// use.
  package func explanation(of request: HAR.Request) -> String? {
    guard let facts = RequestFacts(request) else { return nil }
    let entries = layers.flatMap { layer in
      layer.state.withLock { state in
        state.index.entries(for: facts).filter { $0.uses < $0.stub.life.maximum ?? .max }
      }
    }
    var parameters: [String: String] = [:]
    let stub = entries.first { $0.stub.pattern.matches(facts, &parameters) }?.stub
    return reporting {
      stub.map { "The stub \($0) [\($0.location)] answers." }
        ?? unmatchedReport(facts, [], redirectedBy: nil, isIssue: false)
    }
  }

  /// The closest stubs, the nearest first; among equally close ones, the newest first.
  ///
  /// Computing all differences is slow, so it is done only for stubs whose method and URL are close enough.
  private static func nearest(
    to facts: RequestFacts, among entries: [StubEntry]
  ) -> [(entry: StubEntry, mismatches: [Mismatch])] {
    var best: [(entry: StubEntry, mismatches: [Mismatch])] = []
    for entry in entries.reversed() where entry.canMatch {
      let stub = entry.stub
      let farthest = best.count < shownStubs ? Double.infinity : best[shownStubs - 1].mismatches.distance
      guard stub.pattern.leastDistance(to: facts) < farthest else { continue }
      let mismatches = stub.pattern.mismatches(facts)
      let distance = mismatches.distance
      guard distance < farthest else { continue }
      best.insert((entry, mismatches), at: best.firstIndex { distance < $0.mismatches.distance } ?? best.endIndex)
      if best.count > shownStubs { best.removeLast() }
    }
    return best
  }

  /// The stubs that may have been meant for a request: the nearest one, unless it has little in common with the
  /// request; and, if that one is already used, the nearest other one with a single difference.
  private func meant(_ nearest: [(entry: StubEntry, mismatches: [Mismatch])]) -> [StubEntry] {
    let used = layers.flatMap { layer in layer.state.withLock { $0.entries.filter { $0.uses > 0 } } }
    func isTaken(_ entry: StubEntry) -> Bool {
      used.contains { $0 === entry } || entry.isReported.withLock { $0 }
    }
    guard let (first, mismatches) = nearest.first, mismatches.distance < 2 else { return [] }
    let other = isTaken(first) ? nearest.dropFirst().first { !isTaken($0.entry) && $0.mismatches.distance <= 1 } : nil
    return [first] + [other?.entry].compactMap(\.self)
  }
}

extension Spent {
  /// The reason why the stub did not answer.
  var explanation: String {
    guard !isRemoved else { return "matched, but was removed while the request was in flight." }
    let limit = entry.stub.life.maximum ?? 0
    return
      "matched, but used up: it answers \(limit) \(limit == 1 ? "request" : "requests"), and has already done so. "
      + "Raise .times(…), add a stub for the next request, or find out why the request was made again."
  }
}

extension MockInterceptor {
  /// This mock and the outer ones.
  var layers: [MockInterceptor] { [self] + (outer?.layers ?? []) }
}

/// A stub that matches a request but no longer answers.
struct Spent: Error {
  let entry: StubEntry
  /// Whether the stub was removed during matching; otherwise its count is used up.
  let isRemoved: Bool
}
