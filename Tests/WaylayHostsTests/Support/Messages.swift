import TestOrigin
import WaylayCore

@testable import WaylayHosts

/// Answers of a DNS server, made in one line each.
enum Messages {
  static func answer(
    _ name: String, _ type: DNSRecord.Kind = .a, _ records: [DNSRecord], authorities: [DNSRecord] = [], code: UInt8 = 0,
    id: UInt16 = 0
  ) throws -> DNSMessage {
    var message = DNSMessage(id: id)
    message.flags.rawValue = 0x8100 | UInt16(code)
    message.questions = [DNSQuestion(name: try DNSName(name), type: type)]
    message.answers = records
    message.authorities = authorities
    return message
  }

  static func address(_ name: String, _ address: String, seconds: UInt32 = 60) throws -> DNSRecord {
    let address = try HostAddress(address)
    return DNSRecord(
      name: try DNSName(name), type: address.isIPv6 ? .aaaa : .a, timeToLive: seconds, data: .address(address))
  }

  static func alias(_ name: String, _ target: String, seconds: UInt32 = 60) throws -> DNSRecord {
    DNSRecord(name: try DNSName(name), type: .cname, timeToLive: seconds, data: .alias(try DNSName(target)))
  }

  static func authority(_ zone: String, seconds: UInt32 = 600, minimum: UInt32 = 300) throws -> DNSRecord {
    let numbers = [1, 2, 3, 4, minimum]
    let (server, mailbox) = (try DNSName("ns.\(zone)"), try DNSName("root.\(zone)"))
    return DNSRecord(
      name: try DNSName(zone), type: .soa, timeToLive: seconds,
      data: .authority(server: server, mailbox: mailbox, numbers: numbers))
  }

  static func service(_ name: String, _ service: ServiceBinding, seconds: UInt32 = 60) throws -> DNSRecord {
    DNSRecord(name: try DNSName(name), type: .https, timeToLive: seconds, data: .service(service))
  }

  static func binding(
    _ priority: UInt16 = 1, target: String? = nil, protocols: [String] = [], port: UInt16? = nil
  ) throws -> ServiceBinding {
    var binding = ServiceBinding(priority: priority, target: try target.map { try DNSName($0) } ?? .root)
    func add(_ key: UInt16, _ value: [UInt8]) {
      if !value.isEmpty { binding.parameters.append(.init(key: key, value: value)) }
    }
    add(1, protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) })
    add(3, port.map { [UInt8($0 >> 8), UInt8($0 & 255)] } ?? [])
    return binding
  }
}
