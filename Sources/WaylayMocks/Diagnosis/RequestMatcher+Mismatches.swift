extension RequestMatcher {
  /// How a request differs from the condition: nothing when it fulfils it.
  func mismatches(_ facts: RequestFacts, _ parameters: [String: String]) -> [Mismatch] {
    guard !matches(facts, parameters) else { return [] }
    switch kind {
    case .method(let method): return [Mismatch("method", expected: method, actual: facts.method, distance: 1)]
    case .url(let pattern): return pattern.mismatches(facts.url)
    case .query(let pattern): return pattern.mismatches(facts.query)
    case .hasQuery(let name):
      return [Mismatch("query \(name)", expected: "any value", actual: "no such item", distance: 0.3)]
    case .header(let name, let value):
      return [header(name, expected: value.map { Redaction.field(name, $0) } ?? "any value", facts)]
    case .headerRegex(let name, let regex): return [header(name, expected: "a match of \(regex)", facts)]
    case .body(let body): return body.mismatches(facts)
    case .predicate(let name, _):
      return [Mismatch("condition", expected: name, actual: "the closure returned false", distance: 0.5)]
    case .and(let matchers): return matchers.flatMap { $0.mismatches(facts, parameters) }
    case .or(let matchers):
      let nearest = matchers.map { $0.mismatches(facts, parameters) }.min { $0.distance < $1.distance }
      return [
        Mismatch(
          "one of", expected: matchers.map(\.description).joined(separator: " or "),
          actual: nearest?.first?.actual ?? "none of them",
          distance: nearest?.distance ?? 0.5)
      ]
    case .not(let matcher):
      return [Mismatch("condition", expected: "not \(matcher)", actual: "\(matcher)", distance: 0.5)]
    }
  }

  private func header(_ name: String, expected: String, _ facts: RequestFacts) -> Mismatch {
    Mismatch(
      "header \(name)", expected: expected,
      actual: facts.header(name).map { Redaction.field(name, $0) } ?? "no such field", distance: 0.3)
  }
}

extension [Mismatch] {
  var distance: Double { reduce(0) { $0 + $1.distance } }
}

extension BodyMatcher {
  func mismatches(_ facts: RequestFacts) -> [Mismatch] {
    switch kind {
    case .json(let value): return json(facts) { $0.differences(from: value, asSubset: false) }
    case .jsonSubset(let value): return json(facts) { $0.differences(from: value, asSubset: true) }
    case .jsonSet(let value, let comparison): return json(facts) { comparison.differences($0, value) }
    case .jsonPath(let path, let value):
      guard let actual = facts.json else { return [notJSON(facts)] }
      return [
        Mismatch(
          "body at \(path)", expected: value.map(path.shown) ?? "anything", actual: path.shownValues(in: actual),
          distance: 0.4)
      ]
    case .form(let pattern):
      guard facts.mayBeForm else {
        return [
          Mismatch(
            "header Content-Type", expected: "application/x-www-form-urlencoded",
            actual: facts.header("Content-Type") ?? "no such field",
            distance: 0.3)
        ]
      }
      return pattern.mismatches(facts.form).map {
        Mismatch(
          "form " + $0.aspect.replacingOccurrences(of: "query", with: "field"), expected: $0.expected,
          actual: $0.actual,
          distance: $0.distance)
      }
    case .multipart(let parts, let isExact): return PartPattern.mismatches(parts, isExact, facts)
    case .data(let data):
      return [Mismatch("body", expected: "\(data.count) given bytes", actual: Excerpt.of(facts), distance: 0.6)]
    case .text(let text):
      return [
        Mismatch("body", expected: JSONNode.quoted(Excerpt.ofText(text)), actual: Excerpt.of(facts), distance: 0.6)
      ]
    case .regex(let regex):
      return [Mismatch("body", expected: "a match of \(regex)", actual: Excerpt.of(facts), distance: 0.6)]
    case .empty: return [Mismatch("body", expected: "none", actual: Excerpt.of(facts), distance: 0.6)]
    case .present: return [Mismatch("body", expected: "any", actual: "none", distance: 0.6)]
    case .broken: return []
    }
  }

  private func json(_ facts: RequestFacts, _ compare: (JSONNode) -> [JSONNode.Difference]) -> [Mismatch] {
    guard let actual = facts.json else { return [notJSON(facts)] }
    let differences = compare(actual)
    var found = differences.prefix(5).map {
      Mismatch("body at \($0.path)", expected: Excerpt.of($0.expected), actual: Excerpt.of($0.actual), distance: 0.2)
    }
    if differences.count > found.count {
      found.append(
        Mismatch(
          "body", expected: "no more differences", actual: "\(differences.count - found.count) more", distance: 0.2))
    }
    return found
  }

  private func notJSON(_ facts: RequestFacts) -> Mismatch {
    Mismatch("body", expected: "JSON", actual: Excerpt.of(facts), distance: 0.8)
  }
}

/// As much of a text as a report has room for.
enum Excerpt {
  static func of(_ text: String, limit: Int = 200) -> String {
    text.count > limit ? text.prefix(limit) + "… (\(text.count) characters)" : text
  }

  static func of(_ facts: RequestFacts) -> String {
    if facts.body.isEmpty { return "none" }
    guard let text = facts.text else { return "\(facts.body.count) bytes" }
    if let json = facts.json { return of(Redaction.masked(json).text) }
    if let parts = facts.multipart { return of(parts.map(\.shown).joined(separator: ", ")) }
    if facts.statesForm { return JSONNode.quoted(of(Redaction.shownQuery(text))) }
    return JSONNode.quoted(ofText(text))
  }

  /// A text of whatever kind, without secrets. Only its beginning is looked at, and shown.
  static func ofText(_ text: String) -> String {
    let beginning = String(text.prefix(2000))
    let shown = of(Redaction.scrubbed(beginning))
    return beginning.count < text.count && shown.count == beginning.count ? shown + "…" : shown
  }
}
