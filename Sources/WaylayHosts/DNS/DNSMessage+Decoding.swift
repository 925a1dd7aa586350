extension DNSMessage {
  /// Reads a message. Bytes after its end are ignored.
  ///
  /// - Throws: `HostError` with the code `malformedAnswer`.
  init(decoding bytes: [UInt8]) throws {
    guard bytes.count <= 65_535 else { throw DNSReader.broken("it has more than 65 535 bytes") }
    var reader = DNSReader(bytes)
    id = try reader.word()
    flags = Flags(rawValue: try reader.word())
    let counts = try (0..<4).map { _ in Int(try reader.word()) }
    // Each takes some bytes at least: a count that cannot be true is refused before anything is read.
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
    // The highest bit makes it zero (RFC 2181, section 8). In an OPT record the field holds something else.
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
  /// Reads the content of a type that is known; `nil` for one that is not.
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
