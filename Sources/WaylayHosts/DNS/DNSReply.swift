/// What an answer says about the name that was asked for, and nothing else that may be in it.
struct DNSReply: Sendable {
  /// What the name is called in the end: itself, or what its aliases lead to.
  var name: DNSName
  /// The records of that name and of the type that was asked for.
  var records: [DNSRecord]
  /// The lowest time to live on the way, in seconds; of an empty answer, how long it may be taken for granted.
  var timeToLive: UInt32
  /// Whether there is no such name, rather than no record of the type.
  var isNameMissing: Bool
}

extension DNSReply {
  /// The most aliases that are followed.
  private static let maximumAliases = 16

  /// Reads the answer to a question.
  ///
  /// - Throws: `HostError`: `malformedResponse` when it is none to that question, `resolverFailed` when the server says
  ///   that it failed.
  init(to question: DNSQuestion, id: UInt16 = 0, in message: DNSMessage) throws {
    func refuse(_ reason: String, _ code: HostError.Code = .malformedResponse) -> HostError {
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

/// What an HTTPS record says (RFC 9460): where a service is to be had, and how.
struct ServiceBinding: Hashable, Sendable {
  /// Zero: the service is that of another name, ``target``. Else the lower number is preferred.
  var priority: UInt16
  /// The name that has the addresses; the root for the record's own.
  var target: DNSName
  /// By key, in ascending order.
  var parameters: [Parameter] = []

  /// A parameter that no part of this package looks into keeps its bytes.
  struct Parameter: Hashable, Sendable {
    var key: UInt16
    var value: [UInt8]
  }

  enum Key {
    static let mandatory: UInt16 = 0
    static let protocols: UInt16 = 1
    static let noDefaultProtocol: UInt16 = 2
    static let port: UInt16 = 3
  }

  var isAlias: Bool { priority == 0 }

  /// Whether everything that must be understood is (section 8): a port is not, so a service at a port of its own is not
  /// used.
  var isUsable: Bool {
    guard value(Key.port) == nil else { return false }
    guard let mandatory = value(Key.mandatory) else { return true }
    return Self.words(mandatory).allSatisfy { $0 == Key.protocols || $0 == Key.noDefaultProtocol }
  }

  /// The protocols, as in ALPN, with the default one of HTTPS unless it is taken back (section 7.1.2).
  var protocols: [String] {
    var names = value(Key.protocols).flatMap(Self.names) ?? []
    if value(Key.noDefaultProtocol) == nil, !names.contains("http/1.1") { names.append("http/1.1") }
    return names
  }

  /// Whether the parameters have the form of their keys (section 2.2).
  var isWellFormed: Bool {
    for (parameter, next) in zip(parameters, parameters.dropFirst()) where parameter.key >= next.key { return false }
    return parameters.allSatisfy { parameter in
      let count = parameter.value.count
      switch parameter.key {
      case Key.mandatory: return count > 0 && count % 2 == 0 && isMandatoryListed(Self.words(parameter.value))
      case Key.protocols: return Self.names(parameter.value) != nil
      case Key.noDefaultProtocol: return count == 0 && value(Key.protocols) != nil
      case Key.port: return count == 2
      default: return true
      }
    }
  }

  /// Mandatory keys ascend, are there, and are not `mandatory` itself.
  private func isMandatoryListed(_ keys: [UInt16]) -> Bool {
    zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 } && keys.allSatisfy { $0 != Key.mandatory && value($0) != nil }
  }

  private func value(_ key: UInt16) -> [UInt8]? { parameters.first { $0.key == key }?.value }

  private static func words(_ bytes: [UInt8]) -> [UInt16] {
    stride(from: 0, to: bytes.count - 1, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
  }

  /// One or more names, each with its length before it and none empty.
  private static func names(_ bytes: [UInt8]) -> [String]? {
    var names: [String] = []
    var rest = bytes[...]
    while let length = rest.popFirst() {
      guard length > 0, rest.count >= Int(length) else { return nil }
      names.append(String(decoding: rest.prefix(Int(length)), as: UTF8.self))
      rest = rest.dropFirst(Int(length))
    }
    return names.isEmpty ? nil : names
  }
}
