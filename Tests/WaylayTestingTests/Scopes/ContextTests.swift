import Foundation
import Testing
import WaylayTesting

@Suite("The code of a stub", .timeLimit(.minutes(5)))
struct ContextTests {
  private static let url = URL(string: "https://api.example.com/p")!

  private func post(_ body: String) async throws -> Int? {
    var request = URLRequest(url: Self.url)
    request.httpMethod = "POST"
    request.httpBody = Data(body.utf8)
    return try await (URLSession.mocked.data(for: request).1 as? HTTPURLResponse)?.statusCode
  }

  @Test("fails the test that runs, when an expectation in it fails")
  func expectation() async throws {
    try await withKnownIssue {
      try await withMock {
        Stub(.post, "/p") { request in
          #expect(request.text == "x")
          return .status(204)
        }
      } operation: { () async throws in
        #expect(try await post("y") == 204)
      }
    } matching: { issue in
      issue.comments.isEmpty && "\(issue)".contains("request.text")
    }
  }

  @Test("sees the test, its scope and its session", .mocked())
  func current() async throws {
    let seen = Locked<[String?]>([])
    MockInterceptor.current.add {
      Stub(.post, "/p") { request in
        let session = URLSession.mocked
        seen.withLock { $0 += [Test.current?.name, "\(session === URLSession.mocked)"] }
        return .status(MockInterceptor.current.requests.count == 1 ? 204 : 500)
      }.where(
        .predicate("is named x") { request in
          seen.withLock { $0 += [Test.current?.name] }
          return request.text == "x"
        })
    }
    #expect(try await post("x") == 204)
    #expect(seen.withLock { $0 } == ["current()", "current()", "true"])
  }

  @Test("sees them in answers that are computed, and in changes of an answer", .mocked())
  func answers() async throws {
    let names = Locked<[String?]>([])
    MockInterceptor.current.add {
      Stub(.post, "/p") {
        names.withLock { $0.append(Test.current?.name) }
        return .status(204)
      }
    }
    #expect(try await post("x") == 204)
    #expect(names.withLock { $0 } == ["answers()"])
  }

  @Test("is cancelled with the load it answers", .mocked())
  func cancelled() async throws {
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    let (ended, end) = AsyncStream.makeStream(of: Void.self)
    MockInterceptor.current.add {
      Stub(.get, "/p") { _ in
        start.yield()
        defer { end.yield() }
        try await Task.sleep(for: .seconds(3600))
        return .status(204)
      }
    }
    let load = Task { try await URLSession.mocked.data(from: Self.url) }
    for await _ in started { break }
    load.cancel()
    for await _ in ended { break }
    await #expect(throws: URLError.self) { try await load.value }
  }
}
