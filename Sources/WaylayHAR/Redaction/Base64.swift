/// Base64, in both alphabets (RFC 4648, sections 4 and 5).
enum Base64 {
  static func isDigit(_ byte: UInt8) -> Bool {
    byte.isASCIILetter || byte.isASCIIDigit || "+/-_".utf8.contains(byte)
  }

  private static func written(_ digits: some Sequence<UInt8>, forURLs: Bool) -> [UInt8] {
    let (from, to) = forURLs ? (Array("+/".utf8), Array("-_".utf8)) : (Array("-_".utf8), Array("+/".utf8))
    return digits.map { $0 == from[0] ? to[0] : $0 == from[1] ? to[1] : $0 }
  }

  /// The encodings of bytes inside a longer text, for each offset modulo 3 and both alphabets.
  static func spellings(of bytes: [UInt8]) -> [[UInt8]] {
    (0..<3).flatMap { offset -> Set<[UInt8]> in
      let shifted = Data(repeating: 0, count: offset) + Data(bytes)
      // Drop digits at both ends that share bits with neighboring bytes.
      let digits = shifted.base64EncodedString().utf8.dropFirst([0, 2, 3][offset]).dropLast(
        [0, 3, 2][shifted.count % 3])
      return digits.count < 8 ? [] : [Array(digits), written(digits, forURLs: true)]
    }
  }

  /// The run of digits around a range, with padding; in the path of a URL, a slash ends the run.
  static func run(
    around range: Range<Int>, in piece: Range<Int>, of bytes: [UInt8], isInPath: Bool = false
  ) -> Range<Int> {
    func ends(_ byte: UInt8) -> Bool { !isDigit(byte) || isInPath && byte == UInt8(ascii: "/") }
    let start = bytes[piece.lowerBound..<range.lowerBound].lastIndex(where: ends) ?? piece.lowerBound - 1
    let digits = bytes[range.upperBound..<piece.upperBound].firstIndex(where: ends) ?? piece.upperBound
    return start + 1..<(bytes[digits..<piece.upperBound].firstIndex { $0 != UInt8(ascii: "=") } ?? piece.upperBound)
  }

  /// Decodes digits; of a truncated run, its whole bytes.
  static func decoded(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
    let plain = written(digits.dropLast(digits.count % 4 == 1 ? 1 : 0), forURLs: false)
    let padding = Data(repeating: UInt8(ascii: "="), count: (4 - plain.count % 4) % 4)
    return Data(base64Encoded: Data(plain) + padding).map { Array($0) }
  }

  /// Encodes bytes in the alphabet of the digits they replace, padded if those were padded.
  static func encoded(_ bytes: [UInt8], like digits: ArraySlice<UInt8>, isPadded: Bool) -> [UInt8] {
    let isForURLs = digits.contains { "-_".utf8.contains($0) }
    // If the replaced digits needed no padding, it is unknown whether the decoder requires padding, so add it.
    let isBare = !isPadded && (isForURLs || digits.count % 4 != 0)
    let coded = Data(bytes).base64EncodedString().utf8.filter { !isBare || $0 != UInt8(ascii: "=") }
    return isForURLs ? written(coded, forURLs: true) : coded
  }
}
