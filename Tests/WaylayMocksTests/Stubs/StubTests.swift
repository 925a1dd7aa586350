import TestSupport
import Testing
import WaylayMocks

@Suite("Stubs: order and life", .timeLimit(.minutes(5)))
struct StubTests {
  private let url = "https://api.example.com/x"

  @Test("Declared answers, computed ones, a sequence and none, through URLSession")
  func answers() async throws {
    let mock = MockInterceptor {
      Stub(.get, "https://api.example.com/users/:id", .json(["id": 42]))
      Stub(.post, "/echo") { request in .data(request.body).status(201) }
      Stub(.get, "/later/:id") { request async in
        await Task.yield()
        return .text(request.parameters["id"] ?? "none")
      }
      Stub(.get, "/status", .status(503), .text("ready"))
      Stub("/any")
    }
    let session = mock.session
    let user = try await session.text("GET", "https://api.example.com/users/42")
    #expect(user == (200, #"{"id":42}"#))
    let echo = try await session.text("POST", "http://other.example/echo", body: Data("hello".utf8))
    #expect(echo == (201, "hello"))
    let later = try await session.text("GET", "http://other.example/later/7")
    #expect(later == (200, "7"))
    let any = try await session.text("PUT", "http://other.example/any")
    #expect(any == (200, ""))
    let first = try await session.text("GET", "https://api.example.com/status")
    let second = try await session.text("GET", "https://api.example.com/status")
    #expect(first.0 == 503)
    #expect(second == (200, "ready"))
    #expect(mock.issues.isEmpty)
  }

  @Test("The newest is asked first, after those of higher priority")
  func order() async throws {
    let mock = MockInterceptor {
      Stub(.get, "/x", .text("important")).priority(1).times(1)
      Stub(.get, "/x", .text("old"))
      Stub(.get, "/x", .text("new")).once
      Stub(.get, "/**", .text("least")).priority(-1)
    }
    #expect(try await mock.text("GET", url) == "important")
    #expect(try await mock.text("GET", url) == "new")
    #expect(try await mock.text("GET", url) == "old")
    mock.add(Stub(.get, "/x", .text("newest")))
    #expect(try await mock.text("GET", url) == "newest")
    #expect(try await mock.text("GET", "https://a.b/other") == "least")
    #expect(mock.issues.isEmpty)
  }

  @Test("Order does not depend on how specific a pattern is, or where its index keeps it")
  func orderAcrossIndex() async throws {
    let patterns = [
      "/x", "https://api.example.com/x", "/:name", "/**", "https://*.example.com/x", "/x?",
      "https://api.example.com/**",
    ]
    for turn in 0..<patterns.count {
      let rotated = patterns[turn...] + patterns[..<turn]
      let mock = MockInterceptor {
        for pattern in rotated { Stub(.get, pattern, .text(pattern)).once }
        Stub(.get, .regex("x$"), .text("expression")).once
        Stub(.any, .text("any")).once
      }
      var answers: [String] = []
      for _ in 0..<(patterns.count + 2) { answers.append(try await mock.text("GET", url)) }
      #expect(answers == ["any", "expression"] + rotated.reversed())
    }
  }

  @Test("Sequences: the last repeats, they begin again, or they end")
  func sequences() async throws {
    let list = Stub(.get, "/x", .text("1"), .text("2"), .text("3"))
    let array = Stub(.get, "/x", ["1", "2", "3"].map { .text($0) })
    for (stub, expected) in [
      (list, "12333"), (array, "12333"), (list.cycling, "12312"), (list.times(1...3), "123--"),
    ] {
      let mock = MockInterceptor {
        Stub(.get, "/x", .text("-"))
        stub
      }
      var found = ""
      for _ in 0..<5 { found += try await mock.text("GET", url) }
      #expect(found == expected)
    }
  }

  @Test("Stubs that are removed are freed, though the history keeps their requests")
  func freed() async throws {
    final class Fixture: Sendable {}
    weak var fixture: Fixture?
    weak var other: Fixture?
    let mock = MockInterceptor()
    do {
      let (first, second) = (Fixture(), Fixture())
      (fixture, other) = (first, second)
      mock.add { Stub(.get, "/x") { withExtendedLifetime(first) { .text("1") } } }
      let handle = mock.add(Stub(.get, "/y") { withExtendedLifetime(second) { .text("2") } })
      _ = try await mock.text("GET", "https://a.b/x")
      _ = try await mock.text("GET", "https://a.b/y")
      handle.remove()
      #expect(handle.count == 1)
      #expect(handle.requests.count == 1)
    }
    mock.removeAll()
    #expect(fixture == nil)
    #expect(other == nil)
    #expect(mock.requests.allSatisfy { $0.stubLocation != nil })
  }

  @Test("Requests of other schemes do not leave a registry with a mock alone, unless they may pass")
  func otherSchemes() async throws {
    for url in ["ftp://a.b/x", "myapp://a.b/x"] {
      let mock = MockInterceptor()
      let error = await failure { try await mock.session.data(from: try #require(URL(string: url))) }
      #expect(mockError(error)?.code == .unmatched, "\(url)")
      #expect(mock.issues.map(\.kind) == [.unmatched])
    }
    let passing = MockInterceptor(.init(unmatched: .passThrough))
    _ = await failure { try await passing.session.data(from: try #require(URL(string: "myapp://a.b/x"))) }
    #expect(passing.requests.isEmpty)
  }

  @Test("A long pattern is shown by its beginning and its end")
  func longDescription() async {
    let path = "/" + String(repeating: "a", count: 100_000)
    let stub = Stub(.post, path, .status(201)).where(.body(.text(String(repeating: "b", count: 100_000))))
    #expect(stub.description.utf8.count < 600)
    let mock = MockInterceptor { stub }
    #expect(mock.issues.allSatisfy { $0.message.utf8.count < 2000 })
  }

  @Test("A closure has no list to start over")
  func cyclingClosure() {
    let mock = MockInterceptor { Stub(.get, "/x") { .text("1") }.cycling }
    #expect(mock.issues.map(\.kind) == [.invalidStub])
  }

  @Test("The answer to unmatched requests that cannot be given is an issue at the mock's line")
  func unmatchedAnswer() async throws {
    let line: UInt = #line + 1
    let mock = MockInterceptor(.init(unmatched: .passThrough.mergingJSON(["a": 1])))
    let next = InterceptorChain.Next { request in
      InterceptedResponse(status: .ok, url: request.url, body: .data(Data("no JSON".utf8)))
    }
    let error = await failure {
      try await mock.startLoading(InterceptedRequest(.get("https://a.b/x")), next: next)
    }
    #expect(mockError(error)?.location?.line == line)
    #expect(mock.issues.map(\.kind) == [.invalidResponse])
    #expect(mock.issues.first?.location.line == line)
  }

  @Test("A closure runs for each request, with an argument and without one")
  func closures() async throws {
    let runs = Log<Int>()
    let mock = MockInterceptor {
      Stub(.get, "/x") {
        runs.add(runs.all.count)
        return .text("\(runs.all.count)")
      }
      Stub(.get, "/y") { request in .text("\(request.index)") }
      Stub("/z") { .text("\(runs.all.count)") }
      Stub("/w") { .text($0.method) }
    }
    #expect(runs.all.isEmpty)
    var found = ""
    for path in ["x", "x", "x", "y", "y", "z", "w"] { found += try await mock.text("GET", "https://a.b/\(path)") }
    #expect(found == "123013GET")
  }

  @Test("One use is given to one of a hundred requests at once")
  func once() async throws {
    let mock = MockInterceptor {
      Stub(.get, "/x", .text("rest"))
      Stub(.get, "/x", .text("one")).once
      Stub(.get, "/x") { request in .text("computed \(request.index)") }.times(3)
    }
    let answers = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<100 { group.addTask { try await mock.text("GET", url) } }
      return try await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
    }
    #expect(answers == ["rest": 96, "one": 1, "computed 0": 1, "computed 1": 1, "computed 2": 1])
    #expect(mock.issues.isEmpty)
  }

  @Test(
    "Counts and states that cannot be are issues at the stub's line, and such a stub answers nothing",
    arguments: [0, -1, .min])
  func counts(_ count: Int) async throws {
    let line: UInt = #line + 1
    let mock = MockInterceptor(.init(unmatched: .status(501))) { Stub(.get, "/x", .status(200)).times(count) }
    #expect(mock.issues.map(\.kind) == [.invalidStub])
    #expect(mock.issues.first?.location.line == line)
    let status = try await mock.ask(.get(url)).status
    #expect(status.code == 501)
  }

  @Test("A range of counts")
  func range() async throws {
    let mock = MockInterceptor { Stub(.get, "/x", .status(200)).times(2...3) }
    try await mock.ask(.get(url))
    #expect(mock.issues.map(\.kind) == [.unused])
    #expect(mock.issues.first?.message.contains("used 1 of 2 times") == true)
    try await mock.ask(.get(url))
    #expect(mock.issues.isEmpty)
    try await mock.ask(.get(url))
    let error = await failure { try await mock.ask(.get(url)) }
    #expect(mockError(error)?.code == .exhausted)
  }

  @Test("Answers that cannot be are issues at the stub's line, and fail the load with a MockError")
  func answersThatCannotBe() async throws {
    struct Broken: Error {}
    let line: UInt = #line + 2
    let mock = MockInterceptor {
      Stub(.get, "/status", .status(99))
      Stub(.get, "/high", .status(1000))
      Stub(.get, "/json", .json(Double.nan))
      Stub(.get, "/delay", .text("x").delay(.seconds(-1)))
      Stub(.get, "/throws") { throw Broken() }.optional
    }
    #expect(mock.issues.map(\.location.line) == [line, line + 1, line + 2, line + 3])
    #expect(mock.issues.allSatisfy { $0.kind == .invalidStub })
    for path in ["status", "high", "json", "delay", "throws"] {
      let error = await failure { try await mock.ask(.get("https://a.b/\(path)")) }
      #expect(mockError(error)?.location?.line ?? 0 >= line, "\(path)")
    }
    #expect(mock.issues.map(\.location.line) == [line, line + 1, line + 2, line + 3, line + 4])
    #expect(mock.issues.last?.kind == .invalidResponse)
    #expect(mock.issues.last?.message.contains("closure threw Broken") == true)
  }

  @Test("An answer that fails only for a request is noted once, at its stub")
  func lateMistakes() async throws {
    let line: UInt = #line + 1
    let mock = MockInterceptor { Stub(.get, "/x") { request in .status(request.index + 1) } }
    for _ in 0..<3 {
      let error = await failure { try await mock.ask(.get(url)) }
      #expect((error as? URLError)?.code == .badServerResponse)
      #expect(mockError(error)?.location?.line == line)
    }
    #expect(mock.issues.first?.kind == .invalidResponse)
    #expect(mock.issues.allSatisfy { $0.location.line == line })
  }

  @Test("What a closure throws, the load fails with")
  func throwing() async throws {
    let mock = MockInterceptor {
      Stub(.get, "/declared") { throw URLError(.timedOut) }
      Stub(.get, "/computed") { _ in throw URLError(.notConnectedToInternet) }
    }
    let declared = await failure { try await mock.session.text("GET", "https://a.b/declared") } as? URLError
    let computed = await failure { try await mock.session.text("GET", "https://a.b/computed") } as? URLError
    #expect(declared?.code == .timedOut)
    #expect(computed?.code == .notConnectedToInternet)
  }

  @Test("A challenge and its answer are one use, whatever the number of requests")
  func challenge() async throws {
    let mock = MockInterceptor {
      Stub(.get, "/x", .text("in").requiringBasic(user: "ada", password: "pw")).once
      Stub(.get, "/y") { .text("in").requiringBasic(user: "ada", password: "pw") }.once
    }
    for path in ["x", "y"] {
      let answer = try await mock.session.text("GET", "https://ada:pw@api.example.com/\(path)")
      #expect(answer == (200, "in"))
    }
    #expect(mock.requests.count == 4)
    #expect(mock.issues.isEmpty)
  }
}
