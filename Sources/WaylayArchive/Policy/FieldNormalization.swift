/// Brings request field values that mean the same into one form, as RFC 9111, section 4.1, allows: white space, letter case where the
/// field's specification says that it does not count, and order where it does not count.
enum FieldNormalization {
  /// The form of `value`, which is `name`'s (in lower case).
  static func normalized(_ value: String, of name: String) -> [UInt8] {
    let bytes = FieldBytes.trimmed(Array(value.utf8)[...])
    switch name {
    // Secrets and the like are compared as they are.
    case "authorization", "cookie", "proxy-authorization": return Array(bytes)
    case "accept-encoding", "accept-charset": return joined(members(bytes, lowercase: true).sorted { $0.lexicographicallyPrecedes($1) })
    case "accept-language": return joined(byWeight(members(bytes, lowercase: true)))
    case "accept": return joined(members(bytes, lowercase: true))
    default: return joined(members(bytes, lowercase: false))
    }
  }

  /// The members of a list, without the white space round commas, semicolons and `=` of parameters; quoted strings stay as they are.
  private static func members(_ bytes: ArraySlice<UInt8>, lowercase: Bool) -> [[UInt8]] {
    var members: [[UInt8]] = []
    var member: [UInt8] = []
    var isQuoted = false
    var isEscaped = false
    func close() {
      while let last = member.last, FieldBytes.isBlank(last) { member.removeLast() }
      if !member.isEmpty { members.append(member) }
      member = []
    }
    for byte in bytes {
      if isQuoted {
        member.append(byte)
        if isEscaped {
          isEscaped = false
        } else if byte == FieldBytes.backslash {
          isEscaped = true
        } else if byte == FieldBytes.quote {
          isQuoted = false
        }
      } else if byte == FieldBytes.comma {
        close()
      } else if FieldBytes.isBlank(byte), member.isEmpty || lowercase && member.last == UInt8(ascii: ";") {
        continue
      } else {
        if lowercase, byte == UInt8(ascii: ";") {
          while let last = member.last, FieldBytes.isBlank(last) { member.removeLast() }
        }
        if byte == FieldBytes.quote { isQuoted = true }
        member.append(lowercase ? FieldBytes.lowercased(byte) : byte)
      }
    }
    close()
    return members
  }

  private static func joined(_ members: [[UInt8]]) -> [UInt8] {
    Array(members.joined(separator: [FieldBytes.comma]))
  }

  /// Languages by falling weight. Those of one weight keep their order: servers take it for a preference (RFC 9110, section 12.5.4).
  private static func byWeight(_ members: [[UInt8]]) -> [[UInt8]] {
    let weighted = members.enumerated().map { (weight: weight($0.element), index: $0.offset, member: $0.element) }
    return weighted.sorted { ($1.weight, $0.index) < ($0.weight, $1.index) }.map(\.member)
  }

  /// Thousandths, from `;q=0.5`.
  private static func weight(_ member: [UInt8]) -> Int {
    guard let start = member.firstIndex(of: UInt8(ascii: ";")), member[start...].starts(with: ";q=".utf8) else { return 1000 }
    let digits = member[(start + 3)...].filter { $0 != UInt8(ascii: ".") }.prefix(4)
    let padded = digits + Array(repeating: UInt8(ascii: "0"), count: 4 - digits.count)
    return FieldBytes.number(padded[...]).map { Int($0) } ?? 1000
  }
}
