import Foundation

/// What a `Range` field asks for (RFC 9110, section 14.1.2), as far as one range.
enum ByteRange: Equatable {
  /// From a byte to another, both included; to the end without one.
  case bytes(first: Int64, last: Int64?)
  /// The last so many bytes.
  case suffix(Int64)

  /// `nil` for another unit, several ranges, and what is no range: a server ignores those (section 14.2).
  init?(_ field: String) {
    guard let equals = field.firstIndex(of: "="), field[..<equals].trimmed.lowercased() == "bytes" else { return nil }
    let range = field[field.index(after: equals)...].trimmed
    guard let dash = range.firstIndex(of: "-") else { return nil }
    let (start, end) = (range[..<dash].trimmed, range[range.index(after: dash)...].trimmed)
    if start.isEmpty {
      guard let length = Self.number(end) else { return nil }
      self = .suffix(length)
    } else {
      guard let first = Self.number(start), end.isEmpty || Self.number(end) != nil else { return nil }
      let last = Self.number(end)
      if let last, last < first { return nil }
      self = .bytes(first: first, last: last)
    }
  }

  /// Digits; more than fit count as the largest number there is.
  private static func number(_ text: Substring) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(text) ?? .max
  }

  /// The bytes of a representation of that length; `nil` when none of it is meant.
  func resolved(in length: Int64) -> Range<Int64>? {
    switch self {
    case .bytes(let first, let last):
      guard first < length else { return nil }
      guard let last, last < length else { return first..<length }
      return first..<last + 1
    case .suffix(let count):
      guard count > 0, length > 0 else { return nil }
      return max(0, length - count)..<length
    }
  }
}

extension Substring {
  /// Without spaces and tabs at its ends.
  var trimmed: Substring {
    var text = self
    while let last = text.last, last == " " || last == "\t" { text = text.dropLast() }
    return text.drop { $0 == " " || $0 == "\t" }
  }
}
