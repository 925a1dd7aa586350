import TestSupport
import Testing
import WaylayMocks

@Suite("What came nearest", .timeLimit(.minutes(5)))
struct NearestTests {
  @Test("An unused stub names the request that came nearest, and how it differs")
  func unused() async throws {
    let mock = MockInterceptor {
      Stub(.any, .status(200)).optional
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

  @Test(
    "One mistake is one issue",
    arguments: [
      "POST https://a.b/users/1?q=2", "GET https://a.b/user/1?q=2", "GET https://a.c/users/1?q=2",
      "GET http://a.b/users/1?q=2", "GET https://a.b:8443/users/1?q=2", "GET https://a.b/users/1?q=3",
      "GET https://a.b/users/1", "GET https://a.b/users/1?q=2&r=1", "GET https://a.b/v1/users/1?q=2",
      "field", "JSON", "form", "text", "part", "closure",
      "pattern", "count",
    ])
  func oneIssue(_ mistake: String) async throws {
    let mock = MockInterceptor {
      Stub(.get, "https://a.b/other")
      Stub(.get, "https://a.b/users/1?q=2")
      switch mistake {
      case "field": Stub(.get, "/x").where(.field("A", "b"))
      case "JSON": Stub(.get, "/x").where(.body(.json(["a": 1])))
      case "form": Stub(.get, "/x").where(.body(.form(["a": "1"])))
      case "text": Stub(.get, "/x").where(.body(.text("y")))
      case "part": Stub(.get, "/x").where(.body(.multipart(["a": .present])))
      case "closure": Stub(.get, "/x").where(.predicate("never") { _ in false })
      case "pattern": Stub(.get, "/x").where(.field("A", regex: "("))
      case "count": Stub(.get, "/x").times(2)
      default: [Stub]()
      }
    }
    try await mock.ask(.get("https://a.b/other"))
    let parts = mistake.split(separator: " ").map(String.init)
    if parts.count == 2 {
      _ = await failure { try await mock.ask(.make(parts[0], parts[1])) }
      // A client that tries again makes the same mistake.
      _ = await failure { try await mock.ask(.make(parts[0], parts[1])) }
    } else {
      try await mock.ask(.get("https://a.b/users/1?q=2"))
      _ = await failure { try await mock.ask(.get("https://a.b/x")) }
    }
    #expect(mock.issues.count == 1, "\(mock.issues)")
  }

  @Test("Two mistakes are two issues")
  func twoIssues() async throws {
    let mock = MockInterceptor {
      Stub(.delete, "https://elsewhere.test/quite/another")
      Stub(.get, "/users/1")
    }
    _ = await failure { try await mock.ask(.get("https://a.b/user/1")) }
    #expect(mock.issues.map(\.kind) == [.unused, .unmatched])
    mock.reset()
    #expect(mock.issues.map(\.kind) == [.unused, .unused])
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
