/// Writes the parts of a DNS message one after the other.
struct DNSWriter {
  private(set) var bytes: [UInt8] = []
  /// Where names and their ends begin, as far as a pointer reaches.
  private var places: [[UInt8]: Int] = [:]

  mutating func byte(_ value: UInt8) {
    bytes.append(value)
  }

  mutating func word(_ value: UInt16) {
    bytes.append(UInt8(truncatingIfNeeded: value >> 8))
    bytes.append(UInt8(truncatingIfNeeded: value))
  }

  mutating func long(_ value: UInt32) {
    word(UInt16(truncatingIfNeeded: value >> 16))
    word(UInt16(truncatingIfNeeded: value))
  }

  mutating func write(_ more: some Sequence<UInt8>) {
    bytes.append(contentsOf: more)
  }

  /// Writes a name; a pointer takes the place of what is there already.
  mutating func name(_ name: DNSName, isCompressed: Bool = true) {
    var rest = name.wire[...]
    while let length = rest.first {
      if isCompressed, let place = places[Array(rest)] { return word(0xC000 | UInt16(truncatingIfNeeded: place)) }
      if bytes.count < 0x4000 { places[Array(rest)] = bytes.count }
      write(rest.prefix(1 + Int(length)))
      rest = rest.dropFirst(1 + Int(length))
    }
    byte(0)
  }

  /// Writes something with its length, in two bytes, before it.
  mutating func counted(_ body: (inout DNSWriter) throws -> Void) throws {
    let start = bytes.count
    word(0)
    try body(&self)
    guard let count = UInt16(exactly: bytes.count - start - 2) else { throw Self.tooLong }
    bytes[start] = UInt8(truncatingIfNeeded: count >> 8)
    bytes[start + 1] = UInt8(truncatingIfNeeded: count)
  }

  static let tooLong = HostError(.malformedAnswer, "A DNS message, or a part of it, would have more than 65 535 bytes.")
}
