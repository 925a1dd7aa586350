import Foundation
import Testing
import WaylayCore

@Suite("A chain's scope", .timeLimit(.minutes(5)))
struct ScopeTests {
  private func covers(_ scope: InterceptorChain.Scope, _ url: String) -> Bool {
    scope.covers(URL(string: url)!)
  }

  @Test("hosts: exact in any case, wildcards below, ports, IPv6")
  func hosts() {
    let exact = InterceptorChain.Scope.host("API.example.com")
    #expect(covers(exact, "https://api.EXAMPLE.com/x"))
    #expect(covers(exact, "http://api.example.com:8080/"))
    #expect(covers(exact, "http://api.example.com./"))
    #expect(!covers(exact, "http://www.api.example.com/"))
    #expect(!covers(exact, "ftp://api.example.com/"))
    let wildcard = InterceptorChain.Scope.host("*.example.com")
    #expect(covers(wildcard, "http://a.b.example.com/"))
    #expect(!covers(wildcard, "http://example.com/"))
    #expect(!covers(wildcard, "http://badexample.com/"))
    let port = InterceptorChain.Scope.host("example.com:443", "other.com:8080")
    #expect(covers(port, "https://example.com/"))
    #expect(!covers(port, "http://example.com/"))
    #expect(covers(port, "http://other.com:8080/"))
    #expect(covers(.host("[::1]:8080"), "http://[::1]:8080/"))
    #expect(covers(.host("::1"), "http://[::1]:9000/"))
  }

  @Test("paths: literal, one segment, everything below")
  func paths() {
    let scope = InterceptorChain.Scope.path("/v1/**", "/users/*/avatar")
    #expect(covers(scope, "http://x.com/v1"))
    #expect(covers(scope, "http://x.com/v1/a/b"))
    #expect(covers(scope, "http://x.com/users/7/avatar"))
    #expect(!covers(scope, "http://x.com/users/7/8/avatar"))
    #expect(!covers(scope, "http://x.com/v10"))
    #expect(covers(.path("/**/end"), "http://x.com/a/b/end"))
    #expect(!covers(.path("/**/end"), "http://x.com/a/b/end/c"))
    #expect(covers(.path("/"), "http://x.com"))
  }

  @Test(
    "paths that are none cover nothing, and are told with what to write",
    arguments: ["/v1*", "/img-*.png", "/a/***", "https://x.com/v1", "/v1?page=2"])
  func badPaths(path: String) throws {
    let scope = InterceptorChain.Scope.path(path)
    for url in ["http://x.com/v1", "http://x.com/v1*", "http://x.com/", "http://x.com/img-1.png"] {
      #expect(!covers(scope, url))
    }
    let problem = try #require(scope.problems.first)
    #expect(scope.problems.count == 1 && problem.code == .invalidPath)
    #expect(problem.message.contains("\"*\" matches one whole segment") || problem.message.contains("leave out"))
    let good = InterceptorChain.Scope.path("/v1/**").excludingPath(path)
    #expect(covers(good, "http://x.com/v1/a") && good.problems.count == 1)
  }

  @Test("schemes, exclusions and their combination")
  func combined() {
    #expect(covers(.https, "https://x.com/"))
    #expect(!covers(.https, "http://x.com/"))
    #expect(covers(.scheme("app"), "APP://x/"))
    #expect(!covers(.any, "wss://x.com/"))
    let scope = InterceptorChain.Scope.http.host("*.example.com").excludingHost("static.example.com").excludingPath(
      "/health")
    #expect(covers(scope, "http://api.example.com/"))
    #expect(!covers(scope, "http://static.example.com/"))
    #expect(!covers(scope, "http://api.example.com/health"))
  }

  @Test("of many chains the newest that covers wins, whether its hosts are listed or not")
  func index() async throws {
    let registry = InterceptorRegistry()
    for number in 0..<50 {
      registry.register(
        InterceptorChain("host \(number)", for: .host("h\(number).example.com")) { Link.answer("host \(number)") })
      registry.register(
        InterceptorChain("wild \(number)", for: .host("*.w\(number).example.com")) { Link.answer("wild \(number)") })
    }
    func answer(_ host: String) async throws -> String {
      String(
        decoding: try await registry.data(for: URLRequest(url: #require(URL(string: "http://\(host)/")))).0,
        as: UTF8.self)
    }
    #expect(try await answer("h17.example.com") == "host 17")
    #expect(try await answer("a.w31.example.com") == "wild 31")
    registry.register(InterceptorChain("late", for: .host("*.example.com")) { Link.answer("late") })
    #expect(try await answer("h17.example.com") == "late")
    registry.register(InterceptorChain("later", for: .host("h17.example.com")) { Link.answer("later") })
    #expect(try await answer("h17.example.com") == "later")
  }
}
