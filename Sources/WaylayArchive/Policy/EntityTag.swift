/// Comparing entity tags (RFC 9110, section 8.8.3), which are kept as they were seen, with or without quotation marks.
enum EntityTag {
  static func isWeak(_ tag: String) -> Bool {
    var bytes = tag.utf8.makeIterator()
    let first = bytes.next()
    return (first == UInt8(ascii: "W") || first == UInt8(ascii: "w")) && bytes.next() == FieldBytes.slash
  }

  private static func opaque(_ tag: String) -> Substring.UTF8View {
    isWeak(tag) ? tag.utf8.dropFirst(2) : tag.utf8.dropFirst(0)
  }

  /// The weak comparison: whether the two are the same but for `W/`.
  static func areWeaklyEqual(_ left: String, _ right: String) -> Bool {
    opaque(left).elementsEqual(opaque(right))
  }

  /// The strong comparison: whether the two are the same and neither is weak.
  static func areStronglyEqual(_ left: String, _ right: String) -> Bool {
    !isWeak(left) && !isWeak(right) && left.utf8.elementsEqual(right.utf8)
  }

  /// Whether a list, as `If-None-Match` has it, names `tag` by the weak comparison. `*` names every tag.
  static func list(_ list: String, names tag: String?) -> Bool {
    let bytes = Array(list.utf8)
    if FieldBytes.trimmed(bytes[...]).elementsEqual([FieldBytes.star]) { return true }
    guard let tag else { return false }
    var position = 0
    while position < bytes.count {
      if FieldBytes.isBlank(bytes[position]) || bytes[position] == FieldBytes.comma {
        position += 1
        continue
      }
      let start = position
      if bytes[position] | 0x20 == UInt8(ascii: "w"), position + 2 < bytes.count,
        bytes[position + 1] == FieldBytes.slash
      {
        position += 2
      }
      if bytes[position] == FieldBytes.quote, let end = bytes[(position + 1)...].firstIndex(of: FieldBytes.quote) {
        position = end + 1
      } else {
        position = bytes[position...].firstIndex(of: FieldBytes.comma) ?? bytes.count
      }
      if areWeaklyEqual(String(decoding: FieldBytes.trimmed(bytes[start..<position]), as: UTF8.self), tag) {
        return true
      }
    }
    return false
  }
}
