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
    !hidesNothing && !shownNames.contains(name.lowercased())
      && (standard.hides(name) || CredentialNames.isCredential(name))
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
    parts.percentEncodedQuery = parts.percentEncodedQuery.flatMap {
      shownQuery($0).addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed.union(["%"]))
    }
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
  /// Any text (a form, truncated JSON, XML, a log line) without secrets.
  static func scrubbed(_ text: String) -> String {
    guard !hidesNothing else { return text }
    var redaction = standard
    (redaction.replacement, redaction.isWide) = (mark, true)
    for name in shownNames { redaction.show(name) }
    return redaction.redacted(text).replacing(/\b(?<scheme>Bearer|Basic|Digest)\s+[^\s,;"'<]+/.ignoresCase()) { match in
      "\(match.scheme) \(mark)"
    }
  }
}
