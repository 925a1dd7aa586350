extension JSONValue {
  /// Reads a text in UTF-8.
  package init(reading bytes: some Sequence<UInt8>) throws(JSONSyntaxError) {
    var reader = JSONReader(Array(bytes))
    self = try reader.read()
  }
}

/// A syntax error in JSON, with its position.
package struct JSONSyntaxError: Error, CustomStringConvertible {
  package let line: Int
  /// In bytes, from 1.
  package let column: Int
  package let message: String

  package var description: String { "line \(line), column \(column): \(message)." }
}

/// Reads JSON (RFC 8259), and reports a syntax error by line and column.
///
/// Foundation's parsers do not report a usable position: on Linux (Swift 6.3) `JSONSerialization` says "around
/// character 11" in a text for people, and "unexpected end of file" for a `tru` in the middle of one; `JSONDecoder`
/// says nothing but that the data is not valid.
struct JSONReader {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1
  private var lineStart = 0

  /// The greatest depth of nested values: enough for any archive, and little enough for the stack of any thread that
  /// writes or compares them. Reading a deeper value takes no more stack.
  private static let maximumDepth = 128

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    // RFC 8259, section 8.1: a byte order mark may be ignored.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      (position, lineStart) = (3, 3)
    }
  }

  /// An array or an object that has begun.
  private struct Level {
    let isObject: Bool
    var elements: [JSONValue] = []
    var members: [JSONValue.Member] = []
    /// The name of the member whose value is next.
    var name = ""

    var end: UInt8 { isObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }
    var value: JSONValue { JSONValue(isObject ? .object(members) : .array(elements)) }

    mutating func add(_ value: JSONValue) {
      if isObject { members.append(JSONValue.Member(name: name, value: value)) } else { elements.append(value) }
    }
  }

  mutating func read() throws(JSONSyntaxError) -> JSONValue {
    var levels: [Level] = []
    while true {
      skipSpace()
      guard levels.count < Self.maximumDepth else {
        throw error("values are nested more than \(Self.maximumDepth) deep")
      }
      var value: JSONValue
      if current == UInt8(ascii: "{") || current == UInt8(ascii: "[") {
        var level = Level(isObject: current == UInt8(ascii: "{"))
        position += 1
        guard skip(level.end) else {
          if level.isObject { level.name = try name() }
          levels.append(level)
          continue
        }
        value = level.value
      } else {
        value = try scalar()
      }
      // Closes the arrays and objects that end with this value.
      while true {
        guard var level = levels.popLast() else {
          skipSpace()
          guard position >= bytes.count else { throw error("unexpected text after the value") }
          return value
        }
        level.add(value)
        if skip(UInt8(ascii: ",")) {
          if level.isObject { level.name = try name() }
          levels.append(level)
          break
        }
        guard skip(level.end) else {
          throw error(
            level.isObject
              ? "',' or '}' is missing after the value of \"\(level.name)\"" : "',' or ']' is missing after an element")
        }
        value = level.value
      }
    }
  }

  /// The name of a member, with its colon.
  private mutating func name() throws(JSONSyntaxError) -> String {
    skipSpace()
    guard current == UInt8(ascii: "\"") else { throw error("a member's name in quotes is missing") }
    let name = try string()
    guard skip(UInt8(ascii: ":")) else { throw error("':' is missing after \"\(name)\"") }
    return name
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

  private mutating func scalar() throws(JSONSyntaxError) -> JSONValue {
    guard let first = current else { throw error("a value is missing at the end") }
    switch first {
    case UInt8(ascii: "\""): return JSONValue(.string(try string()))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return JSONValue(.number(try number()))
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: throw error("a value cannot begin with \(Self.name(first))")
    }
  }

  private static func name(_ byte: UInt8) -> String {
    (0x21...0x7E).contains(byte) ? "'\(UnicodeScalar(byte))'" : "the byte 0x\(String(byte, radix: 16))"
  }

  private mutating func word(_ word: String, _ kind: JSONValue.Kind) throws(JSONSyntaxError) -> JSONValue {
    guard bytes[position...].starts(with: word.utf8) else { throw error("expected \(word)") }
    position += word.utf8.count
    return JSONValue(kind)
  }

  private mutating func number() throws(JSONSyntaxError) -> String {
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
    while let byte = current, byte.isASCIIDigit { position += 1 }
    return position - start
  }

  private mutating func string() throws(JSONSyntaxError) -> String {
    position += 1
    // Bytes between escapes are copied in one piece.
    var text: [UInt8] = []
    var start = position
    var isASCII = true
    while let byte = current {
      switch byte {
      case UInt8(ascii: "\""):
        let rest = bytes[start..<position]
        if text.isEmpty, isASCII {
          position += 1
          return String(decoding: rest, as: UTF8.self)
        }
        text += rest
        // Foundation's initializer would drop a U+FEFF at the beginning.
        let string = String(decoding: text, as: UTF8.self)
        guard string.utf8.elementsEqual(text) else { throw error("a string is not UTF-8") }
        position += 1
        return string
      case UInt8(ascii: "\\"):
        text += bytes[start..<position]
        let escape = try escape()
        text += escape.text
        position += escape.length
        start = position
      case 0..<0x20: throw error("a string contains \(Self.name(byte)), which must be escaped")
      default:
        if byte >= 0x80 { isASCII = false }
        position += 1
      }
    }
    throw error("a string is not terminated")
  }

  private mutating func escape() throws(JSONSyntaxError) -> (text: [UInt8], length: Int) {
    let text = Array(bytes[position...].prefix(12))
    if let escape = Escapes.escape(text) { return escape }
    // Half of a surrogate pair: JavaScript writes it where it cuts a text.
    let digits = text.dropFirst(2).prefix(4).filter { UnicodeScalar($0).properties.isASCIIHexDigit }
    if text.dropFirst().first == UInt8(ascii: "u"), digits.count == 4 { return (Array("\u{FFFD}".utf8), 6) }
    position += 1
    guard let byte = current else { throw error("a string is not terminated") }
    guard byte == UInt8(ascii: "u") else { throw error("a backslash cannot escape \(Self.name(byte))") }
    throw error("\\u needs four hexadecimal digits")
  }
}

/// The text of JSON, written member by member: names keep the order in which they are given.
///
/// Foundation's encoder does not keep an order, and needs the whole archive as one value.
package struct JSONWriter {
  package private(set) var bytes: [UInt8] = []
  /// How deep it is nested, and whether the next value at that depth needs a comma.
  private var needsComma = [false]
  private let isPretty: Bool
  /// Whether `<` and U+007F are escaped, so that the text cannot end a script in an HTML page.
  private let escapesMarkup: Bool

  package init(isPretty: Bool = false, escapesMarkup: Bool = true) {
    self.isPretty = isPretty
    self.escapesMarkup = escapesMarkup
  }

  package mutating func member(_ name: String, _ write: (inout JSONWriter) -> Void) {
    separate()
    text(name)
    bytes.append(UInt8(ascii: ":"))
    if isPretty { bytes.append(UInt8(ascii: " ")) }
    write(&self)
  }

  package mutating func member(_ name: String, _ value: JSONValue) { member(name) { $0.value(value) } }

  package mutating func value(_ value: JSONValue) {
    switch value.kind {
    case .null: raw("null")
    case .bool(let isTrue): raw(isTrue ? "true" : "false")
    case .number(let digits): raw(digits)
    case .string(let string): text(string)
    case .array(let values):
      open("[")
      for value in values {
        separate()
        self.value(value)
      }
      close("]")
    case .object(let members):
      open("{")
      for member in members { self.member(member.name, member.value) }
      close("}")
    }
  }

  package mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// A text in quotes (RFC 8259, section 7).
  package mutating func text(_ string: String) {
    bytes.append(UInt8(ascii: "\""))
    if string.utf8.contains(where: { mustBeEscaped($0) }) {
      for byte in string.utf8 { if mustBeEscaped(byte) { escape(byte) } else { bytes.append(byte) } }
    } else {
      raw(string)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private func mustBeEscaped(_ byte: UInt8) -> Bool {
    switch byte {
    case 0..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"): true
    case 0x7F, UInt8(ascii: "<"): escapesMarkup
    default: false
    }
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
    case 0x0A: raw("\\n")
    case 0x0D: raw("\\r")
    case 0x09: raw("\\t")
    default: raw("\\u00\(byte.hexadecimal)")
    }
  }

  // MARK: Parts of a text that is written piece by piece

  package mutating func separate() {
    if needsComma[needsComma.count - 1] { bytes.append(UInt8(ascii: ",")) }
    needsComma[needsComma.count - 1] = true
    newLine()
  }

  package mutating func open(_ bracket: Unicode.Scalar) {
    bytes.append(UInt8(ascii: bracket))
    needsComma.append(false)
  }

  package mutating func close(_ bracket: Unicode.Scalar) {
    let isEmpty = !needsComma.removeLast()
    if !isEmpty { newLine() }
    bytes.append(UInt8(ascii: bracket))
  }

  /// The bytes written since the last call.
  package mutating func take() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes
  }

  private mutating func newLine() {
    guard isPretty else { return }
    bytes.append(0x0A)
    bytes += repeatElement(UInt8(ascii: " "), count: 2 * (needsComma.count - 1))
  }
}
