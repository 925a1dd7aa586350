/// The report of a request that no stub answered, with the closest stubs.
///
/// Made only for such a request: comparing every stub with it in every respect takes time.
struct UnmatchedReport {
  /// A stub, and how the request differs from its pattern.
  struct NearMiss {
    let stub: Stub
    let mismatches: [Mismatch]
  }

  /// How many stubs are shown.
  static let shown = 3

  let facts: RequestFacts
  let spent: [Spent]
  /// The nearest first.
  let nearest: [NearMiss]
  let count: Int
  private let broken: [Stub]
  private let name: String
  /// The request whose response led to this one.
  private let sender: MockRequest?

  init(_ facts: RequestFacts, _ spent: [Spent], in mock: MockInterceptor, redirectedBy sender: MockRequest? = nil) {
    self.sender = sender
    self.facts = facts
    self.spent = spent
    name = mock.name
    let entries = mock.layers.flatMap { layer in layer.state.withLock { $0.entries } }
    count = entries.count
    broken = entries.filter { !$0.canMatch }.prefix(Self.shown).map(\.stub)
    nearest = spent.isEmpty ? Self.nearest(to: facts, among: entries) : []
  }

  /// The closest stubs; among equally close ones, the newest first.
  ///
  /// Conditions are compared, and differences described, which takes time, only for stubs whose
  /// method and URL are near enough.
  private static func nearest(to facts: RequestFacts, among entries: [StubEntry]) -> [NearMiss] {
    var best: [(miss: NearMiss, distance: Double)] = []
    for entry in entries.reversed() where entry.canMatch {
      let stub = entry.stub
      if best.count == shown, let last = best.last, stub.pattern.leastDistance(to: facts) >= last.distance { continue }
      let mismatches = stub.pattern.mismatches(facts)
      let distance = mismatches.distance
      guard best.count < shown || distance < (best.last?.distance ?? .infinity) else { continue }
      best.insert(
        (NearMiss(stub: stub, mismatches: mismatches), distance),
        at: best.firstIndex { distance < $0.distance } ?? best.endIndex)
      if best.count > shown { best.removeLast() }
    }
    return best.map(\.miss)
  }
}

extension UnmatchedReport {
  /// All of it as text.
  var text: String {
    var parts = [headline]
    if let sender {
      parts.append(
        "A redirect from \(sender) led to this request"
          + (sender.stubLocation.map { "; the stub at \($0) sent it." } ?? "."))
    }
    if !spent.isEmpty {
      parts.append(
        spent.prefix(Self.shown).map { "  \($0.entry.stub) [\($0.entry.stub.location)]\n    \($0.explanation)" }.joined(
          separator: "\n"))
    } else if !nearest.isEmpty {
      parts.append("Nearest of \(count) \(count == 1 ? "stub" : "stubs"):")
      parts += nearest.map(Self.describe)
    }
    if !broken.isEmpty {
      parts.append("Invalid stubs, which match nothing:")
      parts += broken.prefix(Self.shown).map { "  \($0) [\($0.location)]\n    \($0.problems.first?.message ?? "")" }
    }
    parts += MockRequest(facts.request, body: facts.body).repetition.map { ["The request:\n  \($0)"] } ?? []
    parts.append(
      "Suggested stub:\n\n"
        + StubSource.text(for: facts).split(separator: "\n").map { "    " + $0 }.joined(separator: "\n"))
    return parts.joined(separator: "\n")
  }

  private var headline: String {
    let request = "\(facts.method) \(Redaction.shown(facts.url.url))"
    if !spent.isEmpty {
      return "\(request) matched, but the \(spent.count == 1 ? "stub does" : "stubs do") not answer it:"
    }
    return count == 0 ? "No stub matches \(request): the mock \"\(name)\" has none." : "No stub matches \(request)"
  }

  private static func describe(_ miss: NearMiss) -> String {
    let width = miss.mismatches.map(\.aspect.count).max() ?? 0
    let lines = miss.mismatches.map { mismatch in
      let name = mismatch.aspect.padding(toLength: width, withPad: " ", startingAt: 0)
      let indent = String(repeating: " ", count: width)
      return "    \(name)  expected \(mismatch.expected)\n    \(indent)  but was  \(mismatch.actual)"
    }
    return (["  \(miss.stub) [\(miss.stub.location)]"] + lines).joined(separator: "\n")
  }
}

extension Spent {
  /// Why the stub does not answer.
  var explanation: String {
    switch reason {
    case .exhausted:
      let limit = entry.stub.life.maximum ?? 0
      return
        "matched, but used up: it answers \(limit) \(limit == 1 ? "request" : "requests"), and has already done so. "
        + "Raise .times(…), add a stub for the next request, or find out why the request was made again."
    case .removed: return "matched, but was removed while the request was in flight."
    }
  }
}

extension MockInterceptor {
  /// This mock and the outer ones.
  var layers: [MockInterceptor] { [self] + (outer?.layers ?? []) }
}

/// A stub that matches a request and does not answer it.
struct Spent: Error {
  enum Reason: Equatable {
    /// It has answered as often as it may.
    case exhausted
    /// It was removed while the request was being matched.
    case removed
  }

  let entry: StubEntry
  let reason: Reason

  init(_ entry: StubEntry, _ reason: Reason) {
    self.entry = entry
    self.reason = reason
  }
}
