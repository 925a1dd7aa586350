import WaylayCore

@testable import WaylayHosts

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

  static let tooLong = HostError(
    .malformedResponse, "A DNS message, or a part of it, would have more than 65 535 bytes.")
}

extension DNSMessage {
  /// The bytes of the message, with its names compressed.
  ///
  /// - Throws: `HostError` when it would have more than 65 535 bytes.
  func encoded() throws -> [UInt8] {
    var writer = DNSWriter()
    writer.word(id)
    writer.word(flags.rawValue)
    for count in [questions.count, answers.count, authorities.count, additionals.count] {
      guard let count = UInt16(exactly: count) else { throw DNSWriter.tooLong }
      writer.word(count)
    }
    for question in questions {
      writer.name(question.name)
      writer.word(question.type.rawValue)
      writer.word(question.recordClass)
    }
    for record in answers + authorities + additionals { try record.write(to: &writer) }
    guard writer.bytes.count <= 65_535 else { throw DNSWriter.tooLong }
    return writer.bytes
  }
}

extension DNSRecord {
  fileprivate func write(to writer: inout DNSWriter) throws {
    writer.name(name)
    writer.word(type.rawValue)
    writer.word(recordClass)
    writer.long(timeToLive)
    try writer.counted { writer in
      switch data {
      case .address(let address):
        let isMapped = type == .aaaa && !address.isIPv6
        writer.write((isMapped ? [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] : []) + address.bytes)
      case .alias(let name): writer.name(name)
      case .authority(let server, let mailbox, let numbers):
        writer.name(server)
        writer.name(mailbox)
        for number in numbers { writer.long(number) }
      case .service(let service):
        writer.word(service.priority)
        writer.name(service.target, isCompressed: false)
        for parameter in service.parameters {
          writer.word(parameter.key)
          try writer.counted { $0.write(parameter.value) }
        }
      case .opaque(let bytes): writer.write(bytes)
      }
    }
  }
}
