import WaylayHAR

// Redaction of reports, which end up in the logs of build servers.

extension Redaction {
  static let mark = "<redacted>"

  /// Names, in lower case, that the mock's options exempt from redaction.
  @TaskLocal static var shownNames: Set<String> = []

  /// Whether redaction is off.
  @TaskLocal static var hidesNothing = false

  /// Whether the name of a header field, query item, form field or JSON member indicates a secret.
  static func hides(_ name: String) -> Bool {
    !hidesNothing && !shownNames.contains(name.lowercased()) && standard.hides(name)
  }

  /// A header field's value, redacted.
  static func field(_ name: String, _ value: String) -> String { hides(name) ? mark : scrubbed(value) }

  /// An item of a query or a form, redacted. The name is scrubbed too: for a body that is no form, it may be the whole
  /// body.
  static func query(_ name: String, _ text: String) -> String {
    hides(name) ? "\(scrubbed(name))=\(mark)" : scrubbed(text)
  }

  /// A URL without user, password, fragment and secrets in its query.
  static func shown(_ url: URL) -> String {
    guard url.query != nil || url.user != nil || url.fragment != nil,
      var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    else {
      return url.absoluteString
    }
    parts.user = nil
    parts.password = nil
    parts.fragment = nil
    parts.percentEncodedQuery =
      parts.percentEncodedQuery.map {
        shownQuery($0).addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed.union(["%"]))
      } ?? nil
    return (parts.string ?? url.absoluteString).replacingOccurrences(of: "%E2%80%A6", with: "…")
  }

  /// A query as written, with secrets replaced by a mark.
  static func shownQuery(_ query: some StringProtocol) -> String {
    query.split(separator: "&", omittingEmptySubsequences: false)
      .map { item in
        guard let equals = item.firstIndex(of: "="), item[item.index(after: equals)...] != "*",
          hides(PercentCoding.decoded(item[..<equals]))
        else { return String(item) }
        return item[...equals] + "…"
      }
      .joined(separator: "&")
  }

  /// A JSON value with secrets replaced by a mark, or with `nil` as mark, without the members that hold secrets.
  static func masked(_ node: JSONValue, by mark: JSONValue? = JSONValue(.string(Redaction.mark))) -> JSONValue {
    switch node.kind {
    case .object(let members):
      let shown = members.compactMap { member in
        let value = hides(member.name) ? mark : masked(member.value, by: mark)
        return value.map { JSONValue.Member(name: member.name, value: $0) }
      }
      return JSONValue(.object(shown))
    case .array(let elements): return JSONValue(.array(elements.map { masked($0, by: mark) }))
    default: return node
    }
  }
}

extension Redaction {
  /// Any text (a form, truncated JSON, XML, a log line) without the values whose names indicate a secret.
  static func scrubbed(_ text: String) -> String {
    guard !hidesNothing else { return text }
    var result = text
    for pattern in patterns where pattern.isPossible(in: result) { result = pattern.scrubbed(result) }
    return result
  }

  /// A notation for a name with its value.
  private struct Named {
    let regex: TextRegex
    /// Characters, one of which every match contains. Without any of them, the regex is not run.
    let marks: [Character]
    /// Whether the value is a secret regardless of its name.
    var isAlwaysSecret = false

    func isPossible(in text: String) -> Bool { marks.isEmpty || text.contains { marks.contains($0) } }

    func scrubbed(_ text: String) -> String {
      var result = ""
      var end = text.startIndex
      for match in regex.all(in: text) {
        guard let name = Range(match.range(withName: "name"), in: text),
          let value = Range(match.range(withName: "value"), in: text),
          value.lowerBound >= end, isAlwaysSecret || hides(PercentCoding.decoded(text[name]))
        else { continue }
        result += text[end..<value.lowerBound] + mark
        end = value.upperBound
      }
      return result + text[end...]
    }
  }

  private static let patterns = [
    Named(
      regex: TextRegex(#"\b(?<name>Bearer|Basic|Digest)\s+(?<value>[^\s,;"'<]+)"#, ignoresCase: true), marks: [" "],
      isAlwaysSecret: true),
    // name=value, "name": "value", name: value
    Named(
      regex: TextRegex(
        #"(?<![\w.%\-\[\]])(?<name>[\w.%\-\[\]]+)["']?\s*[:=]\s*(?<value>"(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s&,;}\]<"']+)"#),
      marks: [":", "="]),
    Named(regex: TextRegex(#"<(?:\w+:)?(?<name>[\w.\-]+)(?:\s[^<>]*)?>(?<value>[^<]+)"#), marks: ["<"]),
  ]
}
