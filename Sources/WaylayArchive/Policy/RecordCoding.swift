/// The compact encoding of a record's parts: numbers as zigzag LEB128, texts and lists prefixed with their lengths.
extension ByteSink {
  /// Appends a number as zigzag LEB128: seven bits per byte, lowest first; small numbers of either sign are short.
  mutating func putCompact(_ number: Int64) {
    var rest = UInt64(bitPattern: (number << 1) ^ (number >> 63))
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  mutating func putCompact(_ text: String) {
    putCompact(Int64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  mutating func putOptional<Value>(_ value: Value?, _ write: (inout ByteSink, Value) -> Void) {
    put(UInt8(value == nil ? 0 : 1))
    if let value { write(&self, value) }
  }

  mutating func putList<List: Collection>(_ list: List, _ write: (inout ByteSink, List.Element) -> Void) {
    putCompact(Int64(list.count))
    for element in list { write(&self, element) }
  }

  mutating func put(_ field: HTTPField) {
    putCompact(field.name.rawName)
    field.withUnsafeBytesOfValue { value in
      putCompact(Int64(value.count))
      bytes.append(contentsOf: value)
    }
  }
}

extension ByteSource {
  mutating func compactNumber() -> Int64? {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard let byte = self.number(UInt8.self) else { return nil }
      // The tenth byte has room for one bit.
      if shift == 63, byte > 1 { return nil }
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1) }
    }
    return nil
  }

  private mutating func compactBytes() -> ArraySlice<UInt8>? {
    compactNumber().flatMap { Int(exactly: $0) }.flatMap { take($0) }
  }

  mutating func compactText() -> String? {
    guard let bytes = compactBytes() else { return nil }
    // `String(validating:as:)` needs macOS 15 and iOS 18. This initializer repairs invalid text, which then differs
    // from the bytes.
    let text = String(decoding: bytes, as: UTF8.self)
    return text.utf8.elementsEqual(bytes) ? text : nil
  }

  /// Reads an optional value: `nil` if it is invalid, `.some(nil)` if it is absent.
  mutating func optional<Value>(_ read: (inout ByteSource) -> Value?) -> Value?? {
    switch number(UInt8.self) {
    case 0: .some(nil)
    case 1: read(&self).map { .some($0) }
    default: nil
    }
  }

  mutating func list<Element>(_ read: (inout ByteSource) -> Element?) -> [Element]? {
    // Each element has at least one byte: reject a damaged count before it reserves memory. The type of header fields
    // limits them to 2¹⁶.
    guard let count = compactNumber(), count >= 0, count <= Int64(remaining), count < Int64(UInt16.max) else {
      return nil
    }
    var list: [Element] = []
    list.reserveCapacity(Int(count))
    for _ in 0..<count {
      guard let element = read(&self) else { return nil }
      list.append(element)
    }
    return list
  }

  mutating func field() -> HTTPField? {
    guard let text = compactText(), let name = HTTPField.Name(text), let value = compactBytes(),
      HTTPField.isValidValue(value)
    else { return nil }
    return HTTPField(name: name, value: value)
  }
}
