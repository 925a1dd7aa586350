extension URLPattern {
  mutating func parse(_ text: String) throws(MockError) {
    if text == "*" || text == "**" { return }
    var rest = Substring(text)
    if let fragment = rest.firstIndex(of: "#") { rest = rest[..<fragment] }
    if let mark = PathExpressions.first("?", in: rest) {
      query = try QueryPattern(pattern: rest[rest.index(after: mark)...], of: text)
      rest = rest[..<mark]
    }
    var hasScheme = false
    if let separator = rest.range(of: "://") {
      let scheme = rest[..<separator.lowerBound].lowercased()
      guard scheme == "*" || Self.isScheme(scheme) else {
        throw Self.invalid(text, "\"\(scheme)\" is not a valid scheme: write https:// or *://.")
      }
      self.scheme = scheme == "*" ? nil : scheme
      hasScheme = true
      rest = rest[separator.upperBound...]
    }
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    let authority = rest[..<slash]
    if authority.isEmpty {
      guard !hasScheme else { throw Self.invalid(text, "there is no host after the scheme: write \"*\" for any host.") }
    } else {
      try parseAuthority(authority, of: text, hasScheme: hasScheme)
    }
    let written = rest[slash...]
    if authority.isEmpty, written.isEmpty, query == nil {
      throw Self.invalid(text, "it is empty: write a path such as \"/users/:id\", a URL, or .any.")
    }
    // An origin alone is its root; a query alone is for any path.
    if !authority.isEmpty || !written.isEmpty { path = try PathPattern(pattern: written, of: text) }
  }

  private mutating func parseAuthority(_ authority: Substring, of text: String, hasScheme: Bool) throws(MockError) {
    var name = authority
    if let at = name.lastIndex(of: "@") { name = name[name.index(after: at)...] }
    port = .schemeDefault
    if let colon = name.lastIndex(of: ":"), !name[colon...].contains("]") {
      let digits = name[name.index(after: colon)...]
      if digits == "*" {
        port = .any
      } else if let number = Int(digits), (1...65535).contains(number) {
        port = .number(number)
      } else if !digits.isEmpty {
        throw Self.invalid(text, "\"\(digits)\" is not a valid port: write a number from 1 to 65535, or \"*\" for any.")
      }
      name = name[..<colon]
    }
    // `users/:id` would otherwise be a host named "users".
    guard
      hasScheme || name == "localhost" || name.contains(".") || name.contains("*") || name.hasPrefix("[")
        || port != .schemeDefault
    else {
      throw Self.invalid(
        text, "\"\(name)\" is not a host: begin a path with a slash, \"/\(authority)…\", and a host with its scheme.")
    }
    guard !name.isEmpty else { throw Self.invalid(text, "there is no host before the port.") }
    host = try StubHost(name, of: text)
    if name == "*", port == .schemeDefault { port = .any }
  }

  private static func isScheme(_ text: String) -> Bool {
    guard let first = text.first, first.isASCII, first.isLetter else { return false }
    return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
  }

  static func invalid(_ text: String, _ reason: String) -> MockError {
    MockError(.invalidPattern, "the URL pattern \"\(text)\" cannot be parsed: \(reason)")
  }
}
