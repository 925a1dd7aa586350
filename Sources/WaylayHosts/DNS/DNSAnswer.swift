/// What an answer says about the name that was asked for, and nothing else that may be in it.
struct DNSAnswer: Sendable {
  /// What the name is called in the end: itself, or what its aliases lead to.
  var name: DNSName
  /// The records of that name and of the type that was asked for.
  var records: [DNSRecord]
  /// The lowest time to live on the way, in seconds; of an empty answer, how long it may be taken for granted.
  var timeToLive: UInt32
  /// Whether there is no such name, rather than no record of the type.
  var isNameMissing: Bool

  /// The most aliases that are followed.
  private static let maximumAliases = 16

  /// Reads the answer to a question.
  ///
  /// - Throws: `HostError`: `malformedAnswer` when it is none to that question, `resolverFailed` when the server says
  ///   that it failed.
  init(to question: DNSQuestion, id: UInt16 = 0, in message: DNSMessage) throws {
    func refuse(_ reason: String, _ code: HostError.Code = .malformedAnswer) -> HostError {
      HostError(code, "The answer to \(question.name) cannot be used: \(reason).", host: question.name.description)
    }
    guard message.flags.isResponse, message.flags.operation == 0 else { throw refuse("it is not an answer to a query") }
    guard message.id == id else { throw refuse("its id is \(message.id), and the query's was \(id)") }
    guard message.questions == [question] else { throw refuse("it is for another question") }
    guard !message.flags.isTruncated else { throw refuse("it is truncated", .resolverFailed) }
    guard [0, 3].contains(message.flags.responseCode) else {
      throw refuse(
        "the server failed with the code \(message.flags.responseCode) (2: its own failure, 5: it refuses)",
        .resolverFailed)
    }
    var current = question.name
    var lowest = UInt32.max
    // Aliases are followed inside of the answer only, in whatever order they stand; what is said of other names does
    // not count.
    for _ in 0...Self.maximumAliases {
      let own = message.answers.filter { $0.name == current && $0.recordClass == DNSRecord.internet }
      let records = own.filter { $0.type == question.type }
      guard records.isEmpty, let alias = own.first(where: { $0.type == .cname }), case .alias(let target) = alias.data
      else {
        let timeToLive = records.map(\.timeToLive).min() ?? Self.negativeTimeToLive(of: message, for: current)
        self.init(
          name: current, records: records, timeToLive: min(lowest, timeToLive),
          isNameMissing: message.flags.responseCode == 3)
        return
      }
      lowest = min(lowest, alias.timeToLive)
      current = target
    }
    throw refuse("it has more than \(Self.maximumAliases) aliases, or circular ones")
  }

  private init(name: DNSName, records: [DNSRecord], timeToLive: UInt32, isNameMissing: Bool) {
    self.name = name
    self.records = records
    self.timeToLive = timeToLive
    self.isNameMissing = isNameMissing
  }

  /// The addresses.
  var addresses: [HostAddress] {
    records.compactMap { if case .address(let address) = $0.data { address } else { nil } }
  }

  /// The services, the preferred one first; none at all when one of them breaks the format (RFC 9460, section 2.2).
  var services: [ServiceBinding] {
    var services: [ServiceBinding] = []
    for record in records {
      guard case .service(let service) = record.data else { return [] }
      services.append(service)
    }
    return services.sorted { $0.priority < $1.priority }
  }

  /// The lower of the SOA record's own time and its last number (RFC 2308, section 5); zero without one that is above
  /// the name.
  private static func negativeTimeToLive(of message: DNSMessage, for name: DNSName) -> UInt32 {
    for record in message.authorities where record.type == .soa && name.isAtOrBelow(record.name) {
      if case .authority(_, _, let numbers) = record.data, let minimum = numbers.last {
        return min(record.timeToLive, minimum)
      }
    }
    return 0
  }
}

extension DNSName {
  /// Whether it is the other name, or below it.
  func isAtOrBelow(_ other: DNSName) -> Bool {
    var rest = wire[...]
    while rest.count > other.wire.count, let length = rest.first { rest = rest.dropFirst(1 + Int(length)) }
    return rest.elementsEqual(other.wire)
  }
}
