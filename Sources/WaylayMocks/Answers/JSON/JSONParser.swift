import Foundation

/// Reads JSON (RFC 8259): any bytes give a value or an error with line and column.
///
/// Not Foundation's, which loses the place: on Linux (Swift 6.3) `JSONSerialization` says "around character 11" in a
/// text for people, and "unexpected end of file" for a `tru` in the middle of one; `JSONDecoder` says nothing but that
/// the data is not valid.
struct JSONParser {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1
  private var lineStart = 0
  private var depth = 0

  /// Values inside values, at most: enough for any fixture, and little enough for any stack.
  private static let maximumDepth = 128

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    // RFC 8259, section 8.1: a byte order mark may be ignored.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      position = 3
      lineStart = 3
    }
  }

  mutating func parse() throws -> JSONNode {
    let node = try value()
    skipSpace()
    guard position >= bytes.count else { throw error("unexpected text after the value") }
    return node
  }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func error(_ message: String) -> JSONSyntaxError {
    JSONSyntaxError(line: line, column: position - lineStart + 1, message: message)
  }

  private mutating func skipSpace() {
    while let byte = current {
      switch byte {
      case 0x20, 0x09, 0x0D: position += 1
      case 0x0A:
        position += 1
        line += 1
        lineStart = position
      default: return
      }
    }
  }

  private mutating func skip(_ byte: UInt8) -> Bool {
    skipSpace()
    guard current == byte else { return false }
    position += 1
    return true
  }

  private mutating func value() throws -> JSONNode {
    skipSpace()
    let (line, column) = (line, position - lineStart + 1)
    guard depth < Self.maximumDepth else { throw error("values are nested more than \(Self.maximumDepth) deep") }
    depth += 1
    defer { depth -= 1 }
    let value: JSONNode.Value
    guard let first = current else { throw error("a value is missing at the end") }
    switch first {
    case UInt8(ascii: "{"): value = .object(try object())
    case UInt8(ascii: "["): value = .array(try array())
    case UInt8(ascii: "\""): value = .string(try string())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): value = .number(try number())
    case UInt8(ascii: "t"): value = try word("true", .bool(true))
    case UInt8(ascii: "f"): value = try word("false", .bool(false))
    case UInt8(ascii: "n"): value = try word("null", .null)
    default: throw error("a value cannot begin with \(Self.name(first))")
    }
    return JSONNode(value, line: line, column: column)
  }

  private static func name(_ byte: UInt8) -> String {
    (0x21...0x7E).contains(byte) ? "'\(UnicodeScalar(byte))'" : "the byte 0x\(String(byte, radix: 16))"
  }

  private mutating func word(_ word: String, _ value: JSONNode.Value) throws -> JSONNode.Value {
    guard bytes[position...].starts(with: word.utf8) else { throw error("expected \(word)") }
    position += word.utf8.count
    return value
  }

  private mutating func object() throws -> [JSONNode.Member] {
    position += 1
    var members: [JSONNode.Member] = []
    if skip(UInt8(ascii: "}")) { return members }
    while true {
      skipSpace()
      guard current == UInt8(ascii: "\"") else { throw error("a member's name in quotes is missing") }
      let nameLine = line
      let name = try string()
      guard skip(UInt8(ascii: ":")) else { throw error("':' is missing after \"\(name)\"") }
      members.append(JSONNode.Member(name: name, line: nameLine, node: try value()))
      if skip(UInt8(ascii: ",")) { continue }
      guard skip(UInt8(ascii: "}")) else { throw error("',' or '}' is missing after the value of \"\(name)\"") }
      return members
    }
  }

  private mutating func array() throws -> [JSONNode] {
    position += 1
    var elements: [JSONNode] = []
    if skip(UInt8(ascii: "]")) { return elements }
    while true {
      elements.append(try value())
      if skip(UInt8(ascii: ",")) { continue }
      guard skip(UInt8(ascii: "]")) else { throw error("',' or ']' is missing after an element") }
      return elements
    }
  }

  private mutating func number() throws -> String {
    let start = position
    if current == UInt8(ascii: "-") { position += 1 }
    let whole = digits()
    guard whole > 0 else { throw error("a number has no digits") }
    if whole > 1, bytes[position - whole] == UInt8(ascii: "0") { throw error("a number begins with a superfluous 0") }
    if current == UInt8(ascii: ".") {
      position += 1
      guard digits() > 0 else { throw error("a number has no digits after its point") }
    }
    if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
      position += 1
      if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
      guard digits() > 0 else { throw error("a number has no digits in its exponent") }
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func digits() -> Int {
    let start = position
    while let byte = current, (0x30...0x39).contains(byte) { position += 1 }
    return position - start
  }

  private mutating func string() throws -> String {
    position += 1
    var text: [UInt8] = []
    while let byte = current {
      switch byte {
      case UInt8(ascii: "\""):
        guard let string = String(bytes: text, encoding: .utf8) else { throw error("a string is not UTF-8") }
        position += 1
        return string
      case UInt8(ascii: "\\"): text += try escape()
      case 0..<0x20: throw error("a string contains \(Self.name(byte)), which must be escaped")
      default:
        text.append(byte)
        position += 1
      }
    }
    throw error("a string is not terminated")
  }

  private mutating func escape() throws -> [UInt8] {
    position += 1
    guard let byte = current else { throw error("a string is not terminated") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"): return Array(String(try unicodeEscape()).utf8)
    default:
      position -= 1
      throw error("a backslash cannot escape \(Self.name(byte))")
    }
  }

  private mutating func unicodeEscape() throws -> Character {
    let first = try codeUnit()
    if let scalar = UnicodeScalar(UInt32(first)) { return Character(scalar) }
    guard (0xD800...0xDBFF).contains(first), bytes[position...].starts(with: [0x5C, 0x75]) else {
      throw error("half of a surrogate pair is missing")
    }
    position += 2
    let second = try codeUnit()
    guard (0xDC00...0xDFFF).contains(second),
      let scalar = UnicodeScalar((UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00) + 0x10000)
    else { throw error("half of a surrogate pair is missing") }
    return Character(scalar)
  }

  private mutating func codeUnit() throws -> UInt16 {
    guard position + 4 <= bytes.count else { throw error("\\u needs four hexadecimal digits") }
    let digits = bytes[position..<position + 4]
    guard digits.allSatisfy({ UnicodeScalar($0).properties.isASCIIHexDigit }),
      let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw error("\\u needs four hexadecimal digits") }
    position += 4
    return unit
  }
}
