import Foundation

/// The ways in which formats write bytes that mean something else to them.
struct Escapes: OptionSet {
  let rawValue: UInt8

  /// `%2F` (RFC 3986, section 2.1).
  static let percent = Escapes(rawValue: 1)
  /// `+` for a space, as forms have it.
  static let plus = Escapes(rawValue: 2)
  /// `\/` and `\u002F` (RFC 8259, section 7).
  static let backslash = Escapes(rawValue: 4)
  /// `&amp;` and `&#47;`.
  static let entity = Escapes(rawValue: 8)
  static let any: Escapes = [.percent, .backslash, .entity]
  static let form: Escapes = [.percent, .plus]

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
  func removed(from bytes: ArraySlice<UInt8>) -> [UInt8] {
    bytes.contains(where: isMark) ? placed(bytes).plain : Array(bytes)
  }

  /// The bytes without escapes, and where each of them, and the end, is in the original; `nil` if there are none.
  func placed(from bytes: ArraySlice<UInt8>) -> (plain: [UInt8], places: [Int])? {
    bytes.contains(where: isMark) ? placed(bytes) : nil
  }

  private func placed(_ bytes: ArraySlice<UInt8>) -> (plain: [UInt8], places: [Int]) {
    var (plain, places): ([UInt8], [Int]) = ([], [])
    var rest = bytes
    while let byte = rest.first {
      let start = rest.startIndex
      if isMark(byte), let (text, length) = Self.escape(rest) {
        plain += text
        places += repeatElement(start, count: text.count)
        rest = rest.dropFirst(length)
      } else {
        plain.append(byte)
        places.append(start)
        rest = rest.dropFirst()
      }
    }
    return (plain, places + [bytes.endIndex])
  }

  /// What an escape stands for, and how long it is.
  private static func escape(_ rest: ArraySlice<UInt8>) -> (text: [UInt8], length: Int)? {
    let text = rest.prefix(12)
    func number(_ range: Range<Int>, radix: Int = 16) -> UInt32? {
      guard range.upperBound <= text.count, !range.isEmpty else { return nil }
      let digits = text[text.startIndex + range.lowerBound..<text.startIndex + range.upperBound]
      guard digits.allSatisfy({ $0.hexadecimal != nil }) else { return nil }
      return UInt32(String(decoding: digits, as: UTF8.self), radix: radix)
    }
    func utf8(_ number: UInt32?, _ length: Int) -> ([UInt8], Int)? {
      number.flatMap { Unicode.Scalar($0) }.map { (Array(String($0).utf8), length) }
    }
    switch text.first {
    case UInt8(ascii: "+"): return ([0x20], 1)
    case UInt8(ascii: "%"): return number(1..<3).map { ([UInt8($0)], 3) }
    case UInt8(ascii: "\\"):
      guard let next = text.dropFirst().first else { return nil }
      if next == UInt8(ascii: "u") {
        guard let first = number(2..<6) else { return nil }
        guard 0xD800...0xDBFF ~= first, text.dropFirst(6).starts(with: [0x5C, 0x75]), let second = number(8..<12),
          0xDC00...0xDFFF ~= second
        else {
          return utf8(first, 6)
        }
        return utf8((first - 0xD800) << 10 + (second - 0xDC00) + 0x10000, 12)
      }
      switch next {
      case UInt8(ascii: "b"): return ([8], 2)
      case UInt8(ascii: "f"): return ([12], 2)
      case UInt8(ascii: "n"): return ([10], 2)
      case UInt8(ascii: "r"): return ([13], 2)
      case UInt8(ascii: "t"): return ([9], 2)
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return ([next], 2)
      default: return nil
      }
    case UInt8(ascii: "&"):
      guard let end = text.firstIndex(of: UInt8(ascii: ";")) else { return nil }
      let length = end - text.startIndex + 1
      switch String(decoding: text[text.startIndex + 1..<end], as: UTF8.self) {
      case "amp": return ([UInt8(ascii: "&")], length)
      case "lt": return ([UInt8(ascii: "<")], length)
      case "gt": return ([UInt8(ascii: ">")], length)
      case "quot": return ([UInt8(ascii: "\"")], length)
      case "apos": return ([UInt8(ascii: "'")], length)
      case let name where name.hasPrefix("#x") || name.hasPrefix("#X"): return utf8(number(3..<length - 1), length)
      case let name where name.hasPrefix("#"): return utf8(number(2..<length - 1, radix: 10), length)
      default: return nil
      }
    default: return nil
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

  /// How bytes read in the Base64 of a longer text: by where they begin in it, in both alphabets.
  static func spellings(of bytes: [UInt8]) -> [[UInt8]] {
    (0..<3).flatMap { offset -> [[UInt8]] in
      let shifted = Data(repeating: 0, count: offset) + Data(bytes)
      // Digits at both ends have bits of what stands beside them.
      let whole = Array(shifted.base64EncodedString().utf8).dropFirst([0, 2, 3][offset])
      let digits = Array(whole.dropLast([0, 3, 2][shifted.count % 3]))
      guard digits.count >= 8 else { return [] }
      let other = forURLs(digits)
      return digits == other ? [digits] : [digits, other]
    }
  }

  /// The digits round a place, with their padding.
  static func run(around range: Range<Int>, in piece: Range<Int>, of bytes: [UInt8]) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start > piece.lowerBound, isDigit(bytes[start - 1]) { start -= 1 }
    while end < piece.upperBound, isDigit(bytes[end]) { end += 1 }
    while end < piece.upperBound, bytes[end] == UInt8(ascii: "=") { end += 1 }
    return start..<end
  }

  private static func forURLs(_ digits: [UInt8]) -> [UInt8] {
    digits.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 }
  }

  /// What digits stand for: of what was cut off, whole bytes.
  static func decoded(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
    var plain = digits.map {
      $0 == UInt8(ascii: "-") ? UInt8(ascii: "+") : $0 == UInt8(ascii: "_") ? UInt8(ascii: "/") : $0
    }
    if plain.count % 4 == 1 { plain.removeLast() }
    plain += repeatElement(UInt8(ascii: "="), count: (4 - plain.count % 4) % 4)
    return Data(base64Encoded: Data(plain)).map { Array($0) }
  }

  /// Bytes in the alphabet of what they take the place of, padded if that was.
  static func encoded(_ bytes: [UInt8], like digits: ArraySlice<UInt8>, isPadded: Bool) -> [UInt8] {
    let isForURLs = digits.contains { "-_".utf8.contains($0) }
    let coded = Array(Data(bytes).base64EncodedString().utf8)
    // Where none was needed, decoders may ask for it all the same.
    let isBare = !isPadded && (isForURLs || digits.count % 4 != 0)
    let plain = isBare ? coded.filter { $0 != UInt8(ascii: "=") } : coded
    return isForURLs ? forURLs(plain) : plain
  }
}
