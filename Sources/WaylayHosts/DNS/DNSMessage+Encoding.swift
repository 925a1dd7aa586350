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

  /// A query as a client sends it: recursion wanted, and room for a large answer.
  ///
  /// - Parameter isPadded: Whether it is filled up to a multiple of 128 bytes, so that its length does not tell the
  ///   name (RFC 8467, section 4.1).
  static func query(_ name: DNSName, _ type: DNSRecord.Kind, id: UInt16 = 0, isPadded: Bool) throws -> [UInt8] {
    var message = DNSMessage(id: id, questions: [DNSQuestion(name: name, type: type)])
    message.flags.wantsRecursion = true
    // The class of an OPT record is the size of answer that is taken (RFC 6891, section 6.1.2).
    var options = DNSRecord(name: .root, type: .opt, recordClass: 4096, timeToLive: 0, data: .opaque([]))
    message.additionals = [options]
    guard isPadded else { return try message.encoded() }
    let bare = try message.encoded().count + 4
    let padding = (128 - bare % 128) % 128
    options.data = .opaque(
      [0, 12, UInt8(truncatingIfNeeded: padding >> 8), UInt8(truncatingIfNeeded: padding)]
        + [UInt8](repeating: 0, count: padding))
    message.additionals = [options]
    return try message.encoded()
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
