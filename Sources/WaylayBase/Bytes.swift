extension UInt8 {
  @inlinable package var isASCIIDigit: Bool { 0x30...0x39 ~= self }
  @inlinable package var isASCIILetter: Bool { 0x61...0x7A ~= self | 0x20 }
  /// The byte; for an ASCII letter, its lowercase form.
  @inlinable package var lowercased: UInt8 { 0x41...0x5A ~= self ? self | 0x20 : self }
  /// Whether the byte is part of a word: an ASCII letter or digit, or an underscore.
  @inlinable package var isOfWord: Bool { isASCIIDigit || isASCIILetter || self == UInt8(ascii: "_") }

  /// Two digits, in lower case.
  package var hexadecimal: String { [self].hexadecimal }
}

extension Sequence<UInt8> {
  /// Two digits for each byte, in lower case.
  package var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}

extension [UInt8] {
  /// Random bytes of the system.
  package static func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: .min ... .max) } }
}

extension String {
  /// Random bytes of the system, two digits for each, in lower case.
  package static func random(bytes count: Int) -> String { [UInt8].random(count).hexadecimal }
}

extension Collection<UInt8> {
  /// Compares bytes of one length in constant time.
  package func isSame(as other: some Collection<UInt8>) -> Bool {
    count == other.count && zip(self, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

extension Int64 {
  /// The value of decimal digits; `nil` for a sign, a space, an empty text, and a number that is too large.
  @inlinable package init?(decimal text: some StringProtocol) {
    guard text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
    self.init(text)
  }
}

extension FixedWidthInteger {
  /// The sum, or the nearest representable number.
  @inlinable package func saturating(adding other: Self) -> Self {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? (other < 0 ? .min : .max) : sum
  }

  /// The difference, or the nearest representable number.
  @inlinable package func saturating(subtracting other: Self) -> Self {
    let (difference, overflows) = subtractingReportingOverflow(other)
    return overflows ? (other < 0 ? .max : .min) : difference
  }

  /// The product, or the nearest representable number.
  @inlinable package func saturating(multipliedBy other: Self) -> Self {
    let (product, overflows) = multipliedReportingOverflow(by: other)
    return overflows ? ((self < 0) == (other < 0) ? .max : .min) : product
  }
}
