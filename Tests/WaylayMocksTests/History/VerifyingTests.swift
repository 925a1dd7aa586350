import TestSupport
import Testing
import WaylayMocks

@Suite("By one call", .timeLimit(.minutes(5)))
struct VerifyingTests {
  private struct Order: Decodable, Equatable {
    let id: Int
    let paid: Bool
    var note: String?
    var tags: [String]?
  }

  private func form(_ body: String, type: String? = "application/x-www-form-urlencoded") -> URLRequest {
    .make("POST", "https://a.b/orders", body: Data(body.utf8), headers: type.map { ["Content-Type": $0] } ?? [:])
  }

  @Test("the only request of its kind, decoded, or an error that says what came instead")
  func only() async throws {
    let mock = MockInterceptor(.init(unmatched: .status(200)))
    try await mock.ask(.make("POST", "https://a.b/orders", body: Data(#"{"id":1,"paid":true}"#.utf8)))
    #expect(try mock.requests(.post, "/orders").only().json(Order.self) == Order(id: 1, paid: true))
    #expect(mock.requests("/orders").count == 1)
    #expect(mock.requests(.get, "/orders").isEmpty)
    let line: UInt = #line + 1
    let none = await failure { try mock.requests(.post, "/order").only() } as? MockError
    #expect(none?.code == .requestCount)
    #expect(none?.location?.line == line)
    #expect(none?.message.contains("POST /order was requested 0 times, expected 1.") == true)
    #expect(none?.message.contains("expected /order, but was /orders") == true)
    try await mock.ask(.make("POST", "https://a.b/orders"))
    let two = await failure { try mock.requests(.post, "/orders").only() } as? MockError
    #expect(two?.message.contains("was requested 2 times, expected 1") == true)
    let reports = await collectReports {
      let wrong = await failure { try mock.requests("x y").only() } as? MockError
      #expect(wrong?.code == .invalidPattern)
    }
    #expect(reports.count == 1 && reports.first?.text.contains("x y") == true)
  }

  @Test("a form in one step, as texts, numbers, truth values and lists")
  func forms() async throws {
    let mock = MockInterceptor { Stub(.post, "/orders") { request in .text("\(try request.form(Order.self).id)") } }
    #expect(try await mock.ask(form("id=7&paid=true&note=a+b&tags=x&tags=y")).status == .ok)
    let call = try mock.requests(.post, "/orders").only()
    #expect(try call.form(Order.self) == Order(id: 7, paid: true, note: "a b", tags: ["x", "y"]))
    #expect(try call.form([String: [String]].self)["tags"] == ["x", "y"])
    mock.reset()
    try await mock.ask(form("id=8&paid=false&note=12&tags=5"))
    #expect(try mock.requests("/orders").only().form(Order.self) == Order(id: 8, paid: false, note: "12", tags: ["5"]))
    #expect(try mock.requests("/orders").only().form([String: String].self)["note"] == "12")
    mock.reset()
    let failed = await failure { try await mock.ask(form("id=x&paid=true")) }
    #expect((failed as? URLError)?.cause(as: DecodingError.self) != nil)
    let other = await failure { try await mock.ask(form("id=1", type: "text/plain")) } as? URLError
    #expect(other?.cause(as: MockError.self)?.code == .invalidForm)
  }

  @Test("nothing else was asked")
  func nothingElse() async throws {
    let mock = MockInterceptor(.init(unmatched: .status(200)))
    mock.verifyNothingElse()
    try await mock.ask(.get("https://a.b/x"))
    try await mock.ask(.get("https://a.b/y?token=pl4nted"))
    mock.verifyNothingElse(besides: [RequestPattern(.get, "/x"), RequestPattern("/y"), RequestPattern("/z")])
    let reports = await collectReports {
      mock.verifyNothingElse(besides: [RequestPattern(.get, "/x")])
      mock.verifyNothingElse()
    }
    try #require(reports.count == 2)
    #expect(
      reports[0].text.contains("Expected no requests besides GET /x, but one was made:\n  GET https://a.b/y?token=…"))
    #expect(reports[1].text.contains("Expected no requests, but 2 were made:"))
  }

  @Test("requests in the wrong order are told in plain words")
  func order() async throws {
    let mock = MockInterceptor(.init(unmatched: .status(200)))
    for path in ["orders", "login"] { try await mock.ask(.get("https://a.b/\(path)")) }
    let reports = await collectReports {
      mock.verifyOrder([RequestPattern(.get, "/login"), RequestPattern(.get, "/orders")])
    }
    #expect(reports.count == 1 && reports.first?.text.contains("GET /orders came before GET /login.\n") == true)
  }

  @Test("a method of one's own needs no exclamation mark")
  func methods() async throws {
    let mock = MockInterceptor { Stub(.named("PURGE"), "/cache", .status(204)) }
    #expect(try await mock.ask(.make("PURGE", "https://a.b/cache")).status == .noContent)
    #expect(HTTPRequest.Method.named("not a method").rawValue == "not%20a%20method")
    let text = mockError(await failure { try await mock.ask(.make("PURGE", "https://a.b/other")) })?.message
    #expect(text?.contains(#"Stub(.named("PURGE"), "https://a.b/other", .status(200))"#) == true)
  }

  @Test("a pause between chunks is a Duration")
  func pauses() async throws {
    let clock = MockClock(isAutomatic: true)
    let mock = MockInterceptor(.init(clock: clock)) {
      Stub(.get, "/log", .chunks(["a", "b", "c"], every: .seconds(1)))
      Stub(.get, "/events", .events([.init("1"), .init("2")], every: .milliseconds(500)))
    }
    #expect(try await mock.text("GET", "https://a.b/log") == "abc")
    #expect(clock.now.offset == .seconds(2))
    _ = try await mock.text("GET", "https://a.b/events")
    #expect(clock.now.offset == .seconds(2.5))
  }

  @Test("several that answer once for one request do so in the order they are written")
  func asWritten() async throws {
    let mock = MockInterceptor {
      Stub(.get, "/x", .text("rest"))
      Stub(.get, "/x", .text("1")).once
      Stub(.get, "/y", .text("y"))
      Stub(.get, "/x", .text("2")).times(2)
      Stub(.get, "/x", .text("other")).where(.field("A", "b")).once
      Stub(.get, "/x", .text("3")).once
    }
    var answers: [String] = []
    for _ in 0..<5 { answers.append(try await mock.text("GET", "https://a.b/x")) }
    #expect(answers == ["1", "2", "2", "3", "rest"])
    #expect(try await mock.text("GET", "https://a.b/x", headers: ["A": "b"]) == "other")
    mock.add(Stub(.get, "/x", .text("newer")).once)
    #expect(try await mock.text("GET", "https://a.b/x") == "newer")
    #expect(try await mock.text("GET", "https://a.b/x") == "rest")
  }

  @Test("those of different values, even secret ones, are different requests")
  func differentSecrets() async throws {
    let mock = MockInterceptor {
      Stub(.get, "/x", .text("a")).where(.query("token", "a")).once
      Stub(.get, "/x", .text("any")).once
      Stub(.get, "/x", .text("b")).where(.query("token", "b")).once
    }
    #expect(try await mock.text("GET", "https://a.b/x?token=b") == "b")
    #expect(try await mock.text("GET", "https://a.b/x?token=a") == "any")
    #expect(try await mock.text("GET", "https://a.b/x?token=a") == "a")
  }

  private struct Refused: Error, Equatable { let reason: Int }

  @Test("an error of one's own reaches the test typed")
  func ownErrors() async throws {
    let mock = MockInterceptor { Stub(.get, "/x") { _ in throw Refused(reason: 7) } }
    let error = await failure { try await mock.session.text("GET", "https://a.b/x") } as? URLError
    #expect(error?.cause(as: Refused.self) == Refused(reason: 7))
  }
}
