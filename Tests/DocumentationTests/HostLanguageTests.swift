import Foundation
import Testing
import Waylay

@Suite("One text for a host", .timeLimit(.minutes(5)))
struct HostLanguageTests {
  @Test(
    "means the same in a scope, a rule and a stub",
    arguments: [
      ("api.example.com", "https://api.example.com/", true), ("API.Example.com.", "https://api.example.com/", true),
      ("api.example.com", "https://API.example.COM./", true),
      ("api.example.com", "https://www.api.example.com/", false),
      ("*.example.com", "https://a.b.example.com/", true), ("*.example.com", "https://example.com/", false),
      ("*.example.com", "https://badexample.com/", false), ("*", "https://api.example.com/", true),
      ("bücher.example", "https://xn--bcher-kva.example/", true),
      ("XN--BCHER-KVA.example", "https://b%C3%BCcher.example/", true),
      ("203.0.113.9", "https://203.0.113.9/", true), ("203.0.113.9", "https://203.0.113.90/", false),
      ("[2001:db8::9]", "https://[2001:DB8:0::9]/", true), ("[2001:DB8::9]:8443", "https://[2001:db8::9]:8443/", true),
      ("a.example:8443", "https://a.example:8443/", true), ("a.example:8443", "https://a.example/", false),
      ("*.a.example:8443", "https://b.a.example:8443/", true),
    ])
  func same(text: String, url: String, isMeant: Bool) async throws {
    let url = try #require(URL(string: url))
    let name = try HostName(#require(url.host))
    #expect(try HostPattern(text).matches(url) == isMeant)
    #expect(InterceptorChain.Scope.host(text).covers(url) == isMeant)
    #expect((try HostRules([HostRule(text)]).match(name, port: url.port ?? 443) != nil) == isMeant)
    let mock = MockInterceptor {
      Stub(.get, .any, .text("another"))
      Stub(.get, "https://\(text)/", .text("meant"))
    }
    let (data, _) = try await InterceptorRegistry { mock }.data(for: URLRequest(url: url))
    #expect((String(decoding: data, as: UTF8.self) == "meant") == isMeant)
  }

  @Test("that is none is refused by each", arguments: ["a..example", "*.203.0.113.9", "[::1", "a.example:99999"])
  func refused(text: String) {
    #expect(throws: WaylayError.self) { try HostPattern(text) }
    #expect(throws: HostError.self) { try HostRule(text) }
    #expect(InterceptorChain.Scope.host(text).problems.count == 1)
    #expect(URLPattern("https://\(text)/").problem != nil)
  }
}
