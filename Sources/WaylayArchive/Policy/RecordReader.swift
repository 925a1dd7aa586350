/// Reads the parts of a record off its bytes; whatever the bytes are, it only ever says `nil`.
struct RecordReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  var isAtEnd: Bool { position == bytes.count }

  mutating func byte() -> UInt8? {
    guard position < bytes.count else { return nil }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func number() -> Int64? {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard let byte = byte() else { return nil }
      // The tenth byte has room for one bit.
      if shift == 63, byte > 1 { return nil }
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1) }
    }
    return nil
  }

  mutating func fixed() -> UInt64? {
    guard let bytes = slice(8) else { return nil }
    return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private mutating func slice(_ count: Int64) -> ArraySlice<UInt8>? {
    guard count >= 0, count <= Int64(bytes.count - position) else { return nil }
    let start = position
    position += Int(count)
    return bytes[start..<position]
  }

  mutating func text() -> String? {
    guard let count = number(), let bytes = slice(count) else { return nil }
    // `String(validating:as:)` needs macOS 15 and iOS 18; repaired text is never the same bytes.
    let text = String(decoding: bytes, as: UTF8.self)
    return text.utf8.elementsEqual(bytes) ? text : nil
  }

  /// `nil` for what cannot be read, `.some(nil)` for what is not there.
  mutating func optional<Value>(_ read: (inout RecordReader) -> Value?) -> Value?? {
    switch byte() {
    case 0: .some(nil)
    case 1: read(&self).map { .some($0) }
    default: nil
    }
  }

  mutating func list<Element>(_ read: (inout RecordReader) -> Element?) -> [Element]? {
    // An element has at least one byte: no length makes more room than there are bytes. Header fields are limited to 2¹⁶ by their type.
    guard let count = number(), count >= 0, count <= Int64(bytes.count - position), count < Int64(UInt16.max) else { return nil }
    var list: [Element] = []
    list.reserveCapacity(Int(count))
    for _ in 0..<count {
      guard let element = read(&self) else { return nil }
      list.append(element)
    }
    return list
  }

  mutating func field() -> HTTPField? {
    guard let text = text(), let name = HTTPField.Name(text), let count = number(), let value = slice(count), HTTPField.isValidValue(value)
    else { return nil }
    return HTTPField(name: name, value: value)
  }
}
