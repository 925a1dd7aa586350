#if CommandLineTool
  import Foundation
  import TestSupport
  import Testing
  import WaylayHosts

  /// `waylay hosts`.
  @Suite("waylay hosts", .heavy, .timeLimit(.minutes(10)))
  struct HostsCommandTests {
    private static let rules =
      #"{"rules":[{"host":"api.example.com","addresses":["203.0.113.7"]},{"host":"*.example.com","exclude":true}]}"#

    /// Keys as OpenSSL writes them (RFC 8410, section 10).
    private static let privatePEM = """
      -----BEGIN PRIVATE KEY-----
      MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
      -----END PRIVATE KEY-----

      """
    private static let publicPEM = """
      -----BEGIN PUBLIC KEY-----
      MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
      -----END PUBLIC KEY-----

      """

    @Test("a list that is signed here is one that an app takes, and nobody else's key makes it good")
    func signing() async throws {
      try await Tool.with { waylay in
        try waylay.write(Self.rules, to: "rules.json")
        try waylay.write(Self.privatePEM, to: "private.pem")
        try waylay.write(Self.publicPEM, to: "public.pem")
        let signed = try await waylay(
          "hosts", "sign", "/./rules.json", "--key", "2026=/./private.pem", "--serial", "7", "--expires", "2099-01-31",
          "-o", "/./list")
        #expect(signed.code == 0, "\(signed)")
        let key = try HostListKey("2026", base64: "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=")
        #expect(try SignedHostList(Data(contentsOf: waylay.file("list")), keys: [key]).rules.rules.count == 2)
        let good = try await waylay("hosts", "check", "/./list", "--key", "2026=/./public.pem", "--json").json
        #expect(
          good["serial"] as? Int == 7 && good["isSigned"] as? Bool == true && good["isExpired"] as? Bool == false,
          "\(good)")
        try key.publicKey.write(to: waylay.file("raw"))
        #expect(try await waylay("hosts", "check", "/./list", "--key", "2026=/./raw").code == 0)
        let other = try HostListSigner.random("2026").key.publicKey.base64EncodedString()
        try waylay.write(other, to: "other")
        let forged = try await waylay("hosts", "check", "/./list", "--key", "2026=/./other")
        #expect(forged.code == 1 && forged.errors.contains("no trusted key"), "\(forged)")
        #expect(try await waylay("hosts", "check", "/./list").code == 64)
        #expect(try await waylay("hosts", "check", "/./list", "--key", "2026=/./rules.json").code == 4)
        // Not twice, and never the private key.
        let again = try await waylay(
          "hosts", "sign", "/./rules.json", "--key", "2026=/./private.pem", "--serial", "8", "--expires", "2099-01-31",
          "-o", "/./list")
        #expect(again.code == 4 && again.errors.contains("--force"), "\(again)")
        let old = try await waylay(
          "hosts", "sign", "/./rules.json", "--key", "2026=/./private.pem", "--serial", "8", "--expires", "2001-01-31",
          "-o", "/./old")
        #expect(old.code == 0)
        #expect(try await waylay("hosts", "check", "/./old", "--key", "2026=/./public.pem").code == 1)
      }
    }

    @Test("check says what is wrong with a list, whatever it is made of")
    func wrong() async throws {
      try await Tool.with { waylay in
        try waylay.write(Self.rules, to: "good.json")
        #expect(try await waylay("hosts", "check", "/./good.json").output.contains("2 rules, not signed."))
        for (name, text) in [
          ("typo", #"{"rules":[{"host":"a.example.com","adresses":[]}]}"#),
          ("name", #"{"rules":[{"host":"https://a"}]}"#), ("none", "[]"),
          ("noise", "\u{0}\u{1}{{{"), ("deep", String(repeating: "[", count: 200_000)),
          ("payload", #"{"payload":1,"signatures":2}"#),
        ] {
          try waylay.write(text, to: name)
          let end = try await waylay("hosts", "check", "/./\(name)")
          #expect([1, 64].contains(end.code) && !end.errors.isEmpty, "\(name): \(end)")
        }
        #expect(try await waylay("hosts", "check", "/./missing").code == 4)
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
