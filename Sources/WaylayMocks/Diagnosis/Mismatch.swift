import WaylayHAR

/// A difference between a request and a condition. It refers to both; its texts are made when they are shown.
struct Mismatch {
  private let makeAspect, makeExpected, makeActual: () -> String
  /// The distance: small for a typing error, 1 for an unrelated value, more for important parts.
  let distance: Double

  init(
    _ aspect: @autoclosure @escaping () -> String, expected: @autoclosure @escaping () -> String,
    actual: @autoclosure @escaping () -> String, distance: Double
  ) {
    (makeAspect, makeExpected, makeActual) = (aspect, expected, actual)
    self.distance = distance
  }

  /// The difference of a decision, which is never shown.
  static var unshown: Mismatch { Mismatch("", expected: "", actual: "", distance: 0) }

  /// The differing part: "path", "header Accept".
  var aspect: String { makeAspect() }

  /// Both values, redacted. Different values may have the same redacted text.
  var texts: (expected: String, actual: String) {
    let (expected, actual) = (makeExpected(), makeActual())
    return (expected, expected == actual ? "another value" : actual)
  }
}

extension [Mismatch] {
  var distance: Double { reduce(0) { $0 + $1.distance } }

  /// The differences, one aspect per paragraph.
  var lines: String {
    let shown = map { ($0.aspect, $0.texts) }
    let width = shown.map(\.0.count).max() ?? 0
    return shown.map { aspect, texts in
      let name = aspect.padding(toLength: width, withPad: " ", startingAt: 0)
      let indent = String(repeating: " ", count: width)
      return "    \(name)  expected \(texts.expected)\n    \(indent)  but was  \(texts.actual)"
    }.joined(separator: "\n")
  }
}

/// The comparison of a request with conditions: it decides whether they match, or explains why they do not.
///
/// A decision stops at the first difference, and keeps none. An explanation collects all of them, runs no closure of a
/// stub's author, and does not parse a long body that no decision has parsed.
struct Comparison {
  let explains: Bool
  private(set) var differs = false
  private(set) var found: [Mismatch] = []
  /// Whether a body was not compared, because it is long.
  private(set) var isPartial = false

  init(explains: Bool = false) {
    self.explains = explains
  }

  /// Whether nothing else needs to be compared.
  var isDone: Bool { differs && !explains }

  mutating func add(_ mismatch: @autoclosure () -> Mismatch) {
    differs = true
    if explains { found.append(mismatch()) }
  }

  /// Adds a difference unless the parts fit.
  mutating func check(_ fits: @autoclosure () -> Bool, _ mismatch: @autoclosure () -> Mismatch) {
    if !isDone, !fits() { add(mismatch()) }
  }

  /// Leaves out a condition on a long body that no decision has parsed in that way.
  mutating func leavesOut(
    _ condition: some CustomStringConvertible & Sendable, _ facts: RequestFacts, _ reading: RequestFacts.Reading
  ) -> Bool {
    guard explains, facts.isLong, !facts.readings.contains(reading) else { return false }
    leaveOut("\(condition)", "not compared: it has \(facts.body.count) bytes")
    return true
  }

  mutating func leaveOut(_ expected: @autoclosure @escaping () -> String, _ actual: String) {
    isPartial = true
    add(Mismatch("body", expected: expected(), actual: actual, distance: 0))
  }
}

extension Excerpt {
  static func of(_ facts: RequestFacts) -> String {
    if facts.body.isEmpty { return "none" }
    guard let text = facts.text else { return "\(facts.body.count) bytes" }
    // Of a long one, only the beginning is read.
    if !facts.isLong, let json = facts.json { return of(json) }
    if !facts.isLong, let parts = facts.multipart { return of(parts.map(\.shown).joined(separator: ", ")) }
    if facts.statesForm {
      let form = Redaction.shownQuery(Redaction.beginning(of: text))
      return JSONValue(Redaction.scrubbed(of(form))).description
    }
    let isJSON = facts.isLong && text.utf8.first { $0 > 0x20 }.map { "{[".utf8.contains($0) } == true
    return isJSON ? ofText(text) : JSONValue(ofText(text)).description
  }

  /// An excerpt of any text, without secrets. Only its beginning is examined.
  static func ofText(_ text: String) -> String {
    let beginning = Redaction.beginning(of: text)
    let shown = Redaction.scrubbed(beginning)
    return beginning.utf8.count == text.utf8.count ? of(shown) : "\(shown.prefix(200))… (\(text.utf8.count) bytes)"
  }

  /// An excerpt of a JSON value, without secrets. Only its beginning is examined.
  static func of(_ json: JSONValue) -> String {
    let (shown, isWhole) = Redaction.maskedBeginning(of: json)
    return isWhole ? ofText(shown.description) : "\(Redaction.scrubbed(shown.description).prefix(200))…"
  }
}

extension PathPattern: CustomStringConvertible {
  var description: String { "/" + segments.map(\.description).joined(separator: "/") }

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
