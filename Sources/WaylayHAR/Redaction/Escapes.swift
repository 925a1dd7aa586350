import Foundation

/// The ways in which formats write bytes that mean something else to them.
package struct Escapes: OptionSet {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `%2F` (RFC 3986, section 2.1).
  static let percent = Escapes(rawValue: 1)
  /// `+` for a space, as forms have it.
  static let plus = Escapes(rawValue: 2)
  /// `\/` and `\u002F` (RFC 8259, section 7).
  static let backslash = Escapes(rawValue: 4)
  /// `&amp;` and `&#47;`.
  static let entity = Escapes(rawValue: 8)
  static let any: Escapes = [.percent, .backslash, .entity]
  package static let form: Escapes = [.percent, .plus]

  private func isMark(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "%"): contains(.percent)
    case UInt8(ascii: "+"): contains(.plus)
    case UInt8(ascii: "\\"): contains(.backslash)
    case UInt8(ascii: "&"): contains(.entity)
    default: false
    }
  }

  /// The bytes without escapes. What is none stays.
  package func removed(from bytes: ArraySlice<UInt8>) -> [UInt8] { placed(from: bytes)?.plain ?? Array(bytes) }

  /// The bytes without escapes, and where each of them, and the end, is in the original; `nil` if there are none.
  func placed(from bytes: ArraySlice<UInt8>) -> (plain: [UInt8], places: [Int])? {
    guard bytes.contains(where: isMark) else { return nil }
    var (plain, places, rest): ([UInt8], [Int], ArraySlice<UInt8>) = ([], [], bytes)
    while let byte = rest.first {
      let (text, length) = isMark(byte) ? Self.escape(Array(rest.prefix(12))) ?? ([byte], 1) : ([byte], 1)
      plain += text
      places += repeatElement(rest.startIndex, count: text.count)
      rest = rest.dropFirst(length)
    }
    return (plain, places + [bytes.endIndex])
  }

  private static let letters = Dictionary(
    uniqueKeysWithValues: zip("bfnrt\"\\/".utf8, [8, 12, 10, 13, 9, 34, 92, 47] as [UInt8]))
  private static let entities: [String: UInt8] = ["amp": 38, "lt": 60, "gt": 62, "quot": 34, "apos": 39]

  /// What the escape at the beginning of a text stands for, and how long it is.
  static func escape(_ text: [UInt8]) -> (text: [UInt8], length: Int)? {
    func number(_ range: Range<Int>, radix: Int = 16) -> UInt32? {
      guard range.upperBound <= text.count, text[range].allSatisfy(\.isOfWord) else { return nil }
      return UInt32(String(decoding: text[range], as: UTF8.self), radix: radix)
    }
    func scalar(_ number: UInt32?, _ length: Int) -> ([UInt8], Int)? {
      number.flatMap { Unicode.Scalar($0) }.map { (Array(String($0).utf8), length) }
    }
    switch text[0] {
    case UInt8(ascii: "+"): return ([0x20], 1)
    case UInt8(ascii: "%"): return number(1..<3).map { ([UInt8($0)], 3) }
    case UInt8(ascii: "\\"):
      guard text.count > 1, text[1] == UInt8(ascii: "u") else {
        return text.count > 1 ? letters[text[1]].map { ([$0], 2) } : nil
      }
      guard let high = number(2..<6), 0xD800..<0xDC00 ~= high, text.count == 12, text[6...7].elementsEqual("\\u".utf8),
        let low = number(8..<12), 0xDC00..<0xE000 ~= low
      else {
        return scalar(number(2..<6), 6)
      }
      return scalar((high - 0xD800) << 10 + (low - 0xDC00) + 0x10000, 12)
    default:
      guard let end = text.firstIndex(of: UInt8(ascii: ";")) else { return nil }
      let name = String(decoding: text[1..<end], as: UTF8.self)
      guard name.hasPrefix("#") else { return entities[name].map { ([$0], end + 1) } }
      return scalar(name.lowercased().hasPrefix("#x") ? number(3..<end) : number(2..<end, radix: 10), end + 1)
    }
  }

  /// The bytes as they stand where these escapes are used, `+` apart.
  func added(to bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    for byte in bytes {
      switch byte {
      case _ where contains(.percent) && !byte.isOfWord && !"-.~".utf8.contains(byte):
        result += Array("%\(Self.hexadecimal(byte).uppercased())".utf8)
      case _ where contains(.backslash) && byte < 0x20: result += Array("\\u00\(Self.hexadecimal(byte))".utf8)
      case UInt8(ascii: "\"") where contains(.backslash), UInt8(ascii: "\\") where contains(.backslash):
        result += [UInt8(ascii: "\\"), byte]
      case _ where contains(.entity) && "&<>\"'".utf8.contains(byte): result += Array("&#\(byte);".utf8)
      default: result.append(byte)
      }
    }
    return result
  }

  private static func hexadecimal(_ byte: UInt8) -> String { (byte < 0x10 ? "0" : "") + String(byte, radix: 16) }
}

/// Base64, in both alphabets (RFC 4648, sections 4 and 5).
enum Base64 {
  static func isDigit(_ byte: UInt8) -> Bool { byte.isASCIILetter || byte.isASCIIDigit || "+/-_".utf8.contains(byte) }

  private static func written(_ digits: some Sequence<UInt8>, forURLs: Bool) -> [UInt8] {
    let (from, to) = forURLs ? (Array("+/".utf8), Array("-_".utf8)) : (Array("-_".utf8), Array("+/".utf8))
    return digits.map { $0 == from[0] ? to[0] : $0 == from[1] ? to[1] : $0 }
  }

  /// How bytes read in the Base64 of a longer text: by where they begin in it, in both alphabets.
  static func spellings(of bytes: [UInt8]) -> [[UInt8]] {
    (0..<3).flatMap { offset -> Set<[UInt8]> in
      let shifted = Data(repeating: 0, count: offset) + Data(bytes)
      // Digits at both ends have bits of what stands beside them.
      let digits = shifted.base64EncodedString().utf8.dropFirst([0, 2, 3][offset]).dropLast(
        [0, 3, 2][shifted.count % 3])
      return digits.count < 8 ? [] : [Array(digits), written(digits, forURLs: true)]
    }
  }

  /// The digits round a place, with their padding; in the path of a URL, those of its segment.
  static func run(
    around range: Range<Int>, in piece: Range<Int>, of bytes: [UInt8], isInPath: Bool = false
  ) -> Range<Int> {
    func ends(_ byte: UInt8) -> Bool { !isDigit(byte) || isInPath && byte == UInt8(ascii: "/") }
    let start = bytes[piece.lowerBound..<range.lowerBound].lastIndex(where: ends) ?? piece.lowerBound - 1
    let digits = bytes[range.upperBound..<piece.upperBound].firstIndex(where: ends) ?? piece.upperBound
    return start + 1..<(bytes[digits..<piece.upperBound].firstIndex { $0 != UInt8(ascii: "=") } ?? piece.upperBound)
  }

  /// What digits stand for: of what was cut off, whole bytes.
  static func decoded(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
    let plain = written(digits.dropLast(digits.count % 4 == 1 ? 1 : 0), forURLs: false)
    let padding = Data(repeating: UInt8(ascii: "="), count: (4 - plain.count % 4) % 4)
    return Data(base64Encoded: Data(plain) + padding).map { Array($0) }
  }

  /// Bytes in the alphabet of what they take the place of, padded if that was.
  static func encoded(_ bytes: [UInt8], like digits: ArraySlice<UInt8>, isPadded: Bool) -> [UInt8] {
    let isForURLs = digits.contains { "-_".utf8.contains($0) }
    // Where none was needed, decoders may ask for it all the same.
    let isBare = !isPadded && (isForURLs || digits.count % 4 != 0)
    let coded = Data(bytes).base64EncodedString().utf8.filter { !isBare || $0 != UInt8(ascii: "=") }
    return isForURLs ? written(coded, forURLs: true) : coded
  }
}
