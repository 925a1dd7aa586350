import TestOrigin
import Testing
import WaylayCore

@Suite("Names of hosts", .timeLimit(.minutes(5)))
struct HostNameTests {
  @Test(
    "have one form: lower case, A-labels, no final dot",
    arguments: [
      ("api.example.com", "api.example.com"), ("API.Example.COM", "api.example.com"),
      ("api.example.com.", "api.example.com"),
      ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.Example.", "xn--bcher-kva.example"),
      ("XN--BCHER-KVA.example", "xn--bcher-kva.example"), ("日本語。jp", "xn--wgv71a119e.jp"),
      ("_sip.a-b.test", "_sip.a-b.test"),
      ("localhost", "localhost"), ("1password.com", "1password.com"), ("a.0xg", "a.0xg"),
    ])
  func folding(text: String, expected: String) throws {
    let name = try HostName(text)
    #expect(name.description == expected && !name.isAddress)
    #expect(try HostName(expected) == name)
  }

  @Test("are the ones that a URL has", arguments: ["Bücher.test", "API.example.com", "ａｐｉ.test", "e\u{301}.test"])
  func url(text: String) throws {
    let host = try #require(URL(string: "http://\(text)/")?.host)
    #expect(try HostName(host) == HostName(text))
  }

  @Test(
    "that are none are refused",
    arguments: [
      "-", "a.-.test", "1.2.3.4.5", "256.1.1.1", "example.123", "http://example.test",
      "", ".", "..", "a..b", ".a", "a b", "a/b", "a@b", "a:80", "a%41", "ü/@evil.test", "ü:80", "ü#", "*.example.com",
      "a\u{0}b", "[::1",
      "a\nb",
      String(repeating: "a", count: 64) + ".test",
      Array(repeating: "abcdefg", count: 32).joined(separator: ".") + ".ab",
    ])
  func refused(text: String) {
    let error = #expect(throws: WaylayError.self) { try HostName(text) }
    #expect(error?.code == .invalidHost)
  }

  @Test(
    "are addresses where systems take them for such",
    arguments: ["127.0.0.1", "127.1", "0x7f000001", "2130706433", "[::1]", "2001:DB8::7", "1.2.3.0x4"])
  func addresses(text: String) throws {
    #expect(try HostName(text).isAddress)
  }

  @Test("are local without a dot, and below the domains that are")
  func local() throws {
    for text in ["intranet", "printer.local", "a.localhost", "x.home.arpa", "db.internal"] {
      #expect(try HostName(text).isLocal)
    }
    for text in ["api.example.com", "notlocal.com", "mylocal.xlocal", "127.0.0.1"] {
      #expect(try !HostName(text).isLocal)
    }
  }

  @Test("of random letters are folded to what folds to itself, or refused", arguments: 0..<40 as Range<UInt64>)
  func property(seed: UInt64) throws {
    var random = SplitMix(state: seed)
    let letters = Array("aZ09-_.:%/@[]*üß日\u{200D}\u{AD}\u{3002} x")
    for _ in 0..<50 {
      let text = String(
        (0..<Int.random(in: 0...12, using: &random)).map { _ in letters.randomElement(using: &random) ?? "a" })
      guard let name = try? HostName(text) else { continue }
      #expect(try HostName(name.description) == name)
      // A final dot changes nothing, where there is none yet in any of its forms.
      guard !name.isAddress, !text.hasSuffix("."), !text.contains("\u{3002}") else { continue }
      #expect(try HostName(text + ".") == name)
    }
  }
}

@Suite("Addresses", .timeLimit(.minutes(5)))
struct HostAddressTests {
  @Test(
    "have one text (RFC 5952)",
    arguments: [
      ("203.0.113.7", "203.0.113.7"), ("2001:DB8:0:0:0:0:0:7", "2001:db8::7"), ("::", "::"), ("::1", "::1"),
      ("1::", "1::"),
      ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
      ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
      ("[2001:db8::7]", "2001:db8::7"), ("::ffff:203.0.113.7", "203.0.113.7"), ("::FFFF:cb00:7107", "203.0.113.7"),
    ])
  func text(text: String, expected: String) throws {
    let address = try HostAddress(text)
    #expect(address.literal == expected)
    #expect(HostAddress(bytes: address.bytes) == address)
    #expect(try Route(address.literal).address == expected)
  }

  @Test(
    "that are none are refused",
    arguments: [
      "", "127.1", "256.1.1.1", "01.2.3.4", "1.2.3.4.", "fe80::1%eth0", "[1.2.3.4]", "[::1", "::1]", ":::",
      "example.com", "1.2.3.4:80",
    ])
  func refused(text: String) {
    #expect(throws: WaylayError.self) { try HostAddress(text) }
  }
}
