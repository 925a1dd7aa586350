import Testing
import WaylayMocks

@Suite("Stubs")
struct StubTests {
  @Test("a declared answer, a computed one and a sequence, through URLSession")
  func answers() async throws {
    let mock = MockInterceptor {
      Stub(.get, "https://api.example.com/users/:id") { .json(["id": 42]) }
      Stub(.post, "/echo") { request in .data(request.body).status(201) }
      Stub(.get, "/wait") { request async in
        await Task.yield()
        return .text(request.parameters["id"] ?? "none")
      }
      Stub(.get, "/status") {
        [.status(503), .text("ready")]
      }
      Stub("/any")
    }
    let session = mock.session
    let user = try await session.text("GET", "https://api.example.com/users/42")
    #expect(user == (200, #"{"id":42}"#))
    let echo = try await session.text("POST", "http://other.example/echo", body: Data("hello".utf8))
    #expect(echo == (201, "hello"))
    let first = try await session.text("GET", "https://api.example.com/status")
    let second = try await session.text("GET", "https://api.example.com/status")
    let third = try await session.text("GET", "https://api.example.com/status")
    #expect(first.0 == 503)
    #expect(second == (200, "ready"))
    #expect(third == (200, "ready"))
    #expect(mock.calls(to: .get, "/status").count == 3)
    #expect(mock.issues.map(\.kind) == [.unused, .unused])
  }
}
