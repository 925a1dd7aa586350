import WaylayHAR

/// A difference between a request and a pattern.
struct Mismatch: Equatable {
  /// The differing part: "path", "header Accept".
  let aspect: String
  let expected: String
  let actual: String
  /// The distance: small for a typing error, 1 for an unrelated value, more for important parts.
  let distance: Double

  init(_ aspect: String, expected: String, actual: String, distance: Double) {
    self.aspect = aspect
    self.expected = expected
    self.actual = actual
    self.distance = distance
  }
}

extension RequestPattern {
  /// A lower bound of the distance, from method and URL without the query: at most the sum of ``mismatches(_:)``.
  func leastDistance(to facts: RequestFacts) -> Double {
    let method: Double = method == nil || method == facts.method ? 0 : 1
    return method + url.leastDistance(to: facts.url)
  }

  /// The differences between a request and the pattern.
  func mismatches(_ facts: RequestFacts) -> [Mismatch] { facts.reporting { differences(from: facts) } }

  /// The differences, redacted by names alone.
  func differences(from facts: RequestFacts) -> [Mismatch] {
    var found: [Mismatch] = []
    if let method, method != facts.method {
      found.append(Mismatch("method", expected: method, actual: facts.method, distance: 1))
    }
    found += url.mismatches(facts.url)
    var parameters: [String: String] = [:]
    if !conditions.isEmpty { _ = url.matches(facts.url, &parameters) }
    for condition in conditions where !condition.runsForeignCode { found += condition.mismatches(facts, parameters) }
    let closures = conditions.filter(\.runsForeignCode)
    // Predicates are not run again for a report: with no other mismatch, they returned `false` during matching.
    if found.isEmpty, !closures.isEmpty {
      let names = closures.map(\.description).joined(separator: " and ")
      found.append(Mismatch("condition", expected: names, actual: "the closure returned false", distance: 0.5))
    }
    return found
  }
}

extension URLPattern {
  fileprivate func leastDistance(to url: ParsedURL) -> Double {
    guard regex == nil else { return 0 }
    var distance: Double = matchesScheme(url) ? matchesPort(url) ? 0 : 0.7 : 0.5
    if !host.matches(url.host) { distance += hostDistance(to: url) }
    if let path, !path.fits(url.segments) { distance += 2 * path.distance(to: url.segments) }
    return distance
  }

  private func hostDistance(to url: ParsedURL) -> Double { 1 + TextDistance.between(host.description, url.host) }

  func mismatches(_ url: ParsedURL) -> [Mismatch] {
    var parameters: [String: String] = [:]
    if let regex {
      let text = url.url.absoluteString
      return regex.matches(text, &parameters)
        ? [] : [Mismatch("URL", expected: "a match of \(regex)", actual: Redaction.shown(url.url), distance: 2)]
    }
    var found: [Mismatch] = []
    if !matchesScheme(url) {
      found.append(Mismatch("scheme", expected: scheme ?? "*", actual: url.scheme, distance: 0.5))
    }
    if !host.matches(url.host) {
      found.append(Mismatch("host", expected: host.description, actual: url.host, distance: hostDistance(to: url)))
    }
    if matchesScheme(url), !matchesPort(url) {
      let expected =
        switch port {
        case .any: "*"
        case .schemeDefault: "\(ParsedURL.defaultPort(of: url.scheme)) (none is written)"
        case .number(let number): "\(number)"
        }
      found.append(Mismatch("port", expected: expected, actual: "\(url.port)", distance: 0.7))
    }
    if let path, !path.matches(url.segments, &parameters) {
      found.append(
        Mismatch(
          "path", expected: path.description, actual: Redaction.scrubbed(url.path),
          distance: 2 * path.distance(to: url.segments)))
    }
    if let query { found += query.mismatches(url.items) }
    return found
  }
}

extension PathPattern: CustomStringConvertible {
  var description: String { "/" + segments.map(\.description).joined(separator: "/") }

  fileprivate func fits(_ path: [String]) -> Bool {
    var ignored: [String: String] = [:]
    return matches(path, &ignored)
  }

  /// The distance of a path from this pattern, from 0 to 1.
  func distance(to path: [String]) -> Double {
    // Compare the ends as well, which are equal if a prefix is missing or added.
    let count = min(segments.count, path.count)
    let ends = zip(segments.suffix(count), path.suffix(count))
    return min(distance(to: path, comparing: zip(segments, path)), distance(to: path, comparing: ends))
  }

  private func distance(to path: [String], comparing pairs: some Sequence<(Segment, String)>) -> Double {
    let total = max(segments.count, path.count, 1)
    var cost = 0.0
    let isSameLength = segments.count == path.count
    var fitting = 0
    var ignored: [String: String] = [:]
    for (segment, text) in pairs {
      if segment.matches(text, &ignored) {
        fitting += 1
      } else if isSameLength, case .literal(let literal) = segment {
        cost += TextDistance.between(literal, text)
      } else {
        cost += 1
      }
    }
    cost += Double(abs(segments.count - path.count))
    // One differing segment is closer than a path without any matching segment.
    return min(1, max(0.05, cost / Double(total)) + (fitting == 0 && total > 1 ? 0.2 : 0))
  }
}

extension PathPattern.Segment: CustomStringConvertible {
  var description: String {
    switch self {
    case .literal(let text): text
    case .any(let name): name.map { ":\($0)" } ?? "*"
    case .expression(_, let written): written
    case .rest: "**"
    }
  }
}

extension QueryItems.Item {
  /// The item, with the notation of a space or a plus sign in it.
  var spelled: String {
    guard let written, !Redaction.isSecret(written) else { return description }
    return "\(self) (written \(written): a \"+\" is a space, a plus sign is written \"%2B\")"
  }
}

extension QueryPattern {
  func mismatches(_ items: QueryItems) -> [Mismatch] {
    var found: [Mismatch] = []
    for expectation in expectations {
      let actual = items.values(of: expectation.name)
      guard !expectation.matches(actual, isExact: isExact) else { continue }
      found.append(
        Mismatch(
          "query \(expectation.name)",
          expected: Redaction.query(
            expectation.name, expectation.values.map { $0.description(for: expectation.name) }.joined(separator: "&")),
          actual: actual.isEmpty
            ? "no such item"
            : Redaction.query(
              expectation.name, items.items.filter { $0.name == expectation.name }.map(\.spelled).joined(separator: "&")
            ),
          distance: 0.3))
    }
    guard isExact else { return found }
    let known = Set(expectations.map(\.name))
    let others = items.items.filter { !known.contains($0.name) }
    if !others.isEmpty {
      found.append(
        Mismatch(
          "query", expected: expectations.isEmpty ? "none" : "no other items",
          actual: others.map { Redaction.query($0.name, $0.spelled) }.joined(separator: "&"),
          distance: 0.2 * Double(min(others.count, 5))))
    }
    return found
  }
}

extension RequestMatcher {
  /// The differences between a request and the condition; none if it matches.
  func mismatches(_ facts: RequestFacts, _ parameters: [String: String]) -> [Mismatch] {
    guard !matches(facts, parameters) else { return [] }
    switch kind {
    case .method(let method): return [Mismatch("method", expected: method, actual: facts.method, distance: 1)]
    case .url(let pattern): return pattern.mismatches(facts.url)
    case .query(let pattern): return pattern.mismatches(facts.query)
    case .hasQuery(let name):
      return [Mismatch("query \(name)", expected: "any value", actual: "no such item", distance: 0.3)]
    case .field(let name, let value):
      return [field(name, expected: value.map { Redaction.field(name, $0) } ?? "any value", facts)]
    case .fieldRegex(let name, let regex):
      return [field(name, expected: "a match of \(Redaction.field(name, "\(regex)"))", facts)]
    case .body(let body): return body.mismatches(facts)
    case .graphQL(let name):
      return [
        Mismatch("GraphQL operation", expected: name, actual: facts.graphQLOperation ?? "none", distance: 0.4)
      ]
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

  private func field(_ name: String, expected: String, _ facts: RequestFacts) -> Mismatch {
    Mismatch(
      "header \(name)", expected: expected,
      actual: facts.field(name).map { Redaction.field(name, $0) } ?? "no such field", distance: 0.3)
  }
}

extension [Mismatch] {
  var distance: Double { reduce(0) { $0 + $1.distance } }
}

extension BodyMatcher {
  func mismatches(_ facts: RequestFacts) -> [Mismatch] {
    switch kind {
    case .json(let value, let comparison): return json(facts, value, comparison)
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
            actual: facts.field("Content-Type") ?? "no such field",
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
    case .file(let name, let type, let content):
      var found = content.matches(facts) ? [] : content.mismatches(facts)
      let part = facts.part
      if name ?? part?.filename != part?.filename {
        found.append(
          Mismatch("file name", expected: name ?? "", actual: part?.filename ?? "none", distance: 0.3))
      }
      if let type, type.lowercased() != part?.mediaType {
        found.append(Mismatch("type", expected: type, actual: part?.mediaType ?? "none", distance: 0.3))
      }
      return found
    case .data(let data):
      return [Mismatch("body", expected: "\(data.count) given bytes", actual: Excerpt.of(facts), distance: 0.6)]
    case .text(let text):
      return [
        Mismatch("body", expected: "\(JSONValue(Excerpt.ofText(text)))", actual: Excerpt.of(facts), distance: 0.6)
      ]
    case .regex(let regex):
      return [Mismatch("body", expected: "a match of \(regex)", actual: Excerpt.of(facts), distance: 0.6)]
    case .empty: return [Mismatch("body", expected: "none", actual: Excerpt.of(facts), distance: 0.6)]
    case .present: return [Mismatch("body", expected: "any", actual: "none", distance: 0.6)]
    case .broken: return []
    }
  }

  private func json(_ facts: RequestFacts, _ value: JSONValue, _ comparison: JSONComparison) -> [Mismatch] {
    guard let actual = facts.json else { return [notJSON(facts)] }
    let differences = comparison.differences(actual, value)
    var found = differences.prefix(5).map(\.mismatch)
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

extension Excerpt {
  static func of(_ facts: RequestFacts) -> String {
    if facts.body.isEmpty { return "none" }
    guard let text = facts.text else { return "\(facts.body.count) bytes" }
    // Of a long one, only the beginning is redacted.
    if let json = facts.json { return ofText(facts.isLong ? text : Redaction.masked(json).description) }
    if let parts = facts.multipart { return of(parts.map(\.shown).joined(separator: ", ")) }
    if facts.statesForm { return JSONValue(Redaction.scrubbed(of(Redaction.shownQuery(text)))).description }
    return JSONValue(ofText(text)).description
  }

  /// An excerpt of any text, without secrets. Only its beginning is examined.
  static func ofText(_ text: String) -> String {
    let beginning = String(text.prefix(2000))
    let shown = of(Redaction.scrubbed(beginning))
    return beginning.count < text.count && shown.count == beginning.count ? shown + "…" : shown
  }
}

/// The edit distance between texts.
enum TextDistance {
  /// The edit distance divided by the longer length: 0 for equal texts, 1 for texts without a common character.
  ///
  /// Only the first 64 bytes are compared.
  static func between(_ one: String, _ other: String) -> Double {
    guard one != other else { return 0 }
    var (one, other) = (one, other)
    return one.withUTF8 { one in
      other.withUTF8 { other in
        let (one, other) = (one.prefix(64), other.prefix(64))
        guard !one.elementsEqual(other) else { return 0 }
        guard !one.isEmpty, !other.isEmpty else { return 1 }
        return Double(edits(one, other)) / Double(max(one.count, other.count))
      }
    }
  }

  private static func edits(_ one: Slice<UnsafeBufferPointer<UInt8>>, _ other: Slice<UnsafeBufferPointer<UInt8>>) -> Int
  {
    withUnsafeTemporaryAllocation(of: Int.self, capacity: other.count + 1) { row in
      for column in 0...other.count { row.initializeElement(at: column, to: column) }
      for (index, byte) in one.enumerated() {
        var diagonal = row[0]
        row[0] = index + 1
        for (column, wanted) in other.enumerated() {
          let above = row[column + 1]
          row[column + 1] = byte == wanted ? diagonal : 1 + min(diagonal, above, row[column])
          diagonal = above
        }
      }
      return row[other.count]
    }
  }
}
