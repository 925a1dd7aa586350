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
      ignoresOrder: object.bool("ignoreArrayOrder") ?? false,
      ignoresExtras: object.bool("ignoreExtraElements") ?? false,
      knowsPlaceholders: true)
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
    return .predicate("JSON body \(Redaction.masked(wanted).text)") { [wanted] request in
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
    let shown = condition.map { path.leadsToSecret ? " \(Redaction.mark)" : " \($0)" } ?? ""
    return .predicate("JSON body at \(expression)\(shown)") { [condition] request in
      guard let root = try? JSONNode(parsing: request.body) else { return false }
      let values = path.values(in: root)
      return condition.map { $0.accepts(values.map { $0.string ?? $0.text }) } ?? !values.isEmpty
    }
  }
}
