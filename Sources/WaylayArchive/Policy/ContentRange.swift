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
