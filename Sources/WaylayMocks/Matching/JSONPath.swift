import WaylayHAR

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

  /// Whether a member name in the path indicates a secret.
  var leadsToSecret: Bool {
    steps.contains { if case .member(let name) = $0 { Redaction.hides(name) } else { false } }
  }

  /// The values at the path, redacted for a report.
  func shownValues(in root: JSONValue) -> String {
    let found = values(in: root)
    guard !found.isEmpty else { return "nothing" }
    // Values are redacted by member name, so mask the root before selecting from it.
    let shown = leadsToSecret ? [] : values(in: Redaction.masked(root))
    return shown.isEmpty ? Redaction.mark : Excerpt.ofText(shown.map(\.description).joined(separator: ", "))
  }

  /// An expected value at this path, redacted for a report.
  func shown(_ value: JSONValue) -> String { leadsToSecret ? Redaction.mark : Redaction.masked(value).description }

  /// The values at the path; a negative index counts from the end.
  func values(in root: JSONValue) -> [JSONValue] {
    steps.reduce([root]) { values, step in
      values.flatMap { node -> [JSONValue] in
        switch (step, node.kind) {
        case (.member(let name), .object): node[name].map { [$0] } ?? []
        case (.element(let index), .array(let elements)):
          elements.indices.contains(index)
            ? [elements[index]] : index < 0 && index >= -elements.count ? [elements[elements.count + index]] : []
        case (.all, .array(let elements)): elements
        case (.all, .object(let members)): members.map(\.value)
        default: []
        }
      }
    }
  }
}
