import TestSupport
import Testing
import WaylayMocks

@Suite("What came nearest", .timeLimit(.minutes(5)))
struct NearestTests {
  @Test("An unused stub names the request that came nearest, and how it differs")
  func unused() async throws {
    let mock = MockInterceptor(.init(unmatched: .status(200))) {
      Stub(.get, "/users/:id").where(.field("Accept", "text/html"))
    }
    #expect(mock.issues.first?.message.hasSuffix("or mark it .optional. No requests were made.") == true)
    try await mock.ask(.get("https://a.b/orders"))
    try await mock.ask(.make("GET", "https://a.b/users/7", headers: ["Accept": "text/plain"]))
    let message = try #require(mock.issues.first { $0.kind == .unused }?.message)
    #expect(message.contains("was never used"))
    #expect(
      message.contains("Nearest: GET https://a.b/users/7\n    header Accept: expected text/html, but was text/plain"),
      "\(message)")
  }

  @Test("An unused stub whose request another one answered says which")
  func shadowed() async throws {
    let line: UInt = #line + 3
    let mock = MockInterceptor {
      Stub(.get, "/users/:id")
      Stub(.get, "/users/**")
    }
    try await mock.ask(.get("https://a.b/users/7"))
    let message = try #require(mock.issues.first?.message)
    #expect(
      message.contains("Nearest: GET https://a.b/users/7, which the stub at \(#fileID):\(line) answered"), "\(message)")
  }

  @Test("A redirect that leads nowhere says which stub sent it", arguments: [true, false])
  func redirects(_ isComputed: Bool) async throws {
    let line: UInt = #line + 2
    let mock = MockInterceptor {
      isComputed ? Stub(.get, "/old") { _ in .redirect(to: "/new") } : Stub(.get, "/old", .redirect(to: "/new"))
    }
    let error = await failure { try await mock.session.text("GET", "https://a.b/old") }
    let message = try #require(mockError(error)).message
    #expect(
      message.contains(
        "A redirect from GET https://a.b/old led to this request; the stub at \(#fileID):\(line) sent it."),
      "\(message)")
    let plain = await failure { try await mock.session.text("GET", "https://a.b/new") }
    #expect(mockError(plain)?.message.contains("A redirect from") == false)
  }

  @Test("An error that is printed says once what came nearest")
  func printedOnce() async throws {
    let mock = MockInterceptor { Stub(.get, "/users/:id").optional }
    let error = try #require(await failure { try await mock.session.text("GET", "https://a.b/user/7") })
    #expect("\(error)".components(separatedBy: "Suggested stub:").count == 2, "\(error)")
    #expect(mockError(error)?.message.contains("Suggested stub:") == true)
    #expect(error.localizedDescription.contains("Suggested stub:"))
  }
}
