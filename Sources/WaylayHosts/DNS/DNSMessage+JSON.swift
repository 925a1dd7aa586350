extension DNSMessage {
  /// An answer as public servers have it in JSON.
  private struct Form: Decodable {
    let status: UInt16
    let isTruncated: Bool?
    let answers: [Record]?
    let authorities: [Record]?

    enum CodingKeys: String, CodingKey {
      case status = "Status"
      case isTruncated = "TC"
      case answers = "Answer"
      case authorities = "Authority"
    }

    struct Record: Decodable {
      let name: String
      let type: UInt16
      let timeToLive: UInt32?
      let data: String

      enum CodingKeys: String, CodingKey {
        case name, type, data
        case timeToLive = "TTL"
      }
    }
  }

  /// Reads the JSON form of the answer to a question. Records that cannot be understood are left out.
  ///
  /// - Throws: `HostError` with the code `malformedAnswer`.
  init(json: Data, _ question: DNSQuestion) throws {
    let form: Form
    do {
      form = try JSONDecoder().decode(Form.self, from: json)
    } catch {
      throw HostError(
        .malformedAnswer, "The answer is not DNS in JSON: \(error.redacted)", host: question.name.description,
        underlying: error)
    }
    // Nothing but the name ties the answer to the question: what is said of other names is ignored, as always.
    questions = [question]
    flags.isResponse = true
    flags.responseCode = form.status < 16 ? UInt8(truncatingIfNeeded: form.status) : 2
    if form.isTruncated == true { flags.rawValue |= 0x0200 }
    answers = (form.answers ?? []).compactMap(Self.record)
    authorities = (form.authorities ?? []).compactMap(Self.record)
  }

  private static func record(_ record: Form.Record) -> DNSRecord? {
    func name(_ text: some StringProtocol) -> DNSName? {
      try? DNSName(text.hasSuffix(".") ? String(text.dropLast()) : String(text))
    }
    let type = DNSRecord.Kind(rawValue: record.type)
    let content: DNSRecord.Content?
    switch type {
    case .a, .aaaa: content = (try? HostAddress(record.data)).map { .address($0) }
    case .cname: content = name(record.data).map { .alias($0) }
    case .soa:
      let fields = record.data.split(separator: " ")
      let numbers = fields.dropFirst(2).compactMap { UInt32($0) }
      content = numbers.count == 5 ? .authority(server: .root, mailbox: .root, numbers: numbers) : nil
    default: content = nil
    }
    guard let owner = name(record.name), let content else { return nil }
    let seconds = record.timeToLive ?? 0
    return DNSRecord(name: owner, type: type, timeToLive: seconds < 1 << 31 ? seconds : 0, data: content)
  }
}
