import WaylayHAR
import WaylayRecording

// Redaction of reports, which end up in the logs of build servers.

extension Redaction {
  static let mark = "<redacted>"

  /// Names, in lower case, that the mock's options exempt from redaction.
  @TaskLocal static var shownNames: Set<String> = []

  /// Secrets of the request that a report is about.
  @TaskLocal static var known = KnownSecrets()

  /// Whether redaction is off.
  @TaskLocal static var hidesNothing = false

  /// Counts the bytes that reports search, mask and parse, for tests.
  @TaskLocal static var examined: Locked<Int>?

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

  /// A URL without user, password, fragment and secrets in its path and query.
  static func shown(_ url: URL) -> String {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url.absoluteString }
    (parts.user, parts.password, parts.fragment) = (nil, nil, nil)
    let path = parts.percentEncodedPath.split(separator: "/", omittingEmptySubsequences: false)
    if path.contains(where: { isSecret($0) }) {
      parts.percentEncodedPath = path.map { isSecret($0) ? "%E2%80%A6" : $0 }.joined(separator: "/")
    }
    parts.percentEncodedQuery = parts.percentEncodedQuery.flatMap {
      shownQuery($0).addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed.union(["%"]))
    }
    return (parts.string ?? url.absoluteString).replacingOccurrences(of: "%E2%80%A6", with: "…")
  }

  /// A query as written, with secrets replaced by a mark.
  static func shownQuery(_ query: some StringProtocol) -> String {
    query.split(separator: "&", omittingEmptySubsequences: false)
      .map { item in
        guard let equals = item.firstIndex(of: "=") else { return isSecret(item) ? "…" : String(item) }
        let value = item[item.index(after: equals)...]
        guard value != "*", hides(PercentCoding.decoded(item[..<equals])) || isSecret(value) else {
          return String(item)
        }
        return item[...equals] + "…"
      }
      .joined(separator: "&")
  }

  /// Whether an encoded part of a URL or a form has a secret in it.
  static func isSecret(_ encoded: some StringProtocol) -> Bool {
    let text = PercentCoding.decoded(encoded)
    return scrubbed(text) != text
  }

  /// The beginning of a JSON value, as much as a report shows of it, with secrets replaced by a mark.
  static func masked(_ node: JSONValue) -> JSONValue { maskedBeginning(of: node).shown }

  static func maskedBeginning(of node: JSONValue) -> (shown: JSONValue, isWhole: Bool) {
    var left = hidesNothing ? Int.max : 1_000
    return (masked(node, by: JSONValue(.string(mark)), &left) ?? node, left > 0)
  }

  /// A JSON value with secrets replaced by `mark`. With `nil`, members that hold secrets are removed, and also an array
  /// with a secret element, because its other elements would move.
  static func masked(_ node: JSONValue, by mark: JSONValue?) -> JSONValue? {
    var left = Int.max
    return masked(node, by: mark, &left)
  }

  /// - Parameter left: The number of characters left to show: the rest is not read.
  private static func masked(_ node: JSONValue, by mark: JSONValue?, _ left: inout Int) -> JSONValue? {
    left -= 1
    switch node.kind {
    case .object(let members):
      var shown: [JSONValue.Member] = []
      for member in members where left > 0 {
        left -= member.name.utf8.count
        let value = hides(member.name) ? mark : masked(member.value, by: mark, &left)
        if let value { shown.append(JSONValue.Member(name: member.name, value: value)) }
      }
      return JSONValue(.object(shown))
    case .array(let elements):
      var shown: [JSONValue] = []
      for element in elements where left > 0 {
        guard let value = masked(element, by: mark, &left) else { return nil }
        shown.append(value)
      }
      return JSONValue(.array(shown))
    case .string(let text):
      left -= text.utf8.count
      let shown = scrubbed(text)
      return shown == text ? node : mark.map { _ in JSONValue(.string(shown)) }
    case .number(let text):
      left -= text.utf8.count
      return known.contains(Array(text.utf8)) ? mark : node
    case .null, .bool: return node
    }
  }
}

extension Redaction {
  /// The redaction of reports.
  private static var reports: Redaction {
    var redaction = standard
    redaction.replacement = mark
    for name in shownNames { redaction.show(name) }
    return redaction
  }

  /// The beginning of a text: as much as a report examines of a value, without a word that is cut off, which may be the
  /// beginning of a secret.
  static func beginning(of text: String) -> String {
    guard !hidesNothing, text.utf8.count > 2_000 else { return text }
    let cut = text.prefix(2_000)
    guard cut.endIndex < text.endIndex else { return text }
    return String(cut[..<(cut.lastIndex { $0.isWhitespace || ",;&\"'<>{}[]".contains($0) } ?? cut.startIndex)])
  }

  /// Any text (a form, truncated JSON, XML, a log line) without secrets; of a long one, the beginning.
  static func scrubbed(_ text: String) -> String {
    guard !hidesNothing else { return text }
    let beginning = beginning(of: text)
    guard beginning.utf8.count == text.utf8.count else { return scrubbed(beginning) + "…" }
    examined?.withLock { $0 += text.utf8.count }
    let text = reports.redacted(anyFormat: text, knowing: known)
    guard text.contains(where: \.isWhitespace) else { return text }
    return text.replacing(/\b(?<scheme>Bearer|Basic|Digest)\s+[^\s,;"'<]+/.ignoresCase()) { match in
      "\(match.scheme) \(mark)"
    }
  }

  /// The values under secret names in a request, to be removed from a report about it; of a long body, those in its
  /// beginning.
  static func secrets(of request: HAR.Request) -> KnownSecrets {
    guard !hidesNothing else { return KnownSecrets() }
    var request = request
    if let body = request.body { request.body?.data = Data(body.data.prefix(RequestFacts.longest)) }
    examined?.withLock { $0 += request.body?.data.count ?? 0 }
    let entry = HAR.Entry(started: Date(timeIntervalSince1970: 0), request: request, response: .none)
    return KnownSecrets(reports.secrets(of: entry))
  }
}
