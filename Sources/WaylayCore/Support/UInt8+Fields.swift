extension UInt8 {
  /// A space or a tab.
  var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

  private var isAlphanumeric: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }

  /// RFC 9110, section 5.6.2.
  var isToken: Bool { isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(self) }

  /// RFC 9110, section 11.2, without the padding.
  var isToken68: Bool { isAlphanumeric || "-._~+/".utf8.contains(self) }
}

extension String {
  /// Whether it is the name of a field or of a method (RFC 9110, section 5.6.2).
  var isToken: Bool { !isEmpty && utf8.allSatisfy(\.isToken) }
}

extension FixedWidthInteger {
  /// The number that decimal digits alone make; `nil` for a sign, a blank, an empty text, and a number that is too
  /// large.
  package init?(decimal text: some StringProtocol) {
    guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let number = Self(text)
    else {
      return nil
    }
    self = number
  }
}
