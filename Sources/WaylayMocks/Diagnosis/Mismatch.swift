/// One way in which a request differs from what a stub wants.
struct Mismatch: Equatable {
  /// What differs: "path", "header Accept".
  let aspect: String
  let expected: String
  let actual: String
  /// How far apart they are: small for a slip of the pen, 1 for something else altogether, more for what counts most.
  let distance: Double

  init(_ aspect: String, expected: String, actual: String, distance: Double) {
    self.aspect = aspect
    self.expected = expected
    self.actual = actual
    self.distance = distance
  }
}

extension RequestPattern {
  /// How far a request is from the pattern by its method and its URL without the query: not more than its
  /// ``mismatches(_:)`` amount to.
  func leastDistance(to facts: RequestFacts) -> Double {
    let method: Double = method == nil || method == facts.method ? 0 : 1
    return method + url.leastDistance(to: facts.url)
  }

  /// How a request that does not match differs from the pattern.
  func mismatches(_ facts: RequestFacts) -> [Mismatch] {
    var found: [Mismatch] = []
    if let method, method != facts.method {
      found.append(Mismatch("method", expected: method, actual: facts.method, distance: 1))
    }
    found += url.mismatches(facts.url)
    var parameters: [String: String] = [:]
    if !conditions.isEmpty { _ = url.matches(facts.url, &parameters) }
    for condition in conditions where !condition.runsForeignCode { found += condition.mismatches(facts, parameters) }
    let closures = conditions.filter(\.runsForeignCode)
    // They were asked when everything else fitted, and are not asked again for a report.
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
        Mismatch("path", expected: path.description, actual: url.path, distance: 2 * path.distance(to: url.segments)))
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

  /// How far a path is from this pattern, from 0 to 1.
  func distance(to path: [String]) -> Double {
    // Segments that fit at the beginning and at the end, whatever stands between.
    let total = max(segments.count, path.count, 1)
    var cost = 0.0
    let isSameLength = segments.count == path.count
    var fitting = 0
    var ignored: [String: String] = [:]
    for (segment, text) in zip(segments, path) {
      if segment.matches(text, &ignored) {
        fitting += 1
      } else if isSameLength, case .literal(let literal) = segment {
        cost += TextDistance.between(literal, text)
      } else {
        cost += 1
      }
    }
    cost += Double(abs(segments.count - path.count))
    // A path that differs in one segment only is nearer than one of which nothing fits.
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
  /// The item, with the way in which a space or a plus sign in it was written.
  var spelled: String {
    written.map { "\(self) (written \($0): a \"+\" is a space, a plus sign is written \"%2B\")" } ?? description
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
