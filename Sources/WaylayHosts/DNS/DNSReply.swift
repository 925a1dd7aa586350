/// The part of an answer that concerns the queried name; everything else is ignored.
struct DNSReply: Sendable {
  /// The canonical name: the queried name, or the end of its alias chain.
  var name: DNSName
  /// The records of the canonical name with the queried type.
  var records: [DNSRecord]
  /// The lowest time to live along the alias chain, in seconds; for an empty answer, how long to cache the absence.
  var timeToLive: UInt32
  /// Whether the name does not exist (NXDOMAIN), as opposed to a name without records of the type.
  var isNameMissing: Bool
}

extension DNSReply {
  /// The maximum length of an alias chain.
  private static let maximumAliases = 16

  /// Extracts the reply to a question.
  ///
  /// - Throws: `HostError`: `malformedResponse` if the message does not answer the question, `resolverFailed` if the
  ///   server reports a failure.
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
    // Follow aliases inside the answer only, in any order of records; records of other names are ignored.
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

  /// The services in order of priority; empty if one of them is malformed (RFC 9460, section 2.2).
  var services: [ServiceBinding] {
    var services: [ServiceBinding] = []
    for record in records {
      guard case .service(let service) = record.data else { return [] }
      services.append(service)
    }
    return services.sorted { $0.priority < $1.priority }
  }

  /// The lower of the SOA record's time to live and its last number (RFC 2308, section 5); zero unless the record
  /// belongs to the name or to a parent of it.
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
  /// Whether the name equals the other one, or is a subdomain of it.
  func isAtOrBelow(_ other: DNSName) -> Bool {
    var rest = wire[...]
    while rest.count > other.wire.count, let length = rest.first { rest = rest.dropFirst(1 + Int(length)) }
    return rest.elementsEqual(other.wire)
  }
}

/// The data of an HTTPS record (RFC 9460): where the service is, and how to reach it.
struct ServiceBinding: Hashable, Sendable {
  /// Zero for an alias: ``target`` has the service. Otherwise lower numbers are preferred.
  var priority: UInt16
  /// The name that has the addresses; the root means the record's own name.
  var target: DNSName
  /// Sorted by key, ascending.
  var parameters: [Parameter] = []

  /// A parameter with its encoded value.
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

  /// Whether all mandatory keys are supported (section 8). Ports are not, so a service with its own port is not used.
  var isUsable: Bool {
    guard value(Key.port) == nil else { return false }
    guard let mandatory = value(Key.mandatory) else { return true }
    return Self.words(mandatory).allSatisfy { $0 == Key.protocols || $0 == Key.noDefaultProtocol }
  }

  /// The ALPN protocols, including the default of HTTPS unless the record removes it (section 7.1.2).
  var protocols: [String] {
    var names = value(Key.protocols).flatMap(Self.names) ?? []
    if value(Key.noDefaultProtocol) == nil, !names.contains("http/1.1") { names.append("http/1.1") }
    return names
  }

  /// Whether each value has the format of its key (section 2.2).
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

  /// Whether the mandatory keys ascend, are present, and do not include `mandatory` itself.
  private func isMandatoryListed(_ keys: [UInt16]) -> Bool {
    zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 } && keys.allSatisfy { $0 != Key.mandatory && value($0) != nil }
  }

  private func value(_ key: UInt16) -> [UInt8]? { parameters.first { $0.key == key }?.value }

  private static func words(_ bytes: [UInt8]) -> [UInt16] {
    stride(from: 0, to: bytes.count - 1, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
  }

  /// Decodes one or more length-prefixed names, none empty.
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
