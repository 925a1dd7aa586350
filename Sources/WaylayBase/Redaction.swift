extension String {
  /// The text with every URL in it as ``Foundation/URL/redacted``, for messages of libraries and other transports.
  package var withRedactedURLs: String {
    guard contains("://") else { return hidingValues }
    var text = ""
    var rest = self[...]
    while let separator = rest.range(of: "://") {
      let scheme = rest[..<separator.lowerBound].reversed().prefix {
        $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0))
      }
      let start = rest.index(separator.lowerBound, offsetBy: -scheme.count)
      let end = rest[separator.upperBound...].firstIndex { $0.isWhitespace || "\"'<>`".contains($0) } ?? rest.endIndex
      text += rest[..<start].hidingValues
      // In a URL within the path of another one, `URL` does not recognize the user info: omit such a URL.
      let isNested = rest[separator.upperBound..<end].contains("://")
      text += (isNested ? nil : URL(string: String(rest[start..<end]))?.redacted) ?? "<unreadable URL>"
      rest = rest[end...]
    }
    return text + rest.hidingValues
  }
}

extension StringProtocol {
  /// The text without the values of anything like a query (`?name=value`, or `?value`) or like a parameter in a path
  /// (`;name=value`).
  fileprivate var hidingValues: String {
    guard utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: ";") }) else { return String(self) }
    var (text, name, section, isValue): (String, String, Character?, Bool) = ("", "", nil, false)
    /// A name without a value may be a secret itself.
    func endItem() {
      text += section == "?" && !name.isEmpty ? "…" : name
      (name, isValue) = ("", false)
    }
    for character in self {
      if character.isWhitespace || "\"'<>`".contains(character) || section == ";" && character == "/" {
        endItem()
        section = nil
      } else if character == "&" || !isValue && (character == "?" || character == ";") {
        endItem()
        if character == "?" || character == ";" && section != "?" { section = character }
      } else if isValue {
        continue
      } else if section != nil {
        name.append(character)
        guard character == "=" else { continue }
        text += name + "…"
        (name, isValue) = ("", true)
        continue
      }
      text.append(character)
    }
    endItem()
    return text
  }
}

extension URL {
  /// The URL as logs and messages may show it: no user info, no values of the query and of parameters in the path
  /// (`;jsessionid=`), no fragment.
  package var redacted: String {
    guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return "<unreadable URL>" }
    (parts.user, parts.password, parts.fragment) = (nil, nil, nil)
    let items = (parts.queryItems ?? []).map { $0.value == nil ? "…" : "\($0.name)=…" }
    parts.queryItems = nil
    guard var text = parts.string else { return "<unreadable URL>" }
    if text.contains("%3B") || text.contains("%3b") {
      text = text.replacing("%3B", with: ";").replacing("%3b", with: ";").replacing("%3D", with: "=")
    }
    return text.hidingValues + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
  }

  /// The URL without user name and password.
  package var withoutUserInfo: URL {
    guard user != nil || password != nil, var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
      return self
    }
    (parts.user, parts.password) = (nil, nil)
    return parts.url ?? self
  }
}
