import TestSupport
import Testing
import WaylayMocks

@Suite("Redirects of mocks", .timeLimit(.minutes(5)))
struct RedirectTests {
  private let bound = [
    "Authorization": "Bearer x", "WWW-Authenticate": "Basic realm=x", "Proxy-Authenticate": "Basic",
    "Keep-Alive": "timeout=5",
    "TE": "trailers", "Trailer": "X-Sum", "Upgrade": "h2c", "Proxy-Connection": "keep-alive",
    "Connection": "keep-alive, X-Hop",
    "X-Hop": "1",
  ]

  @Test(
    "To another host go neither the fields of a connection nor what asks for credentials",
    arguments: [301, 302, 303, 307, 308])
  func otherHost(_ status: Int) async throws {
    let mock = MockInterceptor {
      Stub(.get, "https://a.b/old", .redirect(to: "https://c.d/new", status: status))
      Stub(.get, "https://c.d/new", .text("there"))
    }
    let answer = try await mock.session.text("GET", "https://a.b/old", headers: bound.merging(["X-Kept": "1"]) { $1 })
    #expect(answer == (200, "there"))
    let there = try #require(mock.requests("https://c.d/new").first)
    for name in bound.keys { #expect(there.field(name) == nil, "\(name)") }
    #expect(there.field("X-Kept") == "1")
  }

  @Test("To the same host they do")
  func sameHost() async throws {
    let mock = MockInterceptor {
      Stub(.get, "https://a.b/old", .redirect(to: "/new"))
      Stub(.get, "https://a.b/new", .text("there"))
    }
    _ = try await mock.session.text(
      "GET", "https://a.b/old", headers: ["WWW-Authenticate": "Basic", "X-Hop": "1", "Connection": "X-Hop"])
    let there = try #require(mock.requests("/new").first)
    #expect(there.field("WWW-Authenticate") == "Basic")
    #expect(there.field("X-Hop") == "1")
  }
}
