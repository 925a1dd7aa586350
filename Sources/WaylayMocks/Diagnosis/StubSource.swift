import WaylayHAR

/// A stub for a request as Swift source, ready to be pasted. Secrets are not in it.
enum StubSource {
  /// Fields that the loading system sets, or that say nothing about what is asked for.
  private static let noise: Set<String> = [
    "accept-encoding", "accept-language", "connection", "content-length", "host", "user-agent", "content-type",
    "accept",
  ]

  /// - Parameters:
  ///   - facts: The request.
  ///   - answer: What it is answered with, as source, line by line.
  static func text(for facts: RequestFacts, answer: [String] = [".status(200)"]) -> String {
    let head = "Stub(\(SwiftSource.method(facts.method)), \(swift(pattern(facts.url)))) {"
    var lines = answer.count == 1 ? ["\(head) \(answer[0]) }"] : [head] + answer.map { "  " + $0 } + ["}"]
    let fields = facts.request.fields.sorted { $0.name.canonicalName < $1.name.canonicalName }
    for field in fields where !noise.contains(field.name.canonicalName) {
      let (name, value) = (field.name.rawName, field.value)
      lines.append("  .header(\(swift(name))" + (Redaction.field(name, value) == value ? ", \(swift(value)))" : ")"))
    }
    if let body = body(facts) { lines.append("  .body(\(body))") }
    return lines.joined(separator: "\n")
  }

  /// The URL as a pattern that matches it alone; the values of secrets are left open.
  private static func pattern(_ url: ParsedURL) -> String {
    let path = url.segments.map { segment in
      let text =
        segment.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed.subtracting(["*", "/", "("])) ?? segment
      return text.hasPrefix(":") ? "%3A" + text.dropFirst() : text
    }
    let query = url.query.map { query in
      "?"
        + query.split(separator: "&", omittingEmptySubsequences: true)
        .map { item in
          guard let equals = item.firstIndex(of: "=") else { return String(item) }
          let name = item[..<equals]
          if Redaction.hides(PercentCoding.decoded(name)) { return name + "=*" }
          return item[item.index(after: equals)...] == "*" ? name + "=%2A" : String(item)
        }
        .joined(separator: "&")
    }
    let host = url.host.contains(":") && !url.host.hasPrefix("[") ? "[\(url.host)]" : url.host
    let port = url.port == ParsedURL.defaultPort(of: url.scheme) ? "" : ":\(url.port)"
    return "\(url.scheme)://\(host)\(port)/" + path.joined(separator: "/") + (query ?? "")
  }

  private static func body(_ facts: RequestFacts) -> String? {
    guard !facts.body.isEmpty else { return nil }
    if let json = facts.json {
      let shown = Redaction.withoutSecrets(json)
      let source = swift(shown)
      guard source.count <= 1000 else { return ".present" }
      return shown == json ? ".json(\(source))" : ".jsonSubset(\(source))"
    }
    if facts.statesForm {
      let items = facts.form.items
      let open = items.filter { !Redaction.hides($0.name) && $0.value != nil }
      let source =
        open.isEmpty ? ":" : open.map { "\(swift($0.name)): \(swift($0.value ?? ""))" }.joined(separator: ", ")
      return ".form([\(source)]" + (open.count == items.count ? ")" : ", exactly: false)")
    }
    if let parts = facts.multipart {
      return ".multipart(" + (parts.isEmpty ? "[:]" : "[\(parts.map(part).joined(separator: ", "))]") + ")"
    }
    guard let text = facts.text, text.utf8.count <= 1000, Redaction.scrubbed(text) == text else { return ".present" }
    return ".text(\(swift(text)))"
  }

  private static func part(_ part: MultipartForm.Part) -> String {
    let isShort = part.filename == nil && part.body.count <= 200 && !Redaction.hides(part.name)
    guard isShort, let text = String(data: part.body, encoding: .utf8), !text.isEmpty, Redaction.scrubbed(text) == text
    else {
      return "\(swift(part.name)): \(part.body.isEmpty ? ".empty" : ".present")"
    }
    return "\(swift(part.name)): .text(\(swift(text)))"
  }

  private static func swift(_ node: JSONNode) -> String {
    switch node.value {
    case .null: "nil"
    case .string(let text): swift(text)
    case .array(let values): "[" + values.map(swift).joined(separator: ", ") + "]"
    case .object(let members):
      members.isEmpty
        ? "[:]" : "[" + members.map { "\(swift($0.name)): \(swift($0.node))" }.joined(separator: ", ") + "]"
    case .bool, .number: node.text
    }
  }

  private static func swift(_ text: String) -> String { SwiftSource.literal(text) }
}
