import Foundation

/// An element of `bodyPatterns`.
struct WireMockBody {
  private let object: FixtureObject
  private let ignoring: Set<String>

  init(_ object: FixtureObject, ignoring: Set<String>) {
    self.object = object
    self.ignoring = ignoring
  }

  /// The condition, or `nil` for a mistake, which is noted.
  var matcher: RequestMatcher? {
    defer { object.finish(ignoring: ignoring) }
    if let wanted = object.value("equalToJson") { return json(wanted) }
    if let path = object.value("matchesJsonPath") { return jsonPath(path) }
    if let base64 = object.string("binaryEqualTo") {
      guard let data = Data(base64Encoded: base64) else {
        object.note("binaryEqualTo", "\"binaryEqualTo\" is not Base64 (RFC 4648, section 4).")
        return nil
      }
      return .body(.data(data))
    }
    let text = WireMockText(object)
    if text == nil, object.node.members?.isEmpty ?? true {
      object.problems.note(object.file, line: object.node.line, entry: object.entry, "a body pattern has no condition.")
    }
    return text?.matcherOfBody
  }

  private func json(_ node: JSONNode) -> RequestMatcher? {
    let options = JSONComparison(
      ignoresOrder: object.bool("ignoreArrayOrder") ?? false, ignoresExtras: object.bool("ignoreExtraElements") ?? false)
    var wanted = node
    if let text = node.string {
      do { wanted = try JSONNode(parsing: text) } catch {
        object.note("equalToJson", "the text of \"equalToJson\" is not JSON: \(error.redacted)")
        return nil
      }
    }
    if let unknown = JSONComparison.unknownPlaceholder(in: wanted) {
      object.note("equalToJson", "the placeholder \(unknown) is not understood.")
      return nil
    }
    return .predicate("JSON body \(wanted.text)") { [wanted] request in
      guard let actual = try? JSONNode(parsing: request.body) else { return false }
      return options.accepts(actual, wanted)
    }
  }

  private func jsonPath(_ node: JSONNode) -> RequestMatcher? {
    var condition: WireMockText?
    var expression = node.string
    if node.string == nil, let inner = FixtureObject(node, in: object.file, entry: object.entry, object.problems) {
      expression = inner.string("expression")
      if inner.node["expression"] == nil { inner.note("expression", "\"matchesJsonPath\" has no \"expression\".") }
      condition = WireMockText(inner)
      inner.finish(ignoring: ignoring)
    }
    guard let expression else { return nil }
    let path: JSONPath
    do throws(MockError) { path = try JSONPath(expression) } catch {
      object.note("matchesJsonPath", error.message)
      return nil
    }
    return .predicate("JSON body at \(expression)\(condition.map { " \($0)" } ?? "")") { [condition] request in
      guard let root = try? JSONNode(parsing: request.body) else { return false }
      let values = path.values(in: root)
      return condition.map { $0.accepts(values.map { $0.string ?? $0.text }) } ?? !values.isEmpty
    }
  }
}

/// How JSON values are compared.
struct JSONComparison: Sendable {
  let ignoresOrder: Bool
  let ignoresExtras: Bool

  private static let placeholders = [
    "${json-unit.ignore}", "${json-unit.ignore-element}", "${json-unit.any-string}", "${json-unit.any-number}", "${json-unit.any-boolean}",
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
    switch (actual.value, wanted.value) {
    case (_, .string("${json-unit.ignore}")), (_, .string("${json-unit.ignore-element}")): true
    case (.string, .string("${json-unit.any-string}")), (.number, .string("${json-unit.any-number}")): true
    case (.bool, .string("${json-unit.any-boolean}")): true
    case (.object(let members), .object(let wanted)):
      wanted.allSatisfy { member in
        guard let value = actual[member.name] else { return member.node.string == "${json-unit.ignore-element}" }
        return accepts(value, member.node)
      } && (ignoresExtras || members.allSatisfy { member in wanted.contains { $0.name == member.name } })
    case (.array(let elements), .array(let wanted)): accepts(elements, wanted)
    default: actual == wanted
    }
  }

  private func accepts(_ elements: [JSONNode], _ wanted: [JSONNode]) -> Bool {
    guard elements.count == wanted.count || ignoresExtras && elements.count > wanted.count else { return false }
    guard ignoresOrder else { return zip(elements, wanted).allSatisfy { accepts($0, $1) } }
    // Each wanted element gets one of its own, and may take another's when that one finds another (an augmenting path).
    var owners: [Int: Int] = [:]
    func place(_ index: Int, _ tried: inout Set<Int>) -> Bool {
      for position in elements.indices where !tried.contains(position) && accepts(elements[position], wanted[index]) {
        tried.insert(position)
        if let owner = owners[position], !place(owner, &tried) { continue }
        owners[position] = index
        return true
      }
      return false
    }
    return wanted.indices.allSatisfy { index in
      var tried: Set<Int> = []
      return place(index, &tried)
    }
  }
}
