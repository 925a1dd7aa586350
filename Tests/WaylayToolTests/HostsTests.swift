#if CommandLineTool
  import Foundation
  import TestSupport
  import Testing

  /// `waylay hosts`.
  @Suite("waylay hosts", .heavy, .timeLimit(.minutes(10)))
  struct HostsCommandTests {
    private static let rules =
      #"{"rules":[{"host":"api.example.com","addresses":["203.0.113.7"]},{"host":"*.example.com","exclude":true}]}"#

    @Test("explain says what is wrong with a list, whatever it is made of")
    func wrong() async throws {
      try await Tool.with { waylay in
        for (name, text) in [
          ("typo", #"{"rules":[{"host":"a.example.com","adresses":[]}]}"#),
          ("name", #"{"rules":[{"host":"https://a"}]}"#), ("none", "[]"),
          ("noise", "\u{0}\u{1}{{{"), ("deep", String(repeating: "[", count: 200_000)),
        ] {
          try waylay.write(text, to: name)
          let end = try await waylay("hosts", "explain", "https://a.test/", "--list", "/./\(name)")
          #expect(end.code == 1 && !end.errors.isEmpty, "\(name): \(end)")
        }
        #expect(try await waylay("hosts", "explain", "https://a.test/", "--list", "/./missing").code == 4)
      }
    }

    @Test("explain says which rule a URL falls under, and where its request would go")
    func explaining() async throws {
      try await Tool.with { waylay in
        try waylay.write(Self.rules, to: "rules.json")
        let routed = try await waylay(
          "hosts", "explain", "https://api.example.com/a", "--list", "/./rules.json", "--json"
        ).json
        let candidates = routed["candidates"] as? [[String: Any]] ?? []
        #expect(candidates.first?["address"] as? String == "203.0.113.7:443", "\(routed)")
        let alone = try await waylay("hosts", "explain", "https://www.example.com/", "--list", "/./rules.json")
        #expect(alone.code == 0 && alone.output.contains("left alone"), "\(alone)")
        let route = try await waylay("hosts", "explain", "https://a.test/", "--route", "a.test=[2001:db8::7]:8443")
        #expect(route.output.contains("[2001:db8::7]:8443"), "\(route)")
        #expect(try await waylay("hosts", "explain", "https://a.test/").code == 64)
      }
    }
  }
#endif
