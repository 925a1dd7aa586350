import Testing
import WaylayCore

@testable import WaylayHosts

@Suite("HTTPS records (RFC 9460)", .timeLimit(.minutes(5)))
struct ServiceRecordTests {
  /// What comes of answers to the questions that a resolver would ask.
  private func resolve(_ records: [DNSRecord], port: Int = 443, rounds: Int = 2) throws -> HostResolution {
    var findings = try DoHFindings(HostAuthority(HostName("api.example.com"), port: port))
    for _ in 0..<rounds {
      for question in findings.questions() {
        let own = records.filter { $0.name == question.name && $0.type == question.type }
        let message = try Messages.answer(question.name.description, question.type, own)
        findings.add(.success(try DNSReply(to: question, in: DNSMessage(decoding: message.encoded()))), to: question)
      }
    }
    return try findings.resolution(source: "test")
  }

  private func places(_ resolution: HostResolution) -> [String] { resolution.endpoints.map(\.description) }

  private let host = "api.example.com"

  @Test("with a port of its own are left out: the host itself is there")
  func port() throws {
    let resolution = try resolve([
      Messages.address(host, "203.0.113.7"), Messages.address("svc.example.net", "203.0.113.9"),
      Messages.service(host, Messages.binding(target: "svc.example.net", protocols: ["h2"], port: 8443)),
    ])
    #expect(places(resolution) == ["203.0.113.7"])
  }

  @Test("bring addresses of their own, in the order of their priority; those of the host itself come last")
  func targets() throws {
    let resolution = try resolve([
      Messages.address(host, "203.0.113.7"), Messages.address("svc.example.net", "203.0.113.9"),
      Messages.address("svc.example.net", "2001:db8::9"), Messages.address("next.example.net", "203.0.113.8"),
      Messages.service(host, Messages.binding(2, target: "next.example.net", protocols: ["h2"])),
      Messages.service(host, Messages.binding(1, target: "svc.example.net")),
    ])
    #expect(places(resolution) == ["2001:db8::9", "203.0.113.9", "203.0.113.8", "203.0.113.7"])
  }

  @Test("lead to another name in alias mode, and to its services")
  func alias() throws {
    let alias = try Messages.service(host, Messages.binding(0, target: "pool.example.net"))
    let address = try Messages.address("pool.example.net", "203.0.113.9")
    #expect(try places(resolve([alias, address])) == ["203.0.113.9"])
    let service = try Messages.service("pool.example.net", Messages.binding(1, protocols: ["h2"]))
    #expect(try places(resolve([alias, address, service])) == ["203.0.113.9"])
  }

  @Test("are asked for under the port's own name where it is not the usual one")
  func otherPort() throws {
    let resolution = try resolve(
      [
        Messages.address(host, "203.0.113.7"), Messages.address("svc.example.net", "203.0.113.9"),
        Messages.address("other.example.net", "203.0.113.8"),
        Messages.service("_8443._https.\(host)", Messages.binding(target: "svc.example.net", protocols: ["h2"])),
        Messages.service(host, Messages.binding(target: "other.example.net", protocols: ["h2"])),
      ], port: 8443)
    #expect(places(resolution) == ["203.0.113.9", "203.0.113.7"])
  }

  @Test("are left out when nothing here speaks their protocols, or understands what they demand")
  func unusable() throws {
    var quic = try Messages.binding(1, target: "svc.example.net", protocols: ["h3"])
    quic.parameters.append(.init(key: 2, value: []))
    var strict = try Messages.binding(2, target: "svc.example.net")
    strict.parameters = [.init(key: 0, value: [0x12, 0x34]), .init(key: 0x1234, value: [])]
    let resolution = try resolve([
      Messages.address(host, "203.0.113.7"), Messages.address("svc.example.net", "203.0.113.9"),
      Messages.service(host, quic), Messages.service(host, strict),
    ])
    #expect(places(resolution) == ["203.0.113.7"])
  }
}
