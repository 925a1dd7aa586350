import Testing
import WaylayCore

@testable import WaylayHosts

@Suite("Answers of DNS servers", .timeLimit(.minutes(5)))
struct DNSAnswerTests {
  private let question: DNSQuestion

  init() throws {
    question = DNSQuestion(name: try DNSName("api.example.com"), type: .a)
  }

  private func addresses(_ message: DNSMessage, id: UInt16 = 0) throws -> [String] {
    try DNSReply(to: question, id: id, in: DNSMessage(decoding: message.encoded())).addresses.map(\.literal)
  }

  @Test("give the addresses and the lowest time to live")
  func addresses() throws {
    let message = try Messages.answer(
      "API.example.com", .a,
      [
        Messages.address("api.example.com", "203.0.113.7", seconds: 60),
        Messages.address("api.EXAMPLE.com", "203.0.113.8", seconds: 30),
      ])
    #expect(try addresses(message) == ["203.0.113.7", "203.0.113.8"])
    #expect(try DNSReply(to: question, in: message).timeToLive == 30)
  }

  @Test("are followed through aliases, in whatever order they stand")
  func aliases() throws {
    let message = try Messages.answer(
      "api.example.com", .a,
      [
        Messages.address("edge.cdn.test", "203.0.113.7"),
        Messages.alias("www.example.com", "edge.cdn.test", seconds: 20),
        Messages.alias("api.example.com", "www.example.com"),
      ])
    let answer = try DNSReply(to: question, in: message)
    #expect(answer.addresses.map(\.literal) == ["203.0.113.7"])
    #expect(answer.timeToLive == 20)
    #expect(answer.name.description == "edge.cdn.test")
  }

  @Test("say nothing about other names")
  func bailiwick() throws {
    let message = try Messages.answer(
      "api.example.com", .a,
      [
        Messages.address("bank.example", "198.51.100.1"), Messages.alias("bank.example", "evil.example"),
        Messages.address("example.com", "198.51.100.2"), Messages.address("api.example.com", "203.0.113.7"),
        Messages.address("api.example.com", "2001:db8::7"),
      ])
    #expect(try addresses(message) == ["203.0.113.7"])
  }

  @Test("with aliases in a circle are refused")
  func circle() throws {
    let message = try Messages.answer(
      "api.example.com", .a, [Messages.alias("api.example.com", "b.test"), Messages.alias("b.test", "api.example.com")])
    #expect(throws: HostError.self) { try addresses(message) }
  }

  @Test("to another question, with another id, or that are none, are refused")
  func others() throws {
    let good = try Messages.answer("api.example.com", .a, [Messages.address("api.example.com", "203.0.113.7")], id: 7)
    #expect(try addresses(good, id: 7) == ["203.0.113.7"])
    #expect(throws: HostError.self) { try addresses(good, id: 8) }
    var query = good
    query.flags.rawValue &= ~0x8000
    #expect(throws: HostError.self) { try addresses(query, id: 7) }
    var other = good
    other.questions[0].type = .aaaa
    #expect(throws: HostError.self) { try addresses(other, id: 7) }
    var truncated = good
    truncated.flags.rawValue |= 0x0200
    #expect(throws: HostError.self) { try addresses(truncated, id: 7) }
    var failed = good
    failed.flags.rawValue |= 2
    #expect(throws: HostError.self) { try addresses(failed, id: 7) }
  }

  @Test("that a name does not exist hold as long as the zone says")
  func negative() throws {
    func answer(_ authorities: [DNSRecord], code: UInt8 = 3) throws -> DNSReply {
      try DNSReply(to: question, in: Messages.answer("api.example.com", .a, [], authorities: authorities, code: code))
    }
    let missing = try answer([Messages.authority("example.com", seconds: 600, minimum: 300)])
    #expect(missing.isNameMissing && missing.timeToLive == 300)
    #expect(try answer([Messages.authority("example.com", seconds: 60, minimum: 300)]).timeToLive == 60)
    #expect(try answer([Messages.authority("other.org")]).timeToLive == 0)
    #expect(try answer([]).timeToLive == 0)
    let empty = try answer([Messages.authority("com")], code: 0)
    #expect(!empty.isNameMissing && empty.records.isEmpty && empty.timeToLive == 300)
  }

  @Test("name services by priority, with targets and protocols")
  func services() throws {
    let question = DNSQuestion(name: try DNSName("api.example.com"), type: .https)
    let message = try Messages.answer(
      "api.example.com", .https,
      [
        Messages.service("api.example.com", Messages.binding(2, protocols: ["h2"])),
        Messages.service(
          "api.example.com",
          Messages.binding(1, target: "svc.example.net", protocols: ["h2", "h3"])),
      ])
    let decoded = try DNSMessage(decoding: message.encoded())
    let services = try DNSReply(to: question, in: decoded).services
    #expect(services.map(\.priority) == [1, 2])
    #expect(services[0].protocols == ["h2", "h3", "http/1.1"])
    #expect(services[0].target.description == "svc.example.net")
    #expect(services[1].target == .root)
  }

  @Test("with one malformed service name none (RFC 9460, section 2.2)")
  func malformedService() throws {
    let question = DNSQuestion(name: try DNSName("api.example.com"), type: .https)
    var twice = try Messages.binding(1, port: 8443)
    twice.parameters += twice.parameters
    let message = try Messages.answer(
      "api.example.com", .https,
      [Messages.service("api.example.com", Messages.binding(2)), Messages.service("api.example.com", twice)])
    #expect(try DNSReply(to: question, in: DNSMessage(decoding: message.encoded())).services.isEmpty)
  }

  @Test("are not used when they demand what is not understood")
  func mandatory() throws {
    var service = ServiceBinding(priority: 1, target: .root)
    service.parameters = [.init(key: 0, value: [0, 1]), .init(key: 1, value: [2, 0x68, 0x32])]
    #expect(service.isWellFormed && service.isUsable)
    service.parameters = [.init(key: 3, value: [0x20, 0xFB])]
    #expect(service.isWellFormed && !service.isUsable)
    service.parameters = [.init(key: 0, value: [0, 9]), .init(key: 9, value: [])]
    #expect(service.isWellFormed && !service.isUsable)
    service.parameters = [.init(key: 0, value: [0, 9])]
    #expect(!service.isWellFormed)
  }
}
