import Testing
import WaylayHosts

@Suite("Rules", .timeLimit(.minutes(5)))
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

  @Test("literals, single labels and names below local are left alone unless a rule names them")
  func leftAlone() throws {
    let everything = try HostRules([HostRule("*", endpoints: ["192.0.2.1"])])
    let named = try HostRules([
      HostRule("intranet", endpoints: ["192.0.2.1"]), HostRule("*.local", endpoints: ["192.0.2.1"]),
      HostRule("203.0.113.9", endpoints: ["192.0.2.1"]),
      HostRule("[2001:db8::9]:8443", endpoints: ["192.0.2.1"]),
    ])
    for (text, port) in [("intranet", 443), ("printer.local", 443), ("203.0.113.9", 443), ("2001:db8::9", 8443)] {
      #expect(try everything.match(HostName(text), port: port) == nil)
      #expect(try named.match(HostName(text), port: port) != nil)
    }
    #expect(try named.match(HostName("2001:db8::9"), port: 443) == nil)
    // A wildcard over the end of a literal's text is not over the literal.
    #expect(
      try HostRules([HostRule("*.113.9x", endpoints: ["192.0.2.1"])]).match(HostName("203.0.113.9"), port: 443) == nil)
  }

  @Test("of ten thousand each is found, and nothing else")
  func many() throws {
    let rules = try HostRules(
      (0..<10_000).map { try HostRule("*.s\($0).example.com", endpoints: ["192.0.2.\($0 % 250)"]) })
    for number in stride(from: 0, to: 10_000, by: 7) {
      #expect(
        try rules.match(HostName("a.b.s\(number).example.com"), port: 443)?.pattern.description
          == "*.s\(number).example.com")
      #expect(try rules.match(HostName("s\(number).example.com"), port: 443) == nil)
    }
    #expect(try rules.match(HostName("a.s10000.example.com"), port: 443) == nil)
  }

  @Test("two for one pattern are a mistake, however it is written")
  func twice() throws {
    let error = #expect(throws: HostError.self) {
      try HostRules([
        HostRule("bücher.example"), HostRule("other.example"), HostRule(excluding: "XN--BCHER-KVA.example."),
      ])
    }
    #expect(error?.message.contains("entries 0 and 2") == true)
    _ = try HostRules([HostRule("a.example"), HostRule("a.example:443"), HostRule("*.a.example")])
  }

  @Test(
    "patterns that mean nothing are refused",
    arguments: [
      "", "*.", "a.*.example", "*a.example", "*.203.0.113.9", "a.example:0", "a.example:99999", "https://a.example",
    ])
  func badPatterns(text: String) {
    let error = #expect(throws: HostError.self) { try HostRule(text) }
    #expect(error?.code == .invalidName)
  }

  @Test("are replaced as a whole, while others look")
  func replacing() async throws {
    let lists = try (1...2).map { number in
      try HostRules([
        HostRule("a.example", endpoints: ["192.0.2.\(number)"]),
        HostRule("b.example", endpoints: ["192.0.2.\(number)"]),
      ])
    }
    let source = HostRuleSource(lists[0])
    let names = try (HostName("a.example"), HostName("b.example"))
    await withTaskGroup { group in
      group.addTask { for round in 0..<2_000 { source.replace(with: lists[round % 2]) } }
      group.addTask {
        for _ in 0..<2_000 {
          let rules = source.rules
          #expect(rules.match(names.0, port: 443)?.endpoints == rules.match(names.1, port: 443)?.endpoints)
        }
      }
    }
    source.replace(with: .none)
    #expect(source.match(names.0, port: 443) == nil)
  }
}
