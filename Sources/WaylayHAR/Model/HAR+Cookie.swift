import Foundation

extension HAR {
  /// A cookie from a header field.
  public struct Cookie: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// Its value.
    public var value: String
    /// The path that the cookie applies to.
    public var path: String?
    /// The domain that the cookie applies to.
    public var domain: String?
    /// When the cookie expires, in ISO 8601; if the header field contains no valid date, its text.
    public var expires: String?
    /// Whether the cookie is hidden from scripts.
    public var isHTTPOnly: Bool?
    /// Whether the cookie is sent only over TLS.
    public var isSecure: Bool?
    /// A comment.
    public var comment: String?
    /// Custom fields, by name, such as `sameSite`.
    public var extensions: [String: JSONValue] = [:]

    /// Makes a cookie.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }
}

extension HAR.Cookie {
  /// The cookies of a request (RFC 6265, section 4.2.1).
  static func sent(in fields: [HAR.Field]) -> [HAR.Cookie] {
    fields.filter { $0.name.lowercased() == "cookie" }.flatMap { field in
      field.value.split(separator: ";").map { HAR.Cookie(pair: $0) }
    }
  }

  /// The cookies that an answer sets (RFC 6265, section 4.1.1), one for each field.
  static func set(in fields: [HAR.Field]) -> [HAR.Cookie] {
    // Some programs put several fields into one, line by line.
    fields.filter { $0.name.lowercased() == "set-cookie" }.flatMap { $0.value.split(whereSeparator: \.isNewline) }
      .compactMap { line in
        let parts = line.split(separator: ";", omittingEmptySubsequences: false)
        guard let first = parts.first else { return nil }
        var cookie = HAR.Cookie(pair: first)
        for attribute in parts.dropFirst().map({ HAR.Cookie(pair: $0) }) {
          switch attribute.name.lowercased() {
          case "path": cookie.path = attribute.value
          case "domain": cookie.domain = attribute.value
          case "expires": cookie.expires = Timestamp.iso(ofCookieDate: attribute.value) ?? attribute.value
          case "httponly": cookie.isHTTPOnly = true
          case "secure": cookie.isSecure = true
          case "samesite": cookie.extensions["sameSite"] = .string(attribute.value)
          default: break
          }
        }
        return cookie
      }
  }

  private init(pair: Substring) {
    let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    self.init(
      name: parts[0].trimmingCharacters(in: .whitespaces),
      value: parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
  }
}

extension HAR.Field {
  /// The items of a URL's query, decoded.
  static func query(of url: String) -> [HAR.Field] {
    let url = url.prefix { $0 != "#" }
    guard let mark = url.firstIndex(of: "?") else { return [] }
    return form(url[url.index(after: mark)...])
  }

  /// The items of a form, or of a query that is written like one.
  static func form(_ text: Substring) -> [HAR.Field] {
    text.split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return HAR.Field(plain(parts[0]), parts.count > 1 ? plain(parts[1]) : "")
    }
  }

  /// A name or value without percent signs and plus signs.
  static func plain(_ text: Substring) -> String {
    let spaced = text.replacing("+", with: " ")
    return spaced.removingPercentEncoding ?? String(spaced)
  }
}
