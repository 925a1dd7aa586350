import TestSupport
import Testing
import WaylayMocks

@Suite("Why nothing matched", .timeLimit(.minutes(5)))
struct MissTests {
  /// What a mock says of a request that it has no stub for.
  private func report(
    _ request: URLRequest, @StubBuilder _ stubs: () -> [Stub]
  ) async throws -> String {
    let list = stubs()
    let mock = MockInterceptor { list }
    let error = await failure { try await mock.ask(request) }
    return try #require(mockError(error)).message
  }

  @Test("An unmatched request fails with a URLError that carries the report, and is an issue at the mock's line")
  func error() async throws {
    let line: UInt = #line + 1
    let mock = MockInterceptor { Stub(.get, "/users/:id", .status(200)).optional }
    let error = try #require(
      await failure { try await mock.session.text("GET", "https://api.example.com/user/42") } as? URLError)
    #expect(error.code == .resourceUnavailable)
    #expect(error.failingURL?.absoluteString == "https://api.example.com/user/42")
    let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? MockError)
    #expect(cause.code == .unmatched)
    #expect(cause.message.hasPrefix("No stub matches GET https://api.example.com/user/42\n"))
    #expect(error.localizedDescription.contains("/users/:id"))
    #expect(mock.issues.map(\.kind) == [.unmatched])
    #expect(mock.issues.first?.message == cause.message)
    #expect(mock.issues.first?.location.line == line)
  }

  @Test("The whole report")
  func whole() async throws {
    let line: UInt = #line + 4
    let text = try await report(
      .make("POST", "https://api.example.com/user/42?page=2", body: Data(#"{"name":"Ada","age":36}"#.utf8))
    ) {
      Stub(.post, "https://api.example.com/users/:id?page=1", .status(200))
        .where(.field("X-Tenant", "acme"), .body(.json(["name": "Bob", "age": 36])))
    }
    #expect(
      text == """
        No stub matches POST https://api.example.com/user/42?page=2
        Nearest of 1 stub:
          POST https://api.example.com/users/:id?page=1 where header X-Tenant: acme and JSON body \
        {"name":"Bob","age":36} [\(#fileID):\(line)]
            path             expected /users/:id
                             but was  /user/42
            query page       expected page=1
                             but was  page=2
            header X-Tenant  expected acme
                             but was  no such field
            body at $.name   expected "Bob"
                             but was  "Ada"
        The request:
          curl --globoff --path-as-is --url 'https://api.example.com/user/42?page=2' --request 'POST' --header \
        'User-Agent:' --header 'Accept:' --header 'Content-Type:' --header 'Expect:' --data-binary \
        '{"name":"Ada","age":36}'
        Suggested stub:

            Stub(.post, "https://api.example.com/user/42?page=2", .status(200))
              .where(.body(.json(["name": "Ada", "age": 36])))
        """)
  }

  @Test("The nearest come first, three at most")
  func order() async throws {
    let text = try await report(.get("https://api.example.com/users/42")) {
      Stub(.delete, "https://other.example.net/**/jobs", .status(200))
      Stub(.get, "https://api.example.com/user/42", .status(200))
      Stub(.post, "https://api.example.com/users/42", .status(200))
      Stub(.get, "https://api.example.com/orders/1/items", .status(200))
      Stub(.get, "https://api.example.com/users/42", .status(200)).where(.field("Accept", "text/html"))
    }
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("  ") && $0.hasSuffix("]") }.map {
      $0.prefix { $0 != "[" }
    }
    #expect(
      lines == [
        "  GET https://api.example.com/user/42 ",
        "  GET https://api.example.com/users/42 where header Accept: text/html ",
        "  POST https://api.example.com/users/42 ",
      ])
    #expect(text.contains("Nearest of 5 stubs:"))
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let stub: Stub
    let expected: String
    let actual: String
    var testDescription: String { stub.description }
  }

  static let rows = [
    Row(stub: Stub(.put, "/x"), expected: "PUT", actual: "POST"),
    Row(stub: Stub("http://a.b/x"), expected: "http", actual: "https"),
    Row(stub: Stub("https://a.c/x"), expected: "a.c", actual: "a.b"),
    Row(stub: Stub("https://*.a.b/x"), expected: "*.a.b", actual: "a.b"),
    Row(stub: Stub("https://a.b:8443/x"), expected: "8443", actual: "443"),
    Row(stub: Stub("/x?q=1"), expected: "q=1", actual: "q"),
    Row(stub: Stub("/x?"), expected: "none", actual: "q"),
    Row(stub: Stub("/x").where(.query("z")), expected: "any value", actual: "no such item"),
    Row(stub: Stub(.regex("^ftp:")), expected: "a match of /^ftp:/", actual: "https://a.b/x?q"),
    Row(stub: Stub("/x").where(.field("Accept", "a")), expected: "a", actual: "b"),
    Row(
      stub: Stub("/x").where(.predicate("a full moon") { _ in false }), expected: "a full moon",
      actual: "the closure returned false"),
    Row(stub: Stub("/x").where(!.field("Accept")), expected: "not header Accept", actual: "header Accept"),
    Row(
      stub: Stub("/x").where(.field("X-A") || .field("X-B")), expected: "header X-A or header X-B",
      actual: "no such field"),
    Row(stub: Stub("/x").where(.body(.text("other"))), expected: #""other""#, actual: #"{"a":[1,2]}"#),
    Row(stub: Stub("/x").where(.body(.json(["a": [1, 3]]))), expected: "3", actual: "2"),
    Row(stub: Stub("/x").where(.body(.json(["a": [1]]))), expected: "1 elements", actual: "2"),
    Row(stub: Stub("/x").where(.body(.jsonSubset(["b": 1]))), expected: "1", actual: "nothing"),
    Row(stub: Stub("/x").where(.body(.jsonPath("$.a[0]", equals: 7))), expected: "7", actual: "1"),
    Row(stub: Stub("/x").where(.body(.empty)), expected: "none", actual: #"{"a":[1,2]}"#),
    Row(stub: Stub("/x").where(.body(.form(["a": "1"]))), expected: "a=1", actual: "no such item"),
    Row(stub: Stub("/x").where(.body(.multipart(["a": .text("1")]))), expected: "a", actual: "no multipart form"),
    Row(stub: Stub("/x").where(.body(.data(Data([1, 2])))), expected: "2 given bytes", actual: #"{"a":[1,2]}"#),
    Row(stub: Stub("/x").where(.body(.regex("^z"))), expected: "a match of /^z/", actual: #"{"a":[1,2]}"#),
  ]

  @Test("Each kind of difference says what was expected and what came", arguments: rows)
  func differences(_ row: Row) async throws {
    let request = URLRequest.make("POST", "https://a.b/x?q", body: Data(#"{"a":[1,2]}"#.utf8), headers: ["Accept": "b"])
    let text = try await report(request) { row.stub }
    #expect(text.contains("expected \(row.expected)\n"), "\(text)")
    #expect(text.contains("but was  \(row.actual)\n"), "\(text)")
  }

  @Test("A stub that matched and is used up is told apart from one that does not match")
  func exhausted() async throws {
    let mock = MockInterceptor { Stub(.get, "/x", .status(200)).once }
    try await mock.ask(.get("https://a.b/x"))
    let error = await failure { try await mock.ask(.get("https://a.b/x")) }
    #expect(mockError(error)?.code == .exhausted)
    #expect(
      mockError(error)?.message.hasPrefix("GET https://a.b/x matched, but the stub does not answer it:\n") == true)
    #expect(
      mockError(error)?.message.contains("matched, but used up: it answers 1 request, and has already done so.") == true
    )
    #expect(mock.issues.map(\.kind) == [.exhausted])
  }

  @Test("A mock without stubs says so, and one with wrong stubs names them")
  func emptyAndBroken() async throws {
    let empty = try await report(.get("https://a.b/x")) {}
    #expect(empty.hasPrefix(#"No stub matches GET https://a.b/x: the mock "MockInterceptor" has none."#))
    let broken = try await report(.get("https://a.b/x")) { Stub(.get, "x/:id") }
    #expect(broken.contains("Invalid stubs, which match nothing:"))
    #expect(broken.contains("begin a path with a slash"))
  }

  @Test("An answer without a body to unmatched requests has the report as its text")
  func answeredReport() async throws {
    let mock = MockInterceptor(.init(unmatched: .status(501))) { Stub(.get, "https://a.b/users", .text("x")).optional }
    let response = try await mock.ask(.get("https://a.b/user"))
    #expect(response.status.code == 501)
    #expect(response.fields[.contentType] == "text/plain; charset=utf-8")
    let text = String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
    #expect(text.hasPrefix("No stub matches GET https://a.b/user"))
    #expect(text.contains("GET https://a.b/users"))
    let own = MockInterceptor(.init(unmatched: .text("own", status: 404)))
    #expect(try await own.text("GET", "https://a.b/user") == "own")
  }

  @Test("A suggested stub compiles: a number that no literal can hold stays in its text")
  func longNumber() async throws {
    let mock = MockInterceptor()
    _ = try? await mock.ask(.make("POST", "https://a.b/x", body: Data(#"{"id": 18446744073709551615}"#.utf8)))
    #expect(mock.issues.first?.message.contains(#".json(parsing: "{\"id\":18446744073709551615}")"#) == true)
  }

  @Test("Secrets are in no report")
  func secrets() async throws {
    let request = URLRequest.make(
      "POST", "https://ada:pl4nted@a.b/x?api_key=pl4nted&q=1", body: Data(#"{"password":"pl4nted","name":"Ada"}"#.utf8),
      headers: ["Authorization": "Bearer pl4nted", "Cookie": "sid=pl4nted", "X-Tenant": "acme"])
    let text = try await report(request) {
      Stub(.post, "/x?api_key=other", .status(200)).where(
        .field("Authorization", "Bearer pl4ntedb"), .body(.json(["password": "pl4ntedc"])))
    }
    #expect(!text.contains("pl4nted"), "\(text)")
    #expect(
      text.hasSuffix(
        """
            Stub(.post, "https://a.b/x?api_key=*&q=1", .status(200))
              .where(
                .field("Authorization"),
                .field("Cookie"),
                .field("X-Tenant", "acme"),
                .body(.jsonSubset(["name": "Ada"])))
        """), "\(text)")
  }

  @Test(
    "The stub that is ready to be pasted matches the request that it was made for",
    arguments: [
      "https://a.b", "https://a.b/:id/*/x?a=*&b&c=", "http://localhost:8080/a%20b/%2F", "http://[::1]:81/x",
      "https://xn--bcher-kva.example/k%C3%A4se?q=%26",
      "https://a.b/x(1)/y?z=(",
    ])
  func pasted(_ url: String) async throws {
    let text = try await report(.get(url)) {}
    let source = try #require(text.split(separator: "\n").last { $0.contains("Stub(") })
    let literal = try #require(source.split(separator: "\"", maxSplits: 1).last?.split(separator: "\", .").first)
    let isMatched = try await Stub(.get, String(literal)).matches(.get(url))
    #expect(isMatched, "\(literal) for \(url)")
    let isForOthers = try await Stub(.get, String(literal)).matches(.get("https://a.b/x/y/z"))
    #expect(!isForOthers)
  }

  @Test("A closure runs after the other conditions within and, and or")
  func closuresLast() async throws {
    let asked = Log<Int>()
    let counted = RequestMatcher.predicate("counted") { _ in
      asked.add(1)
      return false
    }
    let mock = MockInterceptor {
      Stub(.get, "/x").where(counted && .field("X-A")).optional
      Stub(.get, "/x", .status(204)).where(counted || .method(.get))
    }
    #expect(try await mock.ask(.get("https://a.b/x")).status == .noContent)
    #expect(asked.all.isEmpty)
  }

  @Test("What came nearest is not looked for when a request passes through or is answered")
  func onlyOnMiss() async throws {
    let asked = Log<Int>()
    let mock = MockInterceptor(.init(unmatched: .passThrough)) {
      for _ in 0..<10 {
        Stub(.get, "/other").where(
          .predicate("counted") { _ in
            asked.add(1)
            return false
          }
        ).optional
      }
    }
    let error = await failure { try await mock.ask(.get("https://a.b/x")) } as? URLError
    #expect(error?.code == .notConnectedToInternet)
    #expect(asked.all.isEmpty)
    #expect(mock.issues.isEmpty)
    #expect(mock.requests.count == 1)
  }

  @Test("An answer in place of a failure is an issue all the same")
  func respond() async throws {
    let mock = MockInterceptor(.init(unmatched: .status(501)))
    let answer = try await mock.session.text("GET", "https://a.b/x")
    #expect(answer.0 == 501)
    #expect(mock.issues.map(\.kind) == [.unmatched])
  }

  @Test("Required stubs that nobody used are issues at their lines; optional ones are not")
  func unused() async throws {
    let line: UInt = #line + 2
    let mock = MockInterceptor {
      Stub(.get, "/required", .status(200))
      Stub(.get, "/optional", .status(200)).optional
      Stub(.get, "/three", .status(200)).times(3)
      Stub(.get, "/said", .status(200)).optional.required
    }
    try await mock.ask(.get("https://a.b/three"))
    #expect(mock.issues.map(\.location.line) == [line, line + 2, line + 3])
    #expect(mock.issues.allSatisfy { $0.kind == .unused })
    #expect(mock.issues[0].message.contains("GET /required was never used"))
    #expect(mock.issues[1].message.contains("was used 1 of 3 times"))
  }

  @Test("Issues are reported where the stubs were written")
  func reporting() async {
    let line: UInt = #line + 1
    let mock = MockInterceptor { Stub(.get, "/never", .status(200)) }
    let reports = await collectReports { mock.reportIssues() }
    #expect(reports.map(\.line) == [Int(line)])
    #expect(reports.first?.text.contains("GET /never was never used") == true)
  }
}
