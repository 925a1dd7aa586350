/// Writes the parts of a record behind each other.
struct RecordWriter {
  private(set) var bytes: [UInt8] = []

  init() {
    bytes.reserveCapacity(512)
  }

  mutating func byte(_ byte: UInt8) {
    bytes.append(byte)
  }

  /// Seven bits a byte, the lowest first; small numbers of either sign are short.
  mutating func number(_ number: Int64) {
    var rest = UInt64(bitPattern: (number << 1) ^ (number >> 63))
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  mutating func fixed(_ number: UInt64) {
    for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
  }

  mutating func text(_ text: String) {
    number(Int64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  mutating func optional<Value>(_ value: Value?, _ write: (inout RecordWriter, Value) -> Void) {
    guard let value else { return byte(0) }
    byte(1)
    write(&self, value)
  }

  mutating func list<List: Collection>(_ list: List, _ write: (inout RecordWriter, List.Element) -> Void) {
    number(Int64(list.count))
    for element in list { write(&self, element) }
  }

  mutating func field(_ field: HTTPField) {
    text(field.name.rawName)
    field.withUnsafeBytesOfValue { value in
      number(Int64(value.count))
      bytes.append(contentsOf: value)
    }
  }
}
