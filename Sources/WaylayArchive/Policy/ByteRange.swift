/// A `Range` field (RFC 9110, section 14.2), as far as one stored response can answer it.
package enum RangeRequest: Hashable, Sendable {
  /// `bytes=first-last`
  case span(Int64, Int64)
  /// `bytes=first-`
  case from(Int64)
  /// `bytes=-count`
  case suffix(Int64)
  /// Several ranges, another unit, or something that cannot be read: left to the origin.
  case other

  init(_ value: String) {
    let bytes = Array(value.utf8)
    guard let equals = bytes.firstIndex(of: FieldBytes.equals),
      String(decoding: bytes[..<equals].map(FieldBytes.lowercased), as: UTF8.self) == "bytes"
    else {
      self = .other
      return
    }
    let specs = bytes[(equals + 1)...].split(separator: FieldBytes.comma).map(FieldBytes.trimmed).filter { !$0.isEmpty }
    guard specs.count == 1, let spec = specs.first, let dash = spec.firstIndex(of: FieldBytes.dash) else {
      self = .other
      return
    }
    let first = spec[..<dash]
    let last = spec[(dash + 1)...]
    switch (FieldBytes.number(first), FieldBytes.number(last)) {
    case (let start?, let end?): self = start <= end ? .span(start, end) : .other
    case (let start?, nil) where last.isEmpty: self = .from(start)
    case (nil, let count?) where first.isEmpty: self = .suffix(count)
    default: self = .other
    }
  }

  /// The bytes meant in a representation of that length; `nil` when there is none of them, `.other` included.
  package func bytes(of length: Int64) -> Range<Int64>? {
    switch self {
    case .span(let first, let last): first < length ? first..<min(last, length - 1) + 1 : nil
    case .from(let first): first < length ? first..<length : nil
    case .suffix(let count): count > 0 && length > 0 ? max(0, length - count)..<length : nil
    case .other: nil
    }
  }

  /// The bytes meant, where the length of the representation is not known; `nil` where they depend on it.
  var bytes: Range<Int64>? {
    guard case .span(let first, let last) = self, last < .max else { return nil }
    return first..<last + 1
  }
}

/// A `Content-Range` field of one range (RFC 9110, section 14.4).
package struct ContentRange: Hashable, Sendable {
  package var bytes: Range<Int64>
  /// The length of the whole representation, where it is known.
  package var completeLength: Int64?

  package init(_ bytes: Range<Int64>, of completeLength: Int64?) {
    self.bytes = bytes
    self.completeLength = completeLength
  }

  /// `nil` when the text is no range of bytes that is satisfied.
  package init?(_ value: String) {
    let bytes = Array(value.utf8.map(FieldBytes.lowercased))
    guard bytes.starts(with: "bytes ".utf8), let slash = bytes.firstIndex(of: FieldBytes.slash),
      let dash = bytes[6..<slash].firstIndex(of: FieldBytes.dash), let first = FieldBytes.number(bytes[6..<dash]),
      let last = FieldBytes.number(bytes[(dash + 1)..<slash]), first <= last, last < .max
    else { return nil }
    let length = bytes[(slash + 1)...]
    if !length.elementsEqual([FieldBytes.star]) {
      guard let number = FieldBytes.number(length), last < number else { return nil }
      completeLength = number
    }
    self.bytes = first..<last + 1
  }

  package var value: String {
    "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(completeLength.map { "\($0)" } ?? "*")"
  }
}
