/// Reads the parts of a DNS message one after the other. Whatever the bytes are: it throws, and does not trap.
struct DNSReader {
  private let bytes: [UInt8]
  private(set) var position = 0
  /// Where the part ends that is being read.
  private var end: Int

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    end = bytes.count
  }

  var remaining: Int { end - position }

  mutating func byte() throws -> UInt8 {
    guard remaining >= 1 else { throw Self.truncated }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func word() throws -> UInt16 {
    UInt16(try byte()) << 8 | UInt16(try byte())
  }

  mutating func long() throws -> UInt32 {
    UInt32(try word()) << 16 | UInt32(try word())
  }

  mutating func bytes(_ count: Int) throws -> ArraySlice<UInt8> {
    guard count >= 0, remaining >= count else { throw Self.truncated }
    defer { position += count }
    return bytes[position..<(position + count)]
  }

  /// Reads a part of known length with a reader of its own; names in it may still point to what came before.
  mutating func part<Result>(_ count: Int, _ body: (inout DNSReader) throws -> Result) throws -> Result {
    guard count >= 0, remaining >= count else { throw Self.truncated }
    var part = self
    part.end = position + count
    defer { position += count }
    return try body(&part)
  }

  /// Reads a name.
  ///
  /// A pointer leads to a place before the labels it follows (RFC 1035, section 4.1.4), so that it cannot lead in a
  /// circle; and few follow each other, so that a message of pointers costs no more time than its length allows.
  mutating func name(allowsPointers: Bool = true) throws -> DNSName {
    var wire: [UInt8] = []
    var cursor = position
    var segment = position
    /// Where the name ends in the part itself: after its first pointer, or after its last label.
    var after: Int?
    var jumps = 0
    while true {
      guard cursor < (after == nil ? end : bytes.count) else { throw Self.truncated }
      let length = Int(bytes[cursor])
      switch length {
      case 0:
        position = after ?? cursor + 1
        return DNSName(unchecked: wire)
      case 1...63:
        guard cursor + 1 + length <= (after == nil ? end : bytes.count) else { throw Self.truncated }
        guard wire.count + 1 + length < 255 else { throw Self.broken("a name has more than 255 bytes") }
        wire.append(UInt8(truncatingIfNeeded: length))
        wire.append(contentsOf: bytes[(cursor + 1)..<(cursor + 1 + length)].lazy.map(DNSName.lowercased))
        cursor += 1 + length
      case 0xC0...0xFF:
        guard allowsPointers else { throw Self.broken("a name is compressed where it must not be") }
        guard cursor + 2 <= (after == nil ? end : bytes.count) else { throw Self.truncated }
        let target = (length & 0x3F) << 8 | Int(bytes[cursor + 1])
        guard target < segment else {
          throw Self.broken("a pointer leads to byte \(target), which is not before byte \(segment)")
        }
        jumps += 1
        guard jumps <= 64 else { throw Self.broken("a name has more than 64 pointers") }
        after = after ?? cursor + 2
        (cursor, segment) = (target, target)
      default: throw Self.broken("a label has the unknown type \(length >> 6)")
      }
    }
  }

  static let truncated = broken("it ends too early")

  static func broken(_ what: String) -> HostError {
    HostError(.malformedAnswer, "A DNS message is malformed: \(what).")
  }
}
