import TestOrigin
import TestSupport
import Testing
import WaylayMocks

@Suite("URL patterns", .timeLimit(.minutes(10)))
struct URLPatternTests {
  /// A pattern, URLs it is for, and URLs it is not for.
  struct Row: Sendable, CustomTestStringConvertible {
    let pattern: String
    let matching: [String]
    let others: [String]
    var testDescription: String { pattern }
  }

  static let rows = [
    Row(
      pattern: "https://api.example.com/users",
      matching: [
        "https://api.example.com/users", "https://API.example.COM/users", "HTTPS://api.example.com:443/users",
        "https://api.example.com/users?page=2",
        "https://api.example.com/users#top", "https://ada:secret@api.example.com/users",
        "https://api.example.com./users",
      ],
      others: [
        "http://api.example.com/users", "https://api.example.com:8443/users", "https://example.com/users",
        "https://api.example.com/users/",
        "https://api.example.com/Users", "https://api.example.com/users/1", "https://api.example.com",
      ]),
    Row(
      pattern: "/users/:id",
      matching: ["https://api.example.com/users/42", "http://localhost:8080/users/ada", "https://a.b/users/a%2Fb"],
      others: [
        "https://api.example.com/users", "https://api.example.com/users/", "https://api.example.com/users/42/posts",
      ]),
    Row(
      pattern: "/users/:id(\\d+)", matching: ["https://a.b/users/42"],
      others: ["https://a.b/users/ada", "https://a.b/users/42a"]),
    Row(
      pattern: "/users/:id([a-z/]?x?)/posts?q=1", matching: ["https://a.b/users/ax/posts?q=1"],
      others: ["https://a.b/users/ax/posts", "https://a.b/users/12/posts?q=1"]),
    Row(
      pattern: "/files/:name.json", matching: ["https://a.b/files/users.json"],
      others: ["https://a.b/files/users.xml", "https://a.b/files/.json"]),
    Row(
      pattern: "/v1/*/posts", matching: ["https://a.b/v1/x/posts"],
      others: ["https://a.b/v1/posts", "https://a.b/v1//posts", "https://a.b/v1/x/y/posts"]),
    Row(
      pattern: "/v1/**", matching: ["https://a.b/v1", "https://a.b/v1/", "https://a.b/v1/x/y/z"],
      others: ["https://a.b/v2/x", "https://a.b/"]),
    Row(
      pattern: "/a/**/z", matching: ["https://a.b/a/z", "https://a.b/a/b/z", "https://a.b/a/z/z"],
      others: ["https://a.b/a", "https://a.b/a/z/y"]),
    Row(
      pattern: "/img-*.png", matching: ["https://a.b/img-1.png", "https://a.b/img-.png"],
      others: ["https://a.b/img-1.jpg", "https://a.b/x/img-1.png"]),
    Row(pattern: "/jobs/7:run", matching: ["https://a.b/jobs/7:run"], others: ["https://a.b/jobs/7"]),
    Row(pattern: "/jobs/:id:run", matching: ["https://a.b/jobs/7:run"], others: ["https://a.b/jobs/7:stop"]),
    Row(pattern: "/%2A/%3Aid", matching: ["https://a.b/*/:id"], others: ["https://a.b/x/42"]),
    Row(
      pattern: "https://*.example.com/",
      matching: ["https://api.example.com/", "https://a.b.example.com", "https://API.EXAMPLE.com/"],
      others: ["https://example.com/", "https://badexample.com/"]),
    Row(
      pattern: "https://api-*.example.com", matching: ["https://api-7.example.com/"],
      others: ["https://api.example.com/", "https://api-7.x.example.com/"]),
    Row(
      pattern: "*://*/health", matching: ["https://a.b/health", "http://a.b/health", "https://a.b:9/health"],
      others: ["https://a.b/status"]
    ),
    Row(
      pattern: "http://localhost:8080/x", matching: ["http://localhost:8080/x"],
      others: ["http://localhost/x", "http://localhost:8081/x"]),
    Row(
      pattern: "http://localhost:*/x", matching: ["http://localhost:8080/x", "http://localhost/x"],
      others: ["http://other:8080/x"]),
    Row(
      pattern: "http://a.b:80/x", matching: ["http://a.b/x", "http://a.b:80/x"],
      others: ["http://a.b:8080/x", "https://a.b/x"]),
    Row(
      pattern: "api.example.com/x", matching: ["https://api.example.com/x", "http://api.example.com/x"],
      others: ["https://api.example.com:8443/x"]),
    Row(
      pattern: "http://[::1]:8080/x", matching: ["http://[::1]:8080/x"],
      others: ["http://[::2]:8080/x", "http://[::1]/x"]),
    Row(
      pattern: "https://bücher.example/käse",
      matching: [
        "https://xn--bcher-kva.example/k%C3%A4se", "https://XN--BCHER-KVA.example/k%c3%a4se",
        "https://xn--bcher-kva.example/ka%CC%88se",
      ], others: ["https://xn--bcher-kva.example/kase", "https://bucher.example/k%C3%A4se"]),
    Row(
      pattern: "https://xn--bcher-kva.example/%7Eada", matching: ["https://xn--bcher-kva.example/~ada"],
      others: ["https://xn--bcher-kva.example/ada"]),
    Row(pattern: "/a b/100%", matching: ["https://a.b/a%20b/100%25"], others: ["https://a.b/a+b/100%25"]),
    Row(
      pattern: "/s?b=2&a=1", matching: ["https://a.b/s?a=1&b=2", "https://a.b/s?b=2&a=1", "https://a.b/s?%61=1&b=%32"],
      others: ["https://a.b/s", "https://a.b/s?a=1", "https://a.b/s?a=1&b=2&c=3", "https://a.b/s?a=1&b=2&a=1"]),
    Row(
      pattern: "/s?a=1&a=2", matching: ["https://a.b/s?a=1&a=2"],
      others: ["https://a.b/s?a=2&a=1", "https://a.b/s?a=1"]),
    Row(pattern: "/s?flag", matching: ["https://a.b/s?flag"], others: ["https://a.b/s?flag=", "https://a.b/s?flag=1"]),
    Row(
      pattern: "/s?flag=", matching: ["https://a.b/s?flag="], others: ["https://a.b/s?flag", "https://a.b/s?flag=1"]),
    Row(
      pattern: "/s?page=*", matching: ["https://a.b/s?page=7", "https://a.b/s?page="],
      others: ["https://a.b/s", "https://a.b/s?page=7&x=1"]),
    Row(pattern: "/s?", matching: ["https://a.b/s", "https://a.b/s?"], others: ["https://a.b/s?a=1"]),
    Row(pattern: "?a=1", matching: ["https://a.b/?a=1", "https://x.y/z?a=1"], others: ["https://a.b/"]),
    Row(
      pattern: "/**/a/:x/**/b*c*/**/z", matching: ["https://a.b/a/a/b/bxc/z", "https://a.b/q/a/a/b/bb/b1c2c/z/y/z"],
      others: ["https://a.b/a/b/bxc/y/z/y", "https://a.b/a/z"]),
    // These take exponential time, or all of the stack, if each star tries each length.
    Row(
      pattern: String(repeating: "/**/a", count: 20) + "/zz", matching: [],
      others: ["https://a.b" + String(repeating: "/a", count: 60)]),
    Row(pattern: String(repeating: "/**", count: 20_000) + "/zz", matching: ["https://a.b/zz"], others: []),
    Row(
      pattern: "/" + String(repeating: "*a", count: 20) + "*b", matching: [],
      others: ["https://a.b/" + String(repeating: "a", count: 60)]),
    Row(pattern: "/**", matching: ["https://a.b/", "https://a.b", "https://a.b/x"], others: []),
    Row(pattern: "**", matching: ["https://a.b/", "http://localhost:8080/x/y?z"], others: []),
    Row(pattern: "/", matching: ["https://a.b/", "https://a.b"], others: ["https://a.b/x", "https://a.b//"]),
    Row(pattern: "/(a)/b", matching: ["https://a.b/(a)/b"], others: ["https://a.b/a/b"]),
  ]

  @Test("A pattern is for these URLs, and not for those", arguments: rows)
  func matching(_ row: Row) async throws {
    for url in row.matching {
      let found = try await Stub(row.pattern).matches(.get(url))
      #expect(found, "\(row.pattern) should match \(url)")
      let inHistory = try await RequestPattern(row.pattern).matches(.get(url))
      #expect(inHistory, "\(row.pattern) should find \(url) in the history")
    }
    for url in row.others {
      let found = try await Stub(row.pattern).matches(.get(url))
      #expect(!found, "\(row.pattern) should not match \(url)")
      let inHistory = try await RequestPattern(row.pattern).matches(.get(url))
      #expect(!inHistory, "\(row.pattern) should not find \(url) in the history")
    }
  }

  @Test("A URL is taken literally, with its query exactly")
  func literal() async throws {
    let url = try #require(URL(string: "https://api.example.com/:id/*?q=*"))
    let stub = Stub(.get, url)
    let same = try await stub.matches(URLRequest(url: url))
    let star = try await stub.matches(.get("https://api.example.com/42/x?q=1"))
    let noQuery = try await stub.matches(.get("https://api.example.com/:id/*"))
    #expect(same)
    #expect(!star)
    #expect(!noQuery)
  }

  @Test("A regular expression looks at the URL as text, and its named groups become parameters")
  func regex() async throws {
    let mock = MockInterceptor {
      Stub(.get, .regex(#"^https://[a-z]+\.example\.com/v(?<version>\d+)/"#)) { request in
        .text(request.parameters["version"] ?? "none")
      }
    }
    #expect(try await mock.text("GET", "https://api.example.com/v12/users") == "12")
    await #expect(throws: URLError.self) { try await mock.text("GET", "https://api.example.org/v12/users") }
  }

  @Test("Names become parameters, decoded")
  func parameters() async throws {
    let mock = MockInterceptor {
      Stub(.get, "/users/:user_id/files/:name(.+).txt/**/end/*") { request in
        .text(request.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&"))
      }
    }
    #expect(try await mock.text("GET", "https://a.b/users/a%20b/files/x.y.txt/1/2/end/z") == "name=x.y&user_id=a b")
  }

  @Test(
    "What cannot be parsed is an issue at the stub's line, matches nothing and traps nothing",
    arguments: [
      ("", "empty"), ("users/:id", "begin a path with a slash"), ("https://", "no host"),
      ("ht tp://a.b/", "not a valid scheme"),
      ("http://a.b:99999/", "not a valid port"),
      ("http://a.b:x/", "not a valid port"), ("/:id/:id", "twice"), ("/:id(\\d+", "not closed"),
      ("/:id([)", "regular expression"),
      ("/s?=1", "without a name"),
      ("http://a b/", "host"),
    ])
  func mistakes(_ pattern: String, _ reason: String) async throws {
    let line: UInt = #line + 1
    let mock = MockInterceptor(.init(unmatched: .status(501))) { Stub(.get, pattern, .status(200)) }
    let issue = try #require(mock.issues.first)
    #expect(issue.kind == .invalidStub)
    #expect(issue.message.contains(reason), "\(issue.message)")
    #expect(issue.location.line == line)
    #expect("\(issue.location.fileID)".hasSuffix("URLPatternTests.swift"))
    let status = try await mock.ask(.get("https://a.b/")).status
    #expect(status.code == 501)
  }

  @Test("Every text can be a pattern, and every URL can meet it", .heavy, arguments: 0..<200)
  func noTraps(_ seed: Int) async throws {
    var random = SplitMix(state: UInt64(seed))
    let letters = Array(#"/:*?&=%#()[]{}\.@+-|^$abXx09é💥 "#)
    func text(_ length: Int) -> String {
      String((0..<length).map { _ in letters[Int(random.next() % UInt64(letters.count))] })
    }
    for _ in 0..<Sizes.of(20, small: 4) {
      let pattern = text(Int(random.next() % 24))
      guard
        let url = URL(
          string: "https://xn--" + text(3).filter(\.isLetter) + ".example/"
            + (text(12).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""))
      else { continue }
      _ = try await Stub(pattern).matches(URLRequest(url: url))
      _ = try await Stub(.regex(pattern)).matches(URLRequest(url: url))
    }
  }

  @Test("an expression that would take for ever matches nothing, and one that takes long by its text's length does")
  func endless() async throws {
    let url = try #require(URL(string: "https://a.b/" + String(repeating: "a", count: 60)))
    for expression in ["(a+)+$X", "(a|aa)*$X", "(.*)*X"] {
      #expect(try await !Stub(.regex(expression)).matches(URLRequest(url: url)))
    }
    #expect(try await !Stub("/:id((a+)+X)").matches(URLRequest(url: url)))
    #expect(try await Stub(.regex("a+$")).matches(URLRequest(url: url)))
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = Data((String(repeating: "a", count: 1 << 20) + "z").utf8)
    #expect(try await Stub("*").where(.body(.regex("az$"))).matches(request))
  }

  @Test("a parameter in braces is a mistake that says how it is written")
  func braces() throws {
    let issue = try #require(MockInterceptor { Stub(.get, "/users/{id}/posts", .status(200)) }.issues.first)
    #expect(issue.kind == .invalidStub)
    #expect(issue.message.contains("write \":id\""))
  }
}
