import Foundation
import TestSupport
import Testing
import WaylayHosts

@Suite("A JSON list of rules", .heavy, .timeLimit(.minutes(10)))
struct RuleListTests {
  @Test("gives rules with addresses, rules that ask the resolver, and exclusions")
  func rules() throws {
    let rules = try HostRules(
      json: Data(
        #"""
        {"version": 3, "rules": [
          {"host": "API.example.com", "addresses": ["203.0.113.7", "[2001:db8::7]:8443"]},
          {"host": "*.example.com"},
          {"host": "legacy.example.com", "exclude": true}
        ]}
        """#.utf8))
    let api = try #require(rules.match(HostName("api.example.com"), port: 443))
    #expect(api.endpoints.map(\.description) == ["203.0.113.7", "[2001:db8::7]:8443"])
    let other = try #require(rules.match(HostName("www.example.com"), port: 443))
    #expect(other.endpoints.isEmpty && !other.isExclusion)
    #expect(try rules.match(HostName("legacy.example.com"), port: 443)?.isExclusion == true)
  }

  @Test(
    "names the entry that is wrong, and what is wrong with it",
    arguments: [
      (#"{"rules": [{"host": "a.example"}, {"hosts": "b.example"}]}"#, "entry 1 has no \"host\""),
      (
        #"{"rules": [{"host": "a.example"}, {"host": "b.example", "exlude": true}]}"#,
        "entry 1 (\"b.example\"): \"exlude\" is unknown"
      ),
      (#"{"rules": [{"host": "a.example", "addresses": ["203.0.113.300"]}]}"#, "entry 0 (\"a.example\"): "),
      (
        #"{"rules": [{"host": "a.example", "addresses": "203.0.113.3"}]}"#,
        "entry 0 (\"a.example\"): \"addresses\" must be an array of strings"
      ),
      (#"{"rules": [{"host": "a.example", "exclude": "yes"}]}"#, "\"exclude\" must be true or false"),
      (#"{"rules": [{"host": "a.example", "exclude": 1}]}"#, "\"exclude\" must be true or false"),
      (#"{"rules": [{"host": "a.example", "exclude": 0}]}"#, "\"exclude\" must be true or false"),
      (
        #"{"rules": [{"host": "a.example", "exclude": true, "addresses": ["203.0.113.3"]}]}"#,
        "an excluded host has no addresses"
      ),
      (#"{"rules": [{"host": "a b.example"}]}"#, "entry 0 (\"a b.example\"): "),
      (#"{"rules": [{"host": "a.example"}, {"host": "A.example."}]}"#, "entries 0 and 1 are both for \"a.example\""),
      (#"{"rules": ["a.example"]}"#, "entry 0 is not an object"),
      (#"{"rules": {}}"#, "\"rules\" is missing, or is not an array"),
      (#"["a.example"]"#, "not a JSON object"),
      ("{\"rules\": [\n  tru\n]}", "not JSON: line 2, column 3: expected true"),
      ("", "not JSON"),
    ])
  func mistakes(text: String, message: String) {
    let error = #expect(throws: HostError.self) { try HostRules(json: Data(text.utf8)) }
    #expect(error?.code == .invalidRule)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test("that was damaged anywhere is read or refused, and never ends the process")
  func damage() throws {
    let good = Data(
      #"{"rules": [{"host": "api.example.com", "addresses": ["203.0.113.7"]}, {"host": "*.x.example:1", "exclude": true}]}"#
        .utf8)
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      var damaged = good
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
      }
      do {
        _ = try HostRules(json: damaged.prefix(Int.random(in: 0...damaged.count, using: &random)))
      } catch is HostError {}
    }
  }
}
