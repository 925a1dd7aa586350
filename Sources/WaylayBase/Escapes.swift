/// The escapes by which formats write bytes with a special meaning.
package struct Escapes: OptionSet {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `%2F` (RFC 3986, section 2.1).
  package static let percent = Escapes(rawValue: 1)
  /// `+` for a space, as forms have it.
  package static let plus = Escapes(rawValue: 2)
  /// `\/` and `\u002F` (RFC 8259, section 7).
  package static let backslash = Escapes(rawValue: 4)
  /// `&amp;` and `&#47;`.
  package static let entity = Escapes(rawValue: 8)
  package static let any: Escapes = [.percent, .backslash, .entity]
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

  /// The bytes without escapes; bytes that form no escape stay.
  package func removed(from bytes: ArraySlice<UInt8>) -> [UInt8] { placed(from: bytes)?.plain ?? Array(bytes) }

  /// The bytes without escapes, and the offset of each of them, and of the end, in the original; `nil` if there are no
  /// escapes.
  package func placed(from bytes: ArraySlice<UInt8>) -> (plain: [UInt8], places: [Int])? {
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

  /// The meaning and the length of the escape at the beginning of a text.
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

  /// The bytes with these escapes, except `+`.
  package func added(to bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    for byte in bytes {
      switch byte {
      case _ where contains(.percent) && !byte.isOfWord && !"-.~".utf8.contains(byte):
        result += Array("%\(byte.hexadecimal.uppercased())".utf8)
      case _ where contains(.backslash) && byte < 0x20: result += Array("\\u00\(byte.hexadecimal)".utf8)
      case UInt8(ascii: "\"") where contains(.backslash), UInt8(ascii: "\\") where contains(.backslash):
        result += [UInt8(ascii: "\\"), byte]
      case _ where contains(.entity) && "&<>\"'".utf8.contains(byte): result += Array("&#\(byte);".utf8)
      default: result.append(byte)
      }
    }
    return result
  }
}

extension Data {
  /// Base64 with the alphabet for URLs and without padding (RFC 4648, section 5).
  package var base64URL: String {
    base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}
