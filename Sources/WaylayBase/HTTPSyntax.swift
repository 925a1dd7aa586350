extension BidirectionalCollection<UInt8> {
  /// The bytes without leading and trailing spaces and tabs.
  @inlinable package var trimmingBlanks: SubSequence {
    guard let last = lastIndex(where: { !$0.isBlank }) else { return self[endIndex...] }
    return self[...last].drop(while: \.isBlank)
  }
}

extension Substring {
  /// The text without leading and trailing spaces and tabs.
  package var trimmingBlanks: Substring { Substring(utf8.trimmingBlanks) }
}

extension UInt8 {
  /// A space or a tab.
  @inlinable package var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

  /// Whether the byte may occur in a token (RFC 9110, section 5.6.2).
  @inlinable package var isToken: Bool { isASCIILetter || isASCIIDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }

  /// Whether the byte may occur in a URL scheme (RFC 3986, section 3.1).
  package var isScheme: Bool { isASCIILetter || isASCIIDigit || "+-.".utf8.contains(self) }

  /// Whether the byte may occur in a token68 before its padding (RFC 9110, section 11.2).
  package var isToken68: Bool { isASCIILetter || isASCIIDigit || "-._~+/".utf8.contains(self) }
}

extension String {
  /// Whether it is the name of a field or of a method (RFC 9110, section 5.6.2).
  package var isToken: Bool { !isEmpty && utf8.allSatisfy(\.isToken) }

  /// The text as a quoted string of a header field (RFC 9110, section 5.6.4).
  ///
  /// Scalar by scalar: a quote with a combining mark is a different `Character`, but still ends the string.
  package var quotedString: String {
    var quoted = "\""
    for scalar in unicodeScalars {
      if scalar == "\"" || scalar == "\\" { quoted += "\\" }
      quoted.unicodeScalars.append(scalar)
    }
    return quoted + "\""
  }
}

extension URL {
  /// Whether two URLs have one origin (RFC 6454): scheme, host and port.
  package func hasSameOrigin(as other: URL) -> Bool {
    scheme?.lowercased() == other.scheme?.lowercased() && host?.lowercased() == other.host?.lowercased()
      && portOrDefault == other.portOrDefault
  }

  /// The port, or the default port of the scheme if the URL has none.
  package var portOrDefault: Int? { port ?? Self.defaultPort(of: scheme?.lowercased()) }

  /// The default port of a scheme, which is in lower case.
  package static func defaultPort(of scheme: String?) -> Int? {
    switch scheme {
    case "http": 80
    case "https": 443
    default: nil
    }
  }
}
