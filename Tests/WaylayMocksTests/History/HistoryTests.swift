import TestSupport
import Testing
import WaylayMocks

@Suite("What a mock was asked", .timeLimit(.minutes(5)))
struct HistoryTests {
  private func mock() -> MockInterceptor {
    MockInterceptor(.init(unmatched: .status(501))) { Stub("/**", .status(200)).optional }
  }

  @Test("Calls keep their order, their bodies, their parameters and the stub that answered")
  func calls() async throws {
    let line: UInt = #line + 2
    let mock = MockInterceptor(.init(unmatched: .status(501))) {
      Stub(.post, "/users/:id", .status(201))
    }
    let session = mock.session
    _ = try await session.text(
      "POST", "https://a.b/users/42", body: Data(#"{"name":"Ada"}"#.utf8), headers: ["X-Tenant": "acme"])
    _ = try await session.text("GET", "https://a.b/other")
    let calls = mock.requests
    #expect(calls.map(\.description) == ["POST https://a.b/users/42", "GET https://a.b/other"])
    #expect(try calls[0].json([String: String].self) == ["name": "Ada"])
    #expect(calls[0].parameters == ["id": "42"])
    #expect(calls[0].field("x-tenant") == "acme")
    #expect(calls[0].stubLocation?.line == line)
    #expect(calls[1].stubLocation == nil)
    #expect(calls[0].urlRequest.mainDocumentURL == nil)
    #expect(mock.requests(.post, "/users/:id").count == 1)
    #expect(mock.requests("/users/:id").count == 1)
    #expect(mock.requests(RequestPattern(.post, "/users/:id").where(.body(.json(["name": "Bob"])))).isEmpty)
    let reports = await collectReports { #expect(mock.requests(.post, "not a pattern").isEmpty) }
    #expect(reports.count == 1 && reports.first?.text.contains("not a pattern") == true)
  }

  @Test("Waiting for a call that came, one that comes, and the third")
  func waiting() async throws {
    let mock = mock()
    try await mock.ask(.get("https://a.b/first"))
    let first = try await mock.waitForRequest(.get, "/first")
    #expect(first.description == "GET https://a.b/first")
    async let third = mock.waitForRequest(.get, "/later/:n", count: 3)
    for number in 1...4 {
      try await mock.ask(.get("https://a.b/other"))
      try await mock.ask(.get("https://a.b/later/\(number)"))
    }
    let found = try await third
    #expect(found.url.path == "/later/3")
  }

  @Test("A history that is cleared is counted from its beginning, and nothing that comes afterwards is missed")
  func waitingAcrossReset() async throws {
    let mock = mock()
    let clock = MockClock()
    for number in 1...3 { try await mock.ask(.get("https://a.b/other/\(number)")) }
    try await mock.ask(.get("https://a.b/x"))
    async let second = mock.waitForRequest(.get, "/x", count: 2, clock: clock)
    try await clock.waitForSleepers()
    mock.reset()
    for path in ["other", "x?turn=1", "other", "x?turn=2", "other"] { try await mock.ask(.get("https://a.b/\(path)")) }
    #expect(try await second.url.query == "turn=2")
  }

  @Test("The history is bounded by the bytes of its bodies, and the counts of stubs go on")
  func bounded() async throws {
    let mock = MockInterceptor(.init(bodyLimit: 16 << 20))
    let handle = mock.add(Stub(.put, "/x", .status(204)))
    let body = Data(repeating: 1, count: 8 << 20)
    for _ in 0..<12 { try await mock.ask(.make("PUT", "https://a.b/x", body: body)) }
    #expect(handle.count == 12)
    #expect(mock.requests.count < 9)
    #expect(try await mock.waitForRequest(.put, "/x", count: 1).body.count == 8 << 20)
  }

  @Test("A hundred waiters, each for its own call")
  func manyWaiters() async throws {
    let mock = mock()
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<100 {
        group.addTask { try await mock.waitForRequest(.get, "/\(number)").url.path == "/\(number)" }
        group.addTask {
          try await mock.ask(.get("https://a.b/\(number)"))
          return true
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
  }

  @Test("Waiting ends after its time, with what was asked instead")
  func timeout() async throws {
    let mock = mock()
    try await mock.ask(.get("https://a.b/else"))
    let clock = MockClock()
    let line: UInt = #line + 1
    let call = Task { try await mock.waitForRequest(.get, "/x", count: 2, timeout: .seconds(30), clock: clock) }
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(30))
    let error = await failure { try await call.value } as? MockError
    #expect(error?.code == .requestMissing)
    #expect(error?.message.contains("GET /x was requested 0 of 2 times") == true)
    #expect(error?.message.contains("1. GET https://a.b/else") == true)
    #expect(error?.location?.line == line)
    #expect(clock.sleepers == 0)
  }

  @Test("Waiting can be cancelled")
  func cancellation() async throws {
    let mock = mock()
    let clock = MockClock()
    let task = Task { try await mock.waitForRequest(.get, "/x", clock: clock) }
    try await clock.waitForSleepers()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(clock.sleepers == 0)
  }

  @Test("Waiting for nothing, or for a pattern that cannot be, is a mistake")
  func mistakes() async throws {
    let mock = mock()
    let count = await failure { try await mock.waitForRequest(.get, "/x", count: 0) } as? MockError
    #expect(count?.code == .invalidCount)
    let pattern = await failure { try await mock.waitForRequest(.get, "x y") } as? MockError
    #expect(pattern?.code == .invalidPattern)
    #expect(pattern?.location?.line == UInt(#line) - 2)
  }

  @Test("Counts that agree are silent; others are failures with what came nearest")
  func verify() async throws {
    let mock = mock()
    try await mock.ask(.make("POST", "https://a.b/orders/1"))
    mock.verify(.post, "/orders/:id")
    mock.verify(.post, "/orders/:id", count: 1)
    mock.verify(.get, "/orders/:id", count: 0)
    let reports = await collectReports {
      mock.verify(.post, "/orders/:id", count: 2)
      mock.verify(.post, "/order/:id")
      mock.verify(.post, "order id")
    }
    try #require(reports.count == 3)
    #expect(reports[0].text.contains("POST /orders/:id was requested 1 time, expected 2."))
    #expect(reports[1].text.contains("path: expected /order/:id, but was /orders/1"))
    #expect(reports[2].text.contains("cannot be parsed"))
  }

  @Test("Calls in an order, with others between")
  func verifyOrder() async throws {
    let mock = mock()
    for path in ["a", "x", "b", "c"] { try await mock.ask(.get("https://a.b/\(path)")) }
    mock.verifyOrder([RequestPattern("/a"), RequestPattern("/b"), RequestPattern("/c")])
    let reports = await collectReports { mock.verifyOrder([RequestPattern("/b"), RequestPattern("/a")]) }
    #expect(reports.count == 1 && reports.first?.text.contains("ANY /a was not requested after ANY /b") == true)
  }
}
