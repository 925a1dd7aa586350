/// A request that no stub answered, and what came nearest to it.
///
/// Made only when there was a miss: comparing every stub with the request in every respect takes its time.
struct Miss {
  /// A stub, and how the request differs from what it wants.
  struct Candidate {
    let stub: Stub
    let mismatches: [Mismatch]
  }

  /// How many stubs are shown.
  static let shown = 3

  let facts: RequestFacts
  let spent: [Spent]
  /// The nearest first.
  let nearest: [Candidate]
  let count: Int
  private let broken: [Stub]
  private let name: String
  /// The call whose answer led to this request.
  private let sender: RecordedCall?

  init(_ facts: RequestFacts, _ spent: [Spent], in mock: MockInterceptor, redirectedBy sender: RecordedCall? = nil) {
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
  /// What takes its time, looking at conditions and putting differences into words, is done for those alone whose
  /// method and URL are near enough.
  private static func nearest(to facts: RequestFacts, among entries: [StubEntry]) -> [Candidate] {
    var best: [(candidate: Candidate, distance: Double)] = []
    for entry in entries.reversed() where entry.canMatch {
      let stub = entry.stub
      if best.count == shown, let last = best.last, stub.pattern.leastDistance(to: facts) >= last.distance { continue }
      let mismatches = stub.pattern.mismatches(facts)
      let distance = mismatches.distance
      guard best.count < shown || distance < (best.last?.distance ?? .infinity) else { continue }
      best.insert(
        (Candidate(stub: stub, mismatches: mismatches), distance),
        at: best.firstIndex { distance < $0.distance } ?? best.endIndex)
      if best.count > shown { best.removeLast() }
    }
    return best.map(\.candidate)
  }
}

extension Miss {
  /// All of it as text.
  var report: String {
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

  private static func describe(_ candidate: Candidate) -> String {
    let width = candidate.mismatches.map(\.aspect.count).max() ?? 0
    let lines = candidate.mismatches.map { mismatch in
      let name = mismatch.aspect.padding(toLength: width, withPad: " ", startingAt: 0)
      let indent = String(repeating: " ", count: width)
      return "    \(name)  expected \(mismatch.expected)\n    \(indent)  but was  \(mismatch.actual)"
    }
    return (["  \(candidate.stub) [\(candidate.stub.location)]"] + lines).joined(separator: "\n")
  }
}

extension Spent {
  /// Why the stub does not answer.
  var explanation: String {
    switch reason {
    case .usedUp:
      let limit = entry.stub.limit ?? 0
      return
        "matched, but used up: it answers \(limit) \(limit == 1 ? "request" : "requests"), and has already done so. "
        + "Raise .times(…), add a stub for the next request, or find out why the request was made again."
    case .otherState(let state):
      let transition = entry.stub.life.scenario
      return
        "matched, but the scenario \"\(transition?.scenario.name ?? "")\" is in the state \"\(state)\", and the stub "
        + "requires \"\(transition?.required ?? "")\"."
    case .removed: return "matched, but was removed while the request was in flight."
    }
  }
}

extension MockInterceptor {
  /// The call whose answer redirected to a request, if it is one that was redirected.
  func sender(of facts: RequestFacts) -> RecordedCall? {
    state.withLock { $0.calls }.last { $0.mayHaveSent(facts) }
  }

  /// This mock and those round it.
  var layers: [MockInterceptor] { [self] + (outer?.layers ?? []) }
}
