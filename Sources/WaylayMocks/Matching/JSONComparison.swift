/// How JSON values are compared where their lists' order, or their extras, do not count.
struct JSONComparison: Sendable {
  let ignoresOrder: Bool
  let ignoresExtras: Bool
  /// Whether the placeholders of JsonUnit, as in `${json-unit.ignore}`, stand for values.
  var knowsPlaceholders = false

  private static let placeholders = [
    "${json-unit.ignore}", "${json-unit.ignore-element}", "${json-unit.any-string}", "${json-unit.any-number}",
    "${json-unit.any-boolean}",
  ]

  /// A placeholder of JsonUnit that is not known here.
  static func unknownPlaceholder(in node: JSONNode) -> String? {
    switch node.value {
    case .string(let text): text.hasPrefix("${json-unit.") && !placeholders.contains(text) ? text : nil
    case .array(let elements): elements.lazy.compactMap { unknownPlaceholder(in: $0) }.first
    case .object(let members): members.lazy.compactMap { unknownPlaceholder(in: $0.node) }.first
    default: nil
    }
  }

  func accepts(_ actual: JSONNode, _ wanted: JSONNode) -> Bool {
    if knowsPlaceholders, let placeholder = wanted.string, Self.stands(placeholder, for: actual) { return true }
    switch (actual.value, wanted.value) {
    case (.object(let members), .object(let wanted)):
      return wanted.allSatisfy { member in
        guard let value = actual[member.name] else {
          return knowsPlaceholders && member.node.string == "${json-unit.ignore-element}"
        }
        return accepts(value, member.node)
      } && (ignoresExtras || members.allSatisfy { member in wanted.contains { $0.name == member.name } })
    case (.array(let elements), .array(let wanted)): return accepts(elements, wanted)
    default: return actual == wanted
    }
  }

  private static func stands(_ placeholder: String, for actual: JSONNode) -> Bool {
    switch (actual.value, placeholder) {
    case (_, "${json-unit.ignore}"), (_, "${json-unit.ignore-element}"): true
    case (.string, "${json-unit.any-string}"), (.number, "${json-unit.any-number}"),
      (.bool, "${json-unit.any-boolean}"):
      true
    default: false
    }
  }

  private func accepts(_ elements: [JSONNode], _ wanted: [JSONNode]) -> Bool {
    guard elements.count == wanted.count || ignoresExtras && elements.count > wanted.count else { return false }
    guard ignoresOrder else { return zip(elements, wanted).allSatisfy { accepts($0, $1) } }
    return Assignment(of: wanted.count, among: elements.count) { accepts(elements[$0], wanted[$1]) }.isComplete
  }
}

extension JSONComparison {
  /// Where a value differs from `expected`, for a report; secrets are masked.
  func differences(
    _ actual: JSONNode, _ expected: JSONNode, at path: String = "$", isSecret: Bool = false
  ) -> [JSONNode.Difference] {
    if let elements = actual.elements, let wanted = expected.elements {
      guard ignoresOrder else {
        return actual.differences(from: expected, asSubset: ignoresExtras, at: path, isSecret: isSecret)
      }
      let assignment = Assignment(of: wanted.count, among: elements.count) { accepts(elements[$0], wanted[$1]) }
      var found = assignment.missing.map { index in
        let text = isSecret ? Redaction.mark : Redaction.masked(wanted[index]).text
        return JSONNode.Difference(path: "\(path)[*]", expected: text, actual: "no element like it")
      }
      guard !ignoresExtras else { return found }
      for position in elements.indices where assignment.owners[position] == nil {
        found.append(
          JSONNode.Difference(
            path: "\(path)[\(position)]", isSecret: isSecret, expected: nil, actual: elements[position]))
      }
      return found
    }
    guard let members = actual.members, let wanted = expected.members else {
      return accepts(actual, expected)
        ? [] : [JSONNode.Difference(path: path, isSecret: isSecret, expected: expected, actual: actual)]
    }
    var found: [JSONNode.Difference] = []
    for member in wanted.sorted(by: { $0.name < $1.name }) {
      let place = JSONNode.member(member.name, of: path)
      let isSecret = isSecret || Redaction.hides(member.name)
      if let value = actual[member.name] {
        found += differences(value, member.node, at: place, isSecret: isSecret)
      } else {
        found.append(JSONNode.Difference(path: place, isSecret: isSecret, expected: member.node, actual: nil))
      }
    }
    guard !ignoresExtras else { return found }
    for member in members where expected[member.name] == nil {
      let isSecret = isSecret || Redaction.hides(member.name)
      found.append(
        JSONNode.Difference(
          path: JSONNode.member(member.name, of: path), isSecret: isSecret, expected: nil, actual: member.node))
    }
    return found
  }
}
