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
    static let hints4: UInt16 = 4
    static let encryptedHello: UInt16 = 5
    static let hints6: UInt16 = 6
  }

  var isAlias: Bool { priority == 0 }

  /// Whether everything that must be understood is (section 8).
  var isUsable: Bool {
    guard let mandatory = value(Key.mandatory) else { return true }
    let understood: Set<UInt16> = [Key.protocols, Key.noDefaultProtocol, Key.port, Key.hints4, Key.hints6]
    return Self.words(mandatory).allSatisfy { understood.contains($0) }
  }

  /// The port, where it is not the URL's.
  var port: Int? { value(Key.port).flatMap { Self.words($0).first }.flatMap { $0 == 0 ? nil : Int($0) } }

  /// The protocols, as in ALPN, with the default one of HTTPS unless it is taken back (section 7.1.2).
  var protocols: [String] {
    var names = value(Key.protocols).flatMap(Self.names) ?? []
    if value(Key.noDefaultProtocol) == nil, !names.contains("http/1.1") { names.append("http/1.1") }
    return names
  }

  /// Addresses to try while those of ``target`` are not known.
  var hints: [HostAddress] {
    Self.addresses(value(Key.hints6) ?? [], size: 16) + Self.addresses(value(Key.hints4) ?? [], size: 4)
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
      case Key.hints4: return count > 0 && count % 4 == 0
      case Key.hints6: return count > 0 && count % 16 == 0
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

  private static func addresses(_ bytes: [UInt8], size: Int) -> [HostAddress] {
    stride(from: 0, to: bytes.count - size + 1, by: size).compactMap { HostAddress(bytes: bytes[$0..<($0 + size)]) }
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
