/// A DNS message (RFC 1035, section 4).
struct DNSMessage: Hashable, Sendable {
  /// The ID that the answer repeats from its query; zero over HTTPS (RFC 8484, section 4.1).
  var id: UInt16 = 0
  var flags = Flags()
  var questions: [DNSQuestion] = []
  var answers: [DNSRecord] = []
  var authorities: [DNSRecord] = []
  var additionals: [DNSRecord] = []

  /// The second word of the header.
  struct Flags: RawRepresentable, Hashable, Sendable {
    var rawValue: UInt16 = 0

    var isResponse: Bool { rawValue & 0x8000 != 0 }

    /// Zero for a query.
    var operation: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 11 & 15) }

    var isTruncated: Bool { rawValue & 0x0200 != 0 }

    /// Zero for success, 2 for a failure of the server, 3 for a name that does not exist.
    var responseCode: UInt8 { UInt8(truncatingIfNeeded: rawValue & 15) }
  }
}

extension DNSMessage {
  /// Encodes a query of a stub resolver: recursion desired, a large answer accepted, and padded to a multiple of 128
  /// bytes, so that its length does not reveal the name (RFC 8467, section 4.1).
  static func query(_ name: DNSName, _ type: DNSRecord.Kind) -> [UInt8] {
    func word(_ value: Int) -> [UInt8] { [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)] }
    // Id 0, the flag RD, one question, one additional record.
    let header: [UInt8] = [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1]
    let question = name.wire + [0] + word(Int(type.rawValue)) + word(Int(DNSRecord.internet))
    // An OPT record; its class is the accepted size of the answer (RFC 6891, section 6.1.2), its option 12 is padding.
    let option = [0] + word(Int(DNSRecord.Kind.opt.rawValue)) + word(4096) + [0, 0, 0, 0]
    let padding = 127 - (header.count + question.count + option.count + 6 + 127) % 128
    return header + question + option + word(padding + 4) + word(12) + word(padding)
      + [UInt8](repeating: 0, count: padding)
  }
}

/// The question of a query.
struct DNSQuestion: Hashable, Sendable {
  var name: DNSName
  var type: DNSRecord.Kind
  var recordClass: UInt16 = DNSRecord.internet
}

/// A resource record.
struct DNSRecord: Hashable, Sendable {
  var name: DNSName
  var type: Kind
  var recordClass: UInt16 = DNSRecord.internet
  /// In seconds.
  var timeToLive: UInt32
  var data: Content

  static let internet: UInt16 = 1

  /// The type of a record.
  struct Kind: RawRepresentable, Hashable, Sendable {
    let rawValue: UInt16

    static let a = Kind(rawValue: 1)
    static let cname = Kind(rawValue: 5)
    static let soa = Kind(rawValue: 6)
    static let aaaa = Kind(rawValue: 28)
    static let opt = Kind(rawValue: 41)
    static let https = Kind(rawValue: 65)
  }

  /// The data of a record.
  enum Content: Hashable, Sendable {
    /// A and AAAA.
    case address(HostAddress)
    /// CNAME.
    case alias(DNSName)
    /// SOA: its last number limits how long the absence of a name may be cached (RFC 2308, section 4), in seconds.
    case authority(server: DNSName, mailbox: DNSName, numbers: [UInt32])
    /// HTTPS.
    case service(ServiceBinding)
    /// Another type, or malformed data.
    case opaque([UInt8])
  }
}

/// A domain name as in DNS messages: labels in lower case, so that equal names have equal bytes (RFC 1035, section
/// 2.3.3).
struct DNSName: Hashable, Sendable {
  /// Length and bytes of each label, without the empty label at the end. Each label has a legal length.
  let wire: [UInt8]

  /// The root name.
  static let root = DNSName(wire: [])
}

extension DNSName {
  /// Reads dotted text.
  ///
  /// - Throws: `HostError` for an empty or too long label, and for a name of more than 255 bytes.
  init(_ text: String) throws {
    var wire: [UInt8] = []
    for label in text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
      guard (1...63).contains(label.count) else {
        throw HostError(.invalidName, "\"\(text)\" has a label that is empty or has more than 63 bytes.", host: text)
      }
      wire.append(UInt8(truncatingIfNeeded: label.count))
      wire.append(contentsOf: label.lazy.map(\.lowercased))
    }
    guard wire.count < 255 else { throw HostError(.invalidName, "\"\(text)\" has more than 255 bytes.", host: text) }
    self.wire = wire
  }

  /// The name of the HTTPS records of a host at a port (RFC 9460, section 9.1).
  init(service host: String, port: Int) throws {
    try self.init(port == 443 || port == 80 ? host : "_\(port)._https.\(host)")
  }

  /// The labels, from the first to the last.
  var labels: [ArraySlice<UInt8>] {
    var labels: [ArraySlice<UInt8>] = []
    var position = 0
    while position < wire.count {
      let end = position + 1 + Int(wire[position])
      guard end <= wire.count else { break }
      labels.append(wire[(position + 1)..<end])
      position = end
    }
    return labels
  }
}

extension DNSName: CustomStringConvertible {
  /// Dotted text; bytes that are not printable, and dots and backslashes inside of labels, as `\DDD` (RFC 1035, section
  /// 5.1).
  var description: String {
    guard !wire.isEmpty else { return "." }
    return labels.map { label in
      label.map { byte in
        let isPlain = (0x21...0x7E).contains(byte) && byte != UInt8(ascii: ".") && byte != UInt8(ascii: "\\")
        if isPlain { return String(UnicodeScalar(byte)) }
        let digits = String(byte)
        return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
      }.joined()
    }.joined(separator: ".")
  }
}

extension DNSMessage {
  /// Reads a message. Bytes after its end are ignored.
  ///
  /// - Throws: `HostError` with the code `malformedResponse`.
  init(decoding bytes: [UInt8]) throws {
    guard bytes.count <= 65_535 else { throw DNSReader.broken("it has more than 65 535 bytes") }
    var reader = DNSReader(bytes)
    id = try reader.word()
    flags = Flags(rawValue: try reader.word())
    let counts = try (0..<4).map { _ in Int(try reader.word()) }
    // Each record has a minimum size: reject impossible counts before reading any record.
    guard counts[0] * 5 + (counts[1] + counts[2] + counts[3]) * 11 <= reader.remaining else {
      throw DNSReader.truncated
    }
    for _ in 0..<counts[0] {
      questions.append(
        DNSQuestion(name: try reader.name(), type: .init(rawValue: try reader.word()), recordClass: try reader.word()))
    }
    for _ in 0..<counts[1] { answers.append(try DNSRecord(from: &reader)) }
    for _ in 0..<counts[2] { authorities.append(try DNSRecord(from: &reader)) }
    for _ in 0..<counts[3] { additionals.append(try DNSRecord(from: &reader)) }
  }
}

extension DNSRecord {
  init(from reader: inout DNSReader) throws {
    name = try reader.name()
    type = Kind(rawValue: try reader.word())
    recordClass = try reader.word()
    let seconds = try reader.long()
    // A value with the highest bit set counts as zero (RFC 2181, section 8). An OPT record uses the field otherwise.
    timeToLive = type == .opt || seconds < 1 << 31 ? seconds : 0
    let (type, isInternet) = (type, recordClass == Self.internet)
    let count = Int(try reader.word())
    data = try reader.part(count) { part in
      var copy = part
      if isInternet, let content = try? Content(type, from: &copy), copy.remaining == 0 { return content }
      return .opaque(Array(try part.bytes(count)))
    }
  }
}

extension DNSRecord.Content {
  /// Reads the data of a known type; `nil` for other types.
  fileprivate init?(_ type: DNSRecord.Kind, from reader: inout DNSReader) throws {
    switch type {
    case .a, .aaaa:
      guard let address = HostAddress(bytes: try reader.bytes(type == .a ? 4 : 16)) else { return nil }
      self = .address(address)
    case .cname: self = .alias(try reader.name())
    case .soa:
      self = .authority(
        server: try reader.name(), mailbox: try reader.name(), numbers: try (0..<5).map { _ in try reader.long() })
    case .https:
      var service = ServiceBinding(priority: try reader.word(), target: try reader.name(allowsPointers: false))
      while reader.remaining > 0 {
        let key = try reader.word()
        service.parameters.append(.init(key: key, value: Array(try reader.bytes(Int(try reader.word())))))
      }
      guard service.isWellFormed else { return nil }
      self = .service(service)
    default: return nil
    }
  }
}

/// A cursor over the bytes of a DNS message. Malformed bytes throw; no input traps.
struct DNSReader {
  private let bytes: [UInt8]
  private(set) var position = 0
  /// The end of the current part.
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

  /// Reads a part of known length with its own reader; names in it may still point to earlier bytes of the message.
  mutating func part<Result>(_ count: Int, _ body: (inout DNSReader) throws -> Result) throws -> Result {
    guard count >= 0, remaining >= count else { throw Self.truncated }
    var part = self
    part.end = position + count
    defer { position += count }
    return try body(&part)
  }

  /// Reads a name.
  ///
  /// A pointer leads to a place before the labels that contain it (RFC 1035, section 4.1.4), so no loop is possible.
  /// The number of consecutive pointers is limited, so the time stays proportional to the length of the message.
  mutating func name(allowsPointers: Bool = true) throws -> DNSName {
    var wire: [UInt8] = []
    var cursor = position
    var segment = position
    /// The end of the name in the part itself: after its first pointer, or after its last label.
    var after: Int?
    var jumps = 0
    while true {
      guard cursor < (after == nil ? end : bytes.count) else { throw Self.truncated }
      let length = Int(bytes[cursor])
      switch length {
      case 0:
        position = after ?? cursor + 1
        return DNSName(wire: wire)
      case 1...63:
        guard cursor + 1 + length <= (after == nil ? end : bytes.count) else { throw Self.truncated }
        guard wire.count + 1 + length < 255 else { throw Self.broken("a name has more than 255 bytes") }
        wire.append(UInt8(truncatingIfNeeded: length))
        wire.append(contentsOf: bytes[(cursor + 1)..<(cursor + 1 + length)].lazy.map(\.lowercased))
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
    HostError(.malformedResponse, "A DNS message is malformed: \(what).")
  }
}
