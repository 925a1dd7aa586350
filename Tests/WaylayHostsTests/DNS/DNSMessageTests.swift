import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayHosts

@Suite("DNS messages", .timeLimit(.minutes(10)))
struct DNSMessageTests {
  @Test("a query has the bytes of RFC 8484, section 4.1.1")
  func query() throws {
    var message = DNSMessage(questions: [DNSQuestion(name: try DNSName("www.example.com"), type: .a)])
    message.flags.rawValue = 0x0100
    let text = Data(try message.encoded()).base64EncodedString()
    #expect(text == "AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB")
  }

  @Test("a padded query is a multiple of 128 bytes, whatever the name", arguments: 1...60)
  func padding(length: Int) throws {
    let name = try DNSName(String(repeating: "a", count: length) + ".example.com")
    let bytes = DNSMessage.query(name, .aaaa)
    #expect(bytes.count == 128)
    #expect(try DNSMessage(decoding: bytes).questions == [DNSQuestion(name: name, type: .aaaa)])
    let long = try DNSName(Array(repeating: String(repeating: "a", count: length), count: 3).joined(separator: "."))
    #expect(DNSMessage.query(long, .a).count % 128 == 0)
  }

  @Test("every message that is cut off is refused, not more than its length is read")
  func truncation() throws {
    let message = try Messages.answer(
      "api.example.com", .a,
      [
        Messages.alias("api.example.com", "www.example.com"), Messages.address("www.example.com", "203.0.113.7"),
        Messages.service("api.example.com", Messages.binding(protocols: ["h2"], port: 8443)),
      ], authorities: [Messages.authority("example.com")])
    let bytes = try message.encoded()
    #expect(try DNSMessage(decoding: bytes) == message)
    for count in 0..<bytes.count {
      #expect(throws: HostError.self) { try DNSMessage(decoding: Array(bytes.prefix(count))) }
    }
  }

  @Test("64 KiB are read, more are refused, and counts that cannot be true cost nothing")
  func size() throws {
    var message = try Messages.answer("api.example.com", .a, [])
    let record = DNSRecord(
      name: .root, type: .init(rawValue: 16), timeToLive: 0, data: .opaque([UInt8](repeating: 7, count: 65_000)))
    message.additionals = [record]
    let bytes = try message.encoded()
    #expect(try DNSMessage(decoding: bytes) == message)
    #expect(throws: HostError.self) {
      try DNSMessage(decoding: bytes + [UInt8](repeating: 0, count: 65_536 - bytes.count))
    }
    message.additionals = [record, record]
    #expect(throws: HostError.self) { try message.encoded() }
    let greedy: [UInt8] = [0, 0, 0x81, 0x80] + [UInt8](repeating: 0xFF, count: 8)
    #expect(throws: HostError.self) { try DNSMessage(decoding: greedy) }
  }

  @Test("a message of pointers alone is read, or refused, in the time that its length allows", .timeLimit(.minutes(5)))
  func pointers() {
    var bytes: [UInt8] = [0, 0, 0x81, 0x80, 0, 0, 0x17, 0, 0, 0, 0, 0]
    while bytes.count < 65_500 { bytes += [0xC0, UInt8(truncatingIfNeeded: bytes.count - 2)] }
    // Each pointer leads to another: to follow all of them from all of them would take hours.
    for _ in 0..<20 { _ = try? DNSMessage(decoding: bytes) }
  }

  @Test("what was encoded is decoded as it was, for any message", arguments: 0..<200 as Range<UInt64>)
  func roundTrip(seed: UInt64) throws {
    var random = SplitMix(state: seed)
    let message = try Self.message(&random)
    #expect(try DNSMessage(decoding: message.encoded()) == message)
  }

  @Test("no bytes trap the decoder, and what it accepts can be used", arguments: 0..<50 as Range<UInt64>)
  func noise(seed: UInt64) throws {
    var random = SplitMix(state: seed)
    let good = try Self.message(&random).encoded()
    for _ in 0..<200 {
      var bytes = good
      for _ in 0...Int.random(in: 0..<4, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      guard let message = try? DNSMessage(decoding: bytes), let question = message.questions.first else { continue }
      guard let answer = try? DNSReply(to: question, id: message.id, in: message) else { continue }
      #expect(answer.records.allSatisfy { (record: DNSRecord) in record.name == answer.name })
      #expect(answer.addresses.count <= answer.records.count)
      _ = answer.services.map { $0.protocols }
    }
  }

  /// A message of any content, with few names so that they share their ends.
  private static func message(_ random: inout SplitMix) throws -> DNSMessage {
    var message = DNSMessage(id: .random(in: 0...0xFFFF, using: &random))
    message.flags.rawValue = .random(in: 0...0xFFFF, using: &random)
    func name(_ random: inout SplitMix) throws -> DNSName {
      let labels = (0..<Int.random(in: 1...4, using: &random)).map { _ in
        ["a", "api", "example", "com", "x_y", "-"].randomElement(using: &random)!
      }
      return try DNSName(labels.joined(separator: "."))
    }
    func records(_ random: inout SplitMix) throws -> [DNSRecord] {
      try (0..<Int.random(in: 0...5, using: &random)).map { _ in
        let owner = try name(&random).description
        let seconds = UInt32.random(in: 0...86_400, using: &random)
        let byte = UInt8.random(in: 0...255, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return try Messages.address(owner, "203.0.113.\(byte)", seconds: seconds)
        case 1: return try Messages.address(owner, "2001:db8::\(byte)", seconds: seconds)
        case 2: return try Messages.alias(owner, name(&random).description, seconds: seconds)
        case 3: return try Messages.authority(owner, seconds: seconds)
        case 4:
          let binding = try Messages.binding(
            UInt16(byte), target: name(&random).description, protocols: ["h2", "h3"], port: UInt16(byte))
          return try Messages.service(owner, binding, seconds: seconds)
        default:
          return DNSRecord(
            name: try DNSName(owner), type: .init(rawValue: 1_000), timeToLive: seconds,
            data: .opaque([UInt8](repeating: byte, count: Int(byte))))
        }
      }
    }
    message.questions = [DNSQuestion(name: try name(&random), type: .a)]
    message.answers = try records(&random)
    message.authorities = try records(&random)
    message.additionals = try records(&random)
    return message
  }
}
