/// Base64, in both alphabets (RFC 4648, sections 4 and 5).
enum Base64 {
  static func isDigit(_ byte: UInt8) -> Bool { values[Int(byte)] < 64 }

  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The value of each digit, in both alphabets; 64 for other bytes.
  static let values: [UInt8] = {
    var values = [UInt8](repeating: 64, count: 256)
    for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
    (values[0x2D], values[0x5F]) = (62, 63)
    return values
  }()

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
    let plain = digits.dropLast(digits.count % 4 == 1 ? 1 : 0).map { Self.digits[Int(values[Int($0)])] }
    let padding = Data(repeating: UInt8(ascii: "="), count: (4 - plain.count % 4) % 4)
    return Data(base64Encoded: Data(plain) + padding).map { Array($0) }
  }

  /// Encodes bytes in the alphabet of the digits they replace, padded if those were padded.
  static func encoded(_ bytes: [UInt8], like digits: ArraySlice<UInt8>, isPadded: Bool) -> [UInt8] {
    let isForURLs = digits.contains { "-_".utf8.contains($0) }
    // If the replaced digits needed no padding, it is unknown whether the decoder requires padding, so add it.
    let isBare = !isPadded && (isForURLs || digits.count % 4 != 0)
    var coded = Data(bytes).base64EncodedString()
    if isForURLs { coded = coded.replacing("+", with: "-").replacing("/", with: "_") }
    return coded.utf8.filter { !isBare || $0 != UInt8(ascii: "=") }
  }
}
