/// What reports do not show: they end in logs of build servers.
enum Redaction {
  static let mark = "<redacted>"

  private static let fields: Set<String> = [
    "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key", "x-auth-token", "x-csrf-token", "x-xsrf-token",
    "x-amz-security-token", "x-goog-api-key",
  ]

  private static let words = [
    "token", "secret", "password", "passwd", "apikey", "api_key", "api-key", "signature", "credential", "session",
  ]

  /// Whether a header field's value is a secret.
  static func hidesField(_ name: String) -> Bool { fields.contains(name.lowercased()) || hides(name) }

  /// Whether a query item's, a form field's or a JSON member's value is a secret.
  static func hides(_ name: String) -> Bool {
    let name = name.lowercased()
    return words.contains { name.contains($0) } || name == "sig" || name == "key" || name == "auth" || name == "pwd" || name == "pin"
  }

  static func field(_ name: String, _ value: String) -> String { hidesField(name) ? mark : value }

  static func query(_ name: String, _ text: String) -> String { hides(name) ? "\(name)=\(mark)" : text }

  /// A URL without user, password, fragment and secrets in its query.
  static func shown(_ url: URL) -> String {
    guard url.query != nil || url.user != nil || url.fragment != nil, var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    else {
      return url.absoluteString
    }
    parts.user = nil
    parts.password = nil
    parts.fragment = nil
    parts.percentEncodedQuery =
      parts.percentEncodedQuery.map { query in
        query.split(separator: "&", omittingEmptySubsequences: false)
          .map { item in
            guard let equals = item.firstIndex(of: "="), hides(PercentCoding.decoded(item[..<equals])) else { return String(item) }
            return item[...equals] + "…"
          }
          .joined(separator: "&").addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed.union(["%"]))
      } ?? nil
    return (parts.string ?? url.absoluteString).replacingOccurrences(of: "%E2%80%A6", with: "…")
  }

  /// A JSON value with a mark in place of secrets.
  static func masked(_ node: JSONNode) -> JSONNode {
    switch node.value {
    case .object(let members):
      JSONNode(
        .object(
          members.map { JSONNode.Member(name: $0.name, node: hides($0.name) ? JSONNode(.string(mark)) : masked($0.node)) }))
    case .array(let elements): JSONNode(.array(elements.map(masked)))
    default: node
    }
  }

  /// A JSON value without the members that are secrets.
  static func withoutSecrets(_ node: JSONNode) -> JSONNode {
    switch node.value {
    case .object(let members):
      JSONNode(.object(members.filter { !hides($0.name) }.map { JSONNode.Member(name: $0.name, node: withoutSecrets($0.node)) }))
    case .array(let elements): JSONNode(.array(elements.map(withoutSecrets)))
    default: node
    }
  }
}
