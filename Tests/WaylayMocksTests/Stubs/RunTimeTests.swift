import TestSupport
import Testing
import WaylayMocks

@Suite("Stubs that come and go", .timeLimit(.minutes(5)))
struct RunTimeTests {
  private let url = "https://api.example.com/x"

  @Test("A handle counts, shows the calls and removes")
  func handle() async throws {
    let mock = MockInterceptor { Stub(.get, "/x", .text("base")) }
    let handle = mock.add {
      Stub(.get, "/x", .text("override"))
      Stub(.get, "/y", .text("other"))
    }
    #expect(try await mock.text("GET", url) == "override")
    #expect(handle.count == 1)
    #expect(handle.requests.map(\.description) == ["GET \(url)"])
    handle.remove()
    handle.remove()
    #expect(try await mock.text("GET", url) == "base")
    #expect(handle.count == 1)
    #expect(mock.issues.isEmpty)
  }

  @Test("Adding and removing while requests run: every request gets one of the answers")
  func storm() async throws {
    let mock = MockInterceptor { Stub(.get, "/x", .text("base")) }
    let session = mock.session
    let answers = try await withThrowingTaskGroup(of: [String].self) { group in
      for worker in 0..<8 {
        group.addTask {
          var answers: [String] = []
          for turn in 0..<100 {
            let handle = mock.add {
              Stub(.get, "/x", .text("worker")).optional
              if turn % 2 == 0 { Stub(.get, "/x") { _ in .text("computed") }.optional }
              Stub(.get, "/other/\(worker)/\(turn)").optional
            }
            answers.append(try await session.text("GET", url).1)
            handle.remove()
          }
          return answers
        }
      }
      return try await group.reduce(into: Set<String>()) { $0.formUnion($1) }
    }
    #expect(answers.isSubset(of: ["base", "worker", "computed"]))
    #expect(try await mock.text("GET", url) == "base")
    #expect(mock.requests.count == 801)
  }

  @Test("A stub that is removed while its answer is on its way answers all the same")
  func removedMeanwhile() async throws {
    let clock = MockClock()
    let mock = MockInterceptor(.init(clock: clock)) { Stub(.get, "/x", .text("late").delay(.seconds(5))) }
    async let answer = mock.session.text("GET", url)
    try await clock.waitForSleepers()
    mock.removeAll()
    clock.advance(by: .seconds(5))
    let text = try await answer
    #expect(text == (200, "late"))
  }

  @Test("Answers that are there at once are given inside the loader's call; anything else is not")
  func inline() async throws {
    let mock = MockInterceptor { Stub(.get, "/x", .text("x")).where(.body(.empty)) }
    #expect(mock.answersInline("/x"))
    let computed = mock.add(Stub(.get, "/y") { _ in .text("y") })
    #expect(!mock.answersInline("/y"))
    computed.remove()
    #expect(mock.answersInline("/x"))
    let predicate = mock.add(Stub(.get, "/x").where(.predicate("closure") { _ in true }))
    #expect(!mock.answersInline("/x"))
    predicate.remove()
    let delayed = mock.add(Stub(.get, "/y", .text("y").delay(.seconds(1))))
    #expect(!mock.answersInline("/y"))
    // Neither is a use of the stub: the request comes again.
    #expect(mock.requests.count == 2)
    delayed.remove()
    #expect(mock.answersInline("/x"))
    #expect(!MockInterceptor(.init(unmatched: .passThrough)).answersInline("/x"))
  }

  @Test("A computed answer may use a session, also when it was registered after the request had been accepted")
  func sessionInHandler() async throws {
    let other = MockInterceptor { Stub(.get, "/inner", .text("inner")) }
    let inner = other.session
    let mock = MockInterceptor { Stub(.get, "/x", .text("x")).optional }
    let session = mock.session
    for _ in 0..<50 {
      let handle = mock.add(
        Stub(.get, "/x") { _ in .text(try await inner.text("GET", "https://a.b/inner").1) })
      let answer = try await session.text("GET", url)
      #expect(answer == (200, "inner"))
      handle.remove()
    }
  }

  @Test("A mock inside another: its stubs go first, each counts its own, a miss is noted once")
  func nested() async throws {
    let here = MockSourceLocation(fileID: #fileID, filePath: #filePath, line: #line, column: 1)
    let outer = MockInterceptor {
      Stub(.get, "/x", .text("outer x"))
      Stub(.get, "/y", .text("outer y"))
    }
    let inner = MockInterceptor(
      within: outer, location: here, stubs: [Stub(.get, "/x", .text("inner x")).priority(-5)])
    #expect(try await inner.text("GET", url) == "inner x")
    #expect(try await inner.text("GET", "https://a.b/y") == "outer y")
    let error = await failure { try await inner.text("GET", "https://a.b/yy") }
    #expect(mockError(error)?.message.contains("GET /y") == true)
    #expect(inner.requests.count == 3)
    #expect(outer.requests.count == 1)
    #expect(inner.issues.map(\.kind) == [.unmatched])
    #expect(inner.issues.first?.location == here)
    #expect(outer.issues.map(\.kind) == [.unused])
  }

  @Test("Forgetting begins anew")
  func reset() async throws {
    let mock = MockInterceptor { Stub(.get, "/x", .text("x")).once }
    #expect(try await mock.text("GET", url) == "x")
    mock.reset()
    #expect(mock.requests.isEmpty)
    #expect(mock.issues.map(\.kind) == [.unused])
    #expect(try await mock.text("GET", url) == "x")
  }
}

extension MockInterceptor {
  /// Whether a request for a path is answered at once.
  fileprivate func answersInline(_ path: String) -> Bool {
    guard let url = URL(string: "https://api.example.com" + path),
      case .response = respondInline(InterceptedRequest(.get, url))
    else { return false }
    return true
  }
}
