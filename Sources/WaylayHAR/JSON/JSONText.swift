import Foundation

/// The text of JSON, written member by member: names keep the order in which they are given.
///
/// Foundation's encoder has no order of its own, and needs the whole archive as one value.
struct JSONText {
  private(set) var bytes: [UInt8] = []
  /// How deep it is nested, and whether the next value at that depth needs a comma.
  private var needsComma = [false]
  private let isPretty: Bool

  init(isPretty: Bool = false) {
    self.isPretty = isPretty
  }

  // MARK: Members

  mutating func object(_ members: (inout JSONText) -> Void) { nest("{", "}", members) }

  mutating func array<Element>(_ elements: some Sequence<Element>, _ write: (Element, inout JSONText) -> Void) {
    nest("[", "]") { json in
      for element in elements {
        json.separate()
        write(element, &json)
      }
    }
  }

  mutating func member(_ name: String, _ write: (inout JSONText) -> Void) {
    separate()
    text(name)
    bytes.append(UInt8(ascii: ":"))
    if isPretty { bytes.append(UInt8(ascii: " ")) }
    write(&self)
  }

  mutating func member(_ name: String, _ value: String) { member(name) { $0.text(value) } }
  mutating func member(_ name: String, _ value: Int) { member(name) { $0.raw(String(value)) } }
  mutating func member(_ name: String, _ value: Bool) { member(name) { $0.raw(value ? "true" : "false") } }
  mutating func member(_ name: String, _ value: JSONValue) { member(name) { $0.value(value) } }

  /// A member that is left out where there is nothing to say.
  mutating func member(ifAny name: String, _ value: String?) {
    if let value { member(name, value) }
  }

  /// The members that are not the format's own, by name.
  mutating func members(_ others: [String: JSONValue]) {
    for (name, value) in others.sorted(by: { $0.key < $1.key }) { member(name, value) }
  }

  // MARK: Values

  mutating func value(_ value: JSONValue) {
    switch value {
    case .null: raw("null")
    case .bool(let isTrue): raw(isTrue ? "true" : "false")
    case .integer(let number): raw(String(number))
    case .number(let number): raw(number.isFinite ? "\(number)" : "null")
    case .string(let string): text(string)
    case .array(let values): array(values) { $1.value($0) }
    case .object(let members): object { $0.members(members) }
    }
  }

  mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// A text in quotes (RFC 8259, section 7). What would end a script of a page that the text is put into is written
  /// otherwise.
  mutating func text(_ string: String) {
    let digits = Array("0123456789abcdef".utf8)
    bytes.append(UInt8(ascii: "\""))
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0x0A: raw("\\n")
      case 0x0D: raw("\\r")
      case 0x09: raw("\\t")
      case 0..<0x20, 0x7F, UInt8(ascii: "<"):
        raw("\\u00")
        bytes += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  // MARK: Parts of a text that is written piece by piece

  mutating func separate() {
    if needsComma[needsComma.count - 1] { bytes.append(UInt8(ascii: ",")) }
    needsComma[needsComma.count - 1] = true
    newLine()
  }

  mutating func open(_ bracket: Unicode.Scalar) {
    bytes.append(UInt8(ascii: bracket))
    needsComma.append(false)
  }

  mutating func close(_ bracket: Unicode.Scalar) {
    let isEmpty = !needsComma.removeLast()
    if !isEmpty { newLine() }
    bytes.append(UInt8(ascii: bracket))
  }

  /// What has been written since the last time.
  mutating func take() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes
  }

  private mutating func nest(_ opening: Unicode.Scalar, _ closing: Unicode.Scalar, _ body: (inout JSONText) -> Void) {
    open(opening)
    body(&self)
    close(closing)
  }

  private mutating func newLine() {
    guard isPretty else { return }
    bytes.append(0x0A)
    bytes += repeatElement(UInt8(ascii: " "), count: 2 * (needsComma.count - 1))
  }
}
