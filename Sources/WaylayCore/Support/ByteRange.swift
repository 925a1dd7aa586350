/// A `Range` field (RFC 9110, section 14.2), as far as one range of bytes.
package enum ByteRange: Hashable, Sendable {
  /// `bytes=first-last`
  case span(Int64, Int64)
  /// `bytes=first-`
  case from(Int64)
  /// `bytes=-count`
  case suffix(Int64)
  /// Several ranges, another unit, or something that cannot be read: a server answers with the whole (section 14.2).
  case other

  package init(_ field: String) {
    let bytes = Array(field.utf8)
    let unit = bytes.prefix { $0 != UInt8(ascii: "=") }
    let specs = bytes[unit.endIndex...].dropFirst().split(separator: UInt8(ascii: ",")).map(Self.trimmed).filter {
      !$0.isEmpty
    }
    guard String(decoding: Self.trimmed(unit), as: UTF8.self).lowercased() == "bytes", specs.count == 1,
      let spec = specs.first,
      let dash = spec.firstIndex(of: UInt8(ascii: "-"))
    else {
      self = .other
      return
    }
    let (first, last) = (Self.trimmed(spec[..<dash]), Self.trimmed(spec[(dash + 1)...]))
    switch (Self.number(first), Self.number(last)) {
    case (let start?, let end?): self = start <= end ? .span(start, end) : .other
    case (let start?, nil) where last.isEmpty: self = .from(start)
    case (nil, let count?) where first.isEmpty: self = .suffix(count)
    default: self = .other
    }
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes
    while let last = bytes.last, last.isBlank { bytes.removeLast() }
    return bytes.drop(while: \.isBlank)
  }

  /// Digits; more than fit count as the largest number there is.
  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64? {
    guard !bytes.isEmpty, bytes.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
    return Int64(String(decoding: bytes, as: UTF8.self)) ?? .max
  }

  /// The bytes meant in a representation of that length; `nil` when there is none of them, ``other`` included.
  package func bytes(of length: Int64) -> Range<Int64>? {
    switch self {
    case .span(let first, let last): first < length ? first..<min(last, length - 1) + 1 : nil
    case .from(let first): first < length ? first..<length : nil
    case .suffix(let count): count > 0 && length > 0 ? max(0, length - count)..<length : nil
    case .other: nil
    }
  }

  /// The bytes meant, where the length of the representation is not known; `nil` where they depend on it.
  package var bytes: Range<Int64>? {
    guard case .span(let first, let last) = self, last < .max else { return nil }
    return first..<last + 1
  }
}
