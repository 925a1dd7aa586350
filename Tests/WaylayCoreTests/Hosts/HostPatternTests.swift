import Foundation
import TestOrigin
import Testing
import WaylayCore

@Suite("Patterns of hosts", .timeLimit(.minutes(5)))
struct HostPatternTests {
  @Test(
    "are written as they are read",
    arguments: [
      "a.example", "*.a.example", "a.example:8443", "*", "*:80", "203.0.113.9", "2001:db8::9", "[2001:db8::9]:80",
    ])
  func description(text: String) throws {
    #expect(try HostPattern(text).description == text)
  }

  @Test(
    "have one form for what is the same",
    arguments: [
      ("API.Example.COM.", "api.example.com"), ("bücher.example", "XN--BCHER-KVA.example"),
      ("*.BÜCHER.example.", "*.xn--bcher-kva.example"),
      ("[::1]", "::1"), ("[0:0::1]:80", "[::1]:80"), ("::ffff:192.0.2.1", "192.0.2.1"),
      ("日本語。jp:1", "xn--wgv71a119e.jp:1"),
    ])
  func folding(text: String, other: String) throws {
    #expect(try HostPattern(text) == HostPattern(other))
  }

  @Test(
    "match what they name and nothing else",
    arguments: [
      ("api.example.com", "https://API.example.com./x", true),
      ("api.example.com", "http://api.example.com:8080/", true),
      ("api.example.com", "http://www.api.example.com/", false),
      ("api.example.com", "http://api.example.com.evil.test/", false),
      ("api.example.com", "http://api.example.com@evil.test/", false),
      ("api.example.com", "http://evil.test/#api.example.com", false),
      ("*.example.com", "http://a.b.example.com/", true), ("*.example.com", "http://example.com/", false),
      ("*.example.com", "http://badexample.com/", false), ("*.example.com", "http://a..example.com/", true),
      ("*.example.com", "http://example.com.evil.test/", false),
      ("a.test:443", "https://a.test/", true), ("a.test:443", "http://a.test/", false),
      ("a.test:80", "http://a.test:80/", true),
      ("a.test:8443", "https://a.test/", false), ("a.test:443", "other://a.test/", false),
      ("[::1]:8080", "http://[::1]:8080/", true), ("::1", "http://[0:0:0::1]:9000/", true),
      ("::1", "http://[::2]/", false),
      ("192.0.2.1", "http://[::ffff:192.0.2.1]/", true), ("192.0.2.1", "http://192.0.2.10/", false),
      ("bücher.example", "http://xn--bcher-kva.example/", true),
      ("xn--bcher-kva.example", "http://b%C3%BCcher.example/", true),
      ("ＡＰＩ.test", "http://api.test/", true), ("example.com", "http://EXA%6Dple.com/", true),
      ("*", "http://localhost/", true), ("*", "http://192.0.2.1/", true), ("*", "http://[::1]/", true),
      ("*:80", "http://a.test/", true),
      ("*:80", "https://a.test/", false), ("*", "file:///a", false), ("*", "data:,x", false),
      ("a_b.test", "http://a_b.test/", true),
    ])
  func matching(text: String, url: String, isMatched: Bool) throws {
    #expect(try HostPattern(text).matches(#require(URL(string: url))) == isMatched)
  }

  @Test(
    "that mean nothing are refused, and say why",
    arguments: [
      "", ".", "*.", "**", "a.*.example", "*a.example", "a*.example", "*.*.example", "*.203.0.113.9", "*.[::1]",
      "*.127.1", "*.::1",
      "a.example:0", "a.example:65536", "a.example:99999999999999999999", "a.example:-1", "a.example:+80",
      "a.example:8 0", "a.example:",
      "a.example:８０", ":80", "*:", "*:x", "[::1]:", "[::1", "::1]", "[::1]x", "[::1]:80:80", "[a.example]:80",
      "::1%eth0",
      "[fe80::1%25eth0]",
      "https://a.example", "https://a.example/x?y#z", "a.example/", "user@a.example", "a..example", "a b", "a\u{0}b",
      "a\u{202E}b.test\u{0}", "1.2.3.4.5",
      "%2A.example", "a%2Eexample",
    ])
  func refused(text: String) {
    let error = #expect(throws: WaylayError.self) { try HostPattern(text) }
    #expect(error?.code == .invalidHost && error?.message.isEmpty == false)
    #expect(!InterceptorChain.Scope.host(text).covers(URL(string: "https://a.example/")!))
  }

  @Test("with a URL's scheme tell what to write instead")
  func hint() {
    let error = #expect(throws: WaylayError.self) { try HostPattern("https://api.example.com/v1") }
    #expect(error?.message.contains("\"api.example.com\"") == true)
  }

  @Test("of random text are read again as they were, or refused", arguments: 0..<40 as Range<UInt64>)
  func property(seed: UInt64) throws {
    var random = SplitMix(state: seed)
    let letters = Array("aZ09-_.:%/@[]*üß日\u{200D}\u{AD}\u{3002} x")
    for _ in 0..<100 {
      let text = String(
        (0..<Int.random(in: 0...14, using: &random)).map { _ in letters.randomElement(using: &random) ?? "a" })
      guard let pattern = try? HostPattern(text) else { continue }
      #expect(try HostPattern(pattern.description) == pattern, "\(text)")
      guard !pattern.isWildcard, let name = pattern.name else { continue }
      let host = name.description.contains(":") ? "[\(name)]" : name.description
      let port = pattern.port.map { ":\($0)" } ?? ""
      #expect(pattern.matches(try #require(URL(string: "http://\(host)\(port)/"))), "\(text)")
    }
  }

  @Test("that a scope cannot read cover nothing, are told, and widen nothing")
  func scopes() {
    let scope = InterceptorChain.Scope.host("*.127.0.0.1", "a..test").excludingHost("b.test:0")
    #expect(scope.problems.count == 3)
    for host in ["a.test", "127.0.0.1", "b.test"] { #expect(!scope.covers(URL(string: "http://\(host)/")!)) }
    let some = InterceptorChain.Scope.host("a.test", "*.127.0.0.1")
    #expect(some.covers(URL(string: "http://a.test/")!) && some.problems.count == 1)
    #expect(InterceptorChain.Scope.host("*").problems.isEmpty)
  }
}
