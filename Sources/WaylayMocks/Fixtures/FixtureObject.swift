/// A JSON object of a fixture: gives its members by type, notes what is not of it, and knows which of them nobody asked
/// for.
final class FixtureObject {
  let node: JSONNode
  let file: String
  /// Which of several entries it belongs to, for messages.
  let entry: String?
  let problems: FixtureProblems
  private var known: Set<String> = []

  /// `nil` for a value that is no object, which is noted.
  init?(_ node: JSONNode, in file: String, entry: String? = nil, _ problems: FixtureProblems) {
    self.node = node
    self.file = file
    self.entry = entry
    self.problems = problems
    guard let members = node.members else {
      problems.note(file, line: node.line, entry: entry, "expected an object here, but found \(node.kind).")
      return nil
    }
    var names: Set<String> = []
    for member in members where !names.insert(member.name).inserted {
      problems.note(
        file, line: member.line, entry: entry, "\"\(member.name)\" occurs twice in this object: remove one.")
    }
  }

  /// Notes a mistake in the value of a member.
  func note(_ key: String, _ message: String) {
    problems.note(file, line: node.members?.last { $0.name == key }?.line ?? node.line, entry: entry, message)
  }

  /// The value of a member, of whatever type. `null` counts as none.
  func value(_ key: String) -> JSONNode? {
    known.insert(key)
    return node[key].flatMap { $0.isNull ? nil : $0 }
  }

  private func typed<Value>(_ key: String, _ wanted: String, _ convert: (JSONNode) -> Value?) -> Value? {
    guard let node = value(key) else { return nil }
    if let value = convert(node) { return value }
    note(key, "\"\(key)\" is \(node.kind): expected \(wanted).")
    return nil
  }

  func string(_ key: String) -> String? { typed(key, "a string", \.string) }
  func integer(_ key: String) -> Int? { typed(key, "a whole number", \.integer) }
  func number(_ key: String) -> Double? { typed(key, "a number", \.double) }
  func bool(_ key: String) -> Bool? { typed(key, "true or false", \.bool) }
  func elements(_ key: String) -> [JSONNode]? { typed(key, "an array", \.elements) }

  func object(_ key: String) -> FixtureObject? {
    value(key).flatMap { FixtureObject($0, in: file, entry: entry, problems) }
  }

  /// The members of an object whose names anybody may choose.
  func members(_ key: String) -> [JSONNode.Member] { typed(key, "an object", \.members) ?? [] }

  /// Takes names as known that say nothing to a mock.
  func skip(_ keys: String...) { known.formUnion(keys) }

  /// Notes the members that nobody asked for.
  func finish(ignoring: Set<String> = []) {
    for member in node.members ?? [] where !known.contains(member.name) && !ignoring.contains(member.name) {
      problems.note(
        file, line: member.line, entry: entry,
        "\"\(member.name)\" is not understood here. Known names: \(known.sorted().joined(separator: ", ")).")
    }
  }
}
