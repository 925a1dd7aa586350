import Testing
import WaylayMocks

@Suite("Conditions on query and header fields", .timeLimit(.minutes(5)))
struct ConditionTests {
  @Test("Query items among others, or exactly")
  func query() async throws {
    let some = Stub("/s").where(.query("a", "1"), .query("b", nil))
    #expect(try await some.matches(.get("https://a.b/s?x=9&b&a=1")))
    #expect(try await !some.matches(.get("https://a.b/s?b=&a=1")))
    #expect(try await !some.matches(.get("https://a.b/s?b")))
    let repeated = Stub("/s").where(.query(["a": "1", "a": "3"]))
    #expect(try await repeated.matches(.get("https://a.b/s?a=1&a=2&a=3")))
    #expect(try await !repeated.matches(.get("https://a.b/s?a=3&a=1")))
    let exact = Stub("/s").where(.query(["b": "2", "a": "1"], exactly: true))
    #expect(try await exact.matches(.get("https://a.b/s?a=1&b=2")))
    #expect(try await !exact.matches(.get("https://a.b/s?a=1&b=2&c=3")))
    #expect(try await Stub("/s").where(.query("a")).matches(.get("https://a.b/s?a=anything")))
    #expect(try await !Stub("/s").where(.query("a")).matches(.get("https://a.b/s?A=1")))
  }

  @Test("Header fields, whatever the case of their names")
  func headers() async throws {
    let request = URLRequest.make("GET", "https://a.b/s", headers: ["X-Tenant": "acme", "Accept": "text/html;q=0.5"])
    #expect(try await Stub("/s").where(.field("x-tenant", "acme")).matches(request))
    #expect(try await !Stub("/s").where(.field("x-tenant", "ACME")).matches(request))
    #expect(try await Stub("/s").where(.field("X-TENANT")).matches(request))
    #expect(try await !Stub("/s").where(.field("X-Other")).matches(request))
    #expect(try await Stub("/s").where(.field("accept", regex: "^text/.*q=0")).matches(request))
  }

  @Test("And, or, not, and a predicate by its name")
  func combinations() async throws {
    let stub = Stub("/s").where(.field("X-Beta") && (.query("page") || !.query("all")))
    let beta = ["X-Beta": "1"]
    #expect(try await stub.matches(.make("GET", "https://a.b/s?page=1&all", headers: beta)))
    #expect(try await stub.matches(.make("GET", "https://a.b/s", headers: beta)))
    #expect(try await !stub.matches(.make("GET", "https://a.b/s?all", headers: beta)))
    #expect(try await !stub.matches(.make("GET", "https://a.b/s?page=1")))
    let even = Stub("/pages/:n").where(
      .predicate("an even page") { Int($0.parameters["n"] ?? "").map { $0 % 2 == 0 } ?? false })
    #expect(try await even.matches(.get("https://a.b/pages/4")))
    #expect(try await !even.matches(.get("https://a.b/pages/5")))
    #expect(try await Stub(.any).where(.method(.put) || .url("/x")).matches(.make("PUT", "https://a.b/y")))
  }

  @Test("Methods are compared, whatever their case; a stub without one is for all")
  func methods() async throws {
    #expect(try await Stub(.post, "/s").matches(.make("post", "https://a.b/s")))
    #expect(try await !Stub(.get, "/s").matches(.make("HEAD", "https://a.b/s")))
    #expect(try await Stub("/s").matches(.make("PURGE", "https://a.b/s")))
  }

  @Test("A wrong expression in a condition is an issue at the stub's line")
  func mistakes() async throws {
    let line: UInt = #line + 2
    let mock = MockInterceptor {
      Stub(.get, "/a", .status(200))
        .where(
          .field("X", regex: "(") || .body(.regex("[")), .body(.json(parsing: #"{"a": }"#)),
          .body(.jsonPath("$.[", equals: 1)))
    }
    #expect(mock.issues.map(\.kind) == [.invalidStub, .invalidStub, .invalidStub, .invalidStub])
    #expect(mock.issues.allSatisfy { $0.location.line == line })
    #expect(mock.issues[2].message.contains("line 1, column 7"))
    await #expect(throws: URLError.self) { try await mock.ask(.get("https://a.b/a")) }
  }
}
