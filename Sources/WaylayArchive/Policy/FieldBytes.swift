/// Questions about single bytes of a field value (RFC 9110, section 5.6).
enum FieldBytes {
  static let comma = UInt8(ascii: ",")
  static let equals = UInt8(ascii: "=")
  static let quote = UInt8(ascii: "\"")
  static let backslash = UInt8(ascii: "\\")
  static let dash = UInt8(ascii: "-")
  static let slash = UInt8(ascii: "/")
  static let star = UInt8(ascii: "*")

  static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  static func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }

  /// A character of a token (RFC 9110, section 5.6.2).
  static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
      UInt8(ascii: "'"),
      UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "_"),
      UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }

  /// Whether a text is `name`, which is in lower case, in whatever letter case.
  static func equal(_ text: String, _ name: StaticString) -> Bool {
    guard text.utf8.count == name.utf8CodeUnitCount else { return false }
    return name.withUTF8Buffer { name in
      var index = 0
      for byte in text.utf8 {
        if lowercased(byte) != name[index] { return false }
        index &+= 1
      }
      return true
    }
  }

  static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes.drop(while: isBlank)
    while let last = bytes.last, isBlank(last) { bytes = bytes.dropLast() }
    return bytes
  }

  /// The value of a number without sign; `nil` when it is none. One that is too great counts as `limit`.
  static func number(_ bytes: ArraySlice<UInt8>, limit: Int64 = .max) -> Int64? {
    guard !bytes.isEmpty else { return nil }
    var number: Int64 = 0
    for byte in bytes {
      guard isDigit(byte) else { return nil }
      number = number.multipliedSaturating(by: 10).addingSaturating(Int64(byte &- UInt8(ascii: "0")))
    }
    return min(number, limit)
  }

  /// Seconds, as `max-age` and `Age` have them (RFC 9111, section 1.2.2): what is too great counts as 2³¹.
  static func deltaSeconds(_ bytes: ArraySlice<UInt8>) -> Int64? {
    number(bytes, limit: maximumDelta)
  }

  static let maximumDelta: Int64 = 2_147_483_648
}
