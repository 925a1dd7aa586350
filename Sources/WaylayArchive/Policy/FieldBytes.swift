/// Byte-level parsing of field values (RFC 9110, section 5.6).
enum FieldBytes {
  static let comma = UInt8(ascii: ",")
  static let equals = UInt8(ascii: "=")
  static let quote = UInt8(ascii: "\"")
  static let backslash = UInt8(ascii: "\\")
  static let dash = UInt8(ascii: "-")
  static let slash = UInt8(ascii: "/")
  static let star = UInt8(ascii: "*")

  /// Whether a text equals `name`, which is in lower case, ignoring letter case.
  static func equal(_ text: String, _ name: StaticString) -> Bool {
    guard text.utf8.count == name.utf8CodeUnitCount else { return false }
    return name.withUTF8Buffer { name in
      var index = 0
      for byte in text.utf8 {
        if byte.lowercased != name[index] { return false }
        index &+= 1
      }
      return true
    }
  }

  /// The non-empty members of a list.
  static func members(_ list: some Collection<UInt8>) -> [ArraySlice<UInt8>] {
    Array(list).split(separator: comma).map(\.trimmingBlanks).filter { !$0.isEmpty }
  }

  /// A field name in lower case.
  static func name(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes.lazy.map(\.lowercased), as: UTF8.self)
  }

  /// Parses an unsigned number, capped at `limit`; `nil` if it is invalid.
  static func number(_ bytes: ArraySlice<UInt8>, limit: Int64 = .max) -> Int64? {
    guard !bytes.isEmpty else { return nil }
    var number: Int64 = 0
    for byte in bytes {
      guard byte.isASCIIDigit else { return nil }
      number = number.saturating(multipliedBy: 10).saturating(adding: Int64(byte &- UInt8(ascii: "0")))
    }
    return min(number, limit)
  }

  /// Seconds of `max-age` and `Age` (RFC 9111, section 1.2.2), capped at 2³¹.
  static func deltaSeconds(_ bytes: ArraySlice<UInt8>) -> Int64? { number(bytes, limit: maximumDelta) }

  static let maximumDelta: Int64 = 2_147_483_648
}

/// Normalizes equivalent request field values, as RFC 9111, section 4.1, allows: white space, and letter case and order
/// if the field's specification declares them insignificant.
enum FieldNormalization {
  /// The normalized form of `value` for the field `name` (in lower case).
  static func normalized(_ value: String, of name: String) -> [UInt8] {
    let bytes = Array(value.utf8).trimmingBlanks
    switch name {
    // Credentials are compared exactly.
    case _ where CredentialNames.isCredential(name): return Array(bytes)
    case "accept-encoding", "accept-charset":
      let members = list(bytes, lowercase: true).split(separator: FieldBytes.comma)
      return joined(members.sorted { $0.lexicographicallyPrecedes($1) }.map(Array.init))
    case "accept-language":
      let list = list(bytes, lowercase: true)
      return isOrdered(list) ? list : joined(byWeight(list.split(separator: FieldBytes.comma).map(Array.init)))
    case "accept": return list(bytes, lowercase: true)
    default: return list(bytes, lowercase: false)
    }
  }

  /// A list without empty members and without white space around commas and parameter semicolons; quoted strings stay
  /// unchanged.
  private static func list(_ bytes: ArraySlice<UInt8>, lowercase: Bool) -> [UInt8] {
    var list: [UInt8] = []
    list.reserveCapacity(bytes.count)
    var isQuoted = false
    var isEscaped = false
    func trim() {
      while let last = list.last, last.isBlank { list.removeLast() }
    }
    for byte in bytes {
      if isQuoted {
        list.append(byte)
        if isEscaped {
          isEscaped = false
        } else if byte == FieldBytes.backslash {
          isEscaped = true
        } else if byte == FieldBytes.quote {
          isQuoted = false
        }
      } else if byte.isBlank {
        // Skip white space at the start, after a comma, and after a parameter's semicolon.
        guard let last = list.last, last != FieldBytes.comma, !lowercase || last != UInt8(ascii: ";") else { continue }
        list.append(byte)
      } else if byte == FieldBytes.comma {
        trim()
        if let last = list.last, last != FieldBytes.comma { list.append(byte) }
      } else {
        if lowercase, byte == UInt8(ascii: ";") { trim() }
        isQuoted = byte == FieldBytes.quote
        list.append(lowercase ? byte.lowercased : byte)
      }
    }
    trim()
    if list.last == FieldBytes.comma { list.removeLast() }
    return list
  }

  /// Whether the weights never increase, so that the list is already sorted.
  private static func isOrdered(_ list: [UInt8]) -> Bool {
    guard list.contains(FieldBytes.equals) else { return true }
    var before = Int.max
    for member in list.split(separator: FieldBytes.comma) {
      let weight = weight(member)
      if weight > before { return false }
      before = weight
    }
    return true
  }

  private static func joined(_ members: [[UInt8]]) -> [UInt8] {
    Array(members.joined(separator: [FieldBytes.comma]))
  }

  /// Sorts languages by descending weight, stably: servers treat the order of equal weights as preference (RFC 9110,
  /// section 12.5.4).
  private static func byWeight(_ members: [[UInt8]]) -> [[UInt8]] {
    let weighted = members.enumerated().map { (weight: weight($0.element), index: $0.offset, member: $0.element) }
    return weighted.sorted { ($1.weight, $0.index) < ($0.weight, $1.index) }.map(\.member)
  }

  /// The weight in thousandths, from `;q=0.5`.
  private static func weight(_ member: some BidirectionalCollection<UInt8>) -> Int {
    guard let start = member.firstIndex(of: UInt8(ascii: ";")), member[start...].starts(with: ";q=".utf8) else {
      return 1000
    }
    var weight = 0
    var scale = 1000
    for byte in member[start...].dropFirst(3) where byte != UInt8(ascii: ".") {
      guard byte.isASCIIDigit else { return 1000 }
      weight += Int(byte &- UInt8(ascii: "0")) * scale
      scale /= 10
    }
    return weight
  }
}
