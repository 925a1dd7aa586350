import WaylayHAR
import WaylayRecording

/// A path to values in a JSON value: members by `.name` or `["name"]`, elements by `[0]`, all of either by `[*]` or
/// `.*` (the part of RFC 9535 that a condition needs).
struct JSONPath: Sendable, CustomStringConvertible {
  enum Step: Sendable, Equatable {
    case member(String)
    case element(Int)
    case all
  }

  let description: String
  private(set) var steps: [Step] = []

  init(_ text: String) throws(MockError) {
    description = text
    var rest = Substring(text)
    if rest.first == "$" { rest = rest.dropFirst() } else if rest.first != ".", rest.first != "[" { rest = "." + rest }
    while let mark = rest.popFirst() {
      if mark == "." {
        let end = rest.firstIndex { $0 == "." || $0 == "[" } ?? rest.endIndex
        let name = rest[..<end]
        guard !name.isEmpty else { throw Self.invalid(text, "a name is missing after a dot") }
        steps.append(name == "*" ? .all : .member(String(name)))
        rest = rest[end...]
      } else if mark == "[", let step = Self.bracket(&rest) {
        steps.append(step)
      } else {
        throw Self.invalid(text, "\"\(mark)\" cannot begin a member or an element")
      }
    }
  }

  /// Parses the text between square brackets; `rest` begins after the opening bracket.
  private static func bracket(_ rest: inout Substring) -> Step? {
    if let quote = rest.first, quote == "\"" || quote == "'" {
      guard let end = rest.dropFirst().firstIndex(of: quote) else { return nil }
      let name = rest[rest.index(after: rest.startIndex)..<end]
      rest = rest[rest.index(after: end)...]
      guard rest.popFirst() == "]" else { return nil }
      return .member(String(name))
    }
    guard let end = rest.firstIndex(of: "]") else { return nil }
    let inner = rest[..<end]
    rest = rest[rest.index(after: end)...]
    return inner == "*" ? .all : Int(inner).map { .element($0) }
  }

  private static func invalid(_ text: String, _ reason: String) -> MockError {
    MockError(
      .invalidPattern, "the JSON path \"\(text)\" cannot be parsed: \(reason). Write it as in \"$.items[0].name\".")
  }

  /// Compares the values at the path of a request's JSON with one.
  func compare(_ value: JSONValue?, _ json: JSONValue, _ result: inout Comparison) {
    let found = places(in: json)
    result.check(
      value.map { value in found.contains { $0.value == value } } ?? !found.isEmpty,
      Mismatch(
        "body at \(self)", expected: value.map(shown) ?? "anything",
        actual: found.isEmpty ? "nothing" : Excerpt.of(found.prefix(20).map(Self.shown).joined(separator: ", ")),
        distance: 0.4))
  }

  /// An expected value at this path, redacted for a report.
  func shown(_ value: JSONValue) -> String {
    Self.shown((value, steps.contains { if case .member(let name) = $0 { Redaction.hides(name) } else { false } }))
  }

  private static func shown(_ place: Place) -> String {
    place.isSecret ? Redaction.mark : Redaction.masked(place.value).description
  }

  /// A value, and whether a name on the way to it indicates a secret.
  private typealias Place = (value: JSONValue, isSecret: Bool)

  /// The values at the path; a negative index counts from the end.
  func values(in root: JSONValue) -> [JSONValue] { places(in: root).map(\.value) }

  private func places(in root: JSONValue) -> [Place] {
    steps.reduce([(root, false)]) { places, step in
      places.flatMap { node, isSecret -> [Place] in
        switch (step, node.kind) {
        case (.member(let name), .object): node[name].map { [($0, isSecret || Redaction.hides(name))] } ?? []
        case (.element(let index), .array(let elements)):
          elements.indices.contains(index)
            ? [(elements[index], isSecret)]
            : index < 0 && index >= -elements.count ? [(elements[elements.count + index], isSecret)] : []
        case (.all, .array(let elements)): elements.map { ($0, isSecret) }
        case (.all, .object(let members)): members.map { ($0.value, isSecret || Redaction.hides($0.name)) }
        default: []
        }
      }
    }
  }

  /// Steps as text, as in `$.items[0].name`.
  static func text(of steps: [Step]) -> String {
    steps.reduce("$") { text, step in
      switch step {
      case .member(let name): text.appending(member: name)
      case .element(let index): "\(text)[\(index)]"
      case .all: "\(text)[*]"
      }
    }
  }
}
