import Testing
import WaylayHosts

@Suite("Rules")
struct RulesTests {
  @Test("the longest pattern goes first, with its port before without")
  func longest() throws {
    let rules = try HostRules([
      HostRule("*", endpoints: ["192.0.2.1"]),
      HostRule("*.example.com", endpoints: ["192.0.2.2"]),
      HostRule("*.deep.example.com", endpoints: ["192.0.2.3"]),
      HostRule("api.example.com", endpoints: ["192.0.2.4"]),
      HostRule("api.example.com:8443", endpoints: ["192.0.2.5"]),
      HostRule(excluding: "legacy.example.com"),
    ])
    func dial(_ host: String, port: Int = 443) throws -> String? {
      let rule = try rules.match(HostName(host), port: port)
      return rule.map { $0.isExclusion ? "excluded" : $0.endpoints.map(\.description).joined() }
    }
    #expect(try dial("other.org") == "192.0.2.1")
    #expect(try dial("example.com") == "192.0.2.1")
    #expect(try dial("a.example.com") == "192.0.2.2")
    #expect(try dial("a.b.example.com") == "192.0.2.2")
    #expect(try dial("evil-example.com") == "192.0.2.1")
    #expect(try dial("deep.example.com") == "192.0.2.2")
    #expect(try dial("a.deep.example.com") == "192.0.2.3")
    #expect(try dial("API.Example.COM.") == "192.0.2.4")
    #expect(try dial("api.example.com", port: 8443) == "192.0.2.5")
    #expect(try dial("legacy.example.com") == "excluded")
    #expect(try dial("a.legacy.example.com") == "192.0.2.2")
  }
}
