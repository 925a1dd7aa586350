import Foundation
import TestSupport
import Testing
import WaylayHAR
import WaylayMocks

@Suite("Secrets in reports", .timeLimit(.minutes(5)))
struct SecretTests {
  /// What a mock says of a request that it has no stub for.
  private func report(
    _ body: String, type: String? = nil, url: String = "https://a.b/x", headers: [String: String] = [:],
    showing: Set<String> = [],
    @StubBuilder _ stubs: () -> [Stub] = { [] }
  ) async throws -> String {
    let list = stubs()
    let mock = MockInterceptor(.init(unredactedNames: showing)) { list }
    let fields = headers.merging(type.map { ["Content-Type": $0] } ?? [:]) { $1 }
    let error = await failure { try await mock.ask(.make("POST", url, body: Data(body.utf8), headers: fields)) }
    let text = try #require(mockError(error)).message
    #expect(mock.issues.map(\.message).contains(text))
    return text
  }

  @Test("What is missing from JSON, too many in it, or different is masked by the names inside it, at any depth")
  func insideDifferences() async throws {
    let text = try await report(#"{"user":{"api_key":"pl4nted","pin":1234,"name":"Ada"},"list":[{"token":"pl4nted"}]}"#)
    {
      Stub(.post, "/x").where(
        .body(
          .json(["account": ["secrets": [["password": "pl4nted"]], "pin": 1234], "user": "Ada", "list": [[:]]])))
      Stub(.post, "/x").where(.body(.jsonSubset(["user": ["pin": 5678, "session": ["id": "pl4nted"]]])))
    }
    #expect(!text.contains("pl4nted") && !text.contains("1234") && !text.contains("5678"), "\(text)")
    #expect(text.contains("body at $.user.pin"))
    #expect(text.contains(#"{"api_key":"<redacted>","pin":"<redacted>","name":"Ada"}"#), "\(text)")
  }

  @Test("A JSON path shows no secret, neither one that it names nor one that it meets")
  func jsonPaths() async throws {
    let text = try await report(#"{"user":{"pin":1234,"name":"Ada"}}"#) {
      Stub(.post, "/x").where(.body(.jsonPath("$.user.pin", equals: 5678)))
      Stub(.post, "/x").where(.body(.jsonPath("$.user.*", equals: ["pin": 5678])))
      Stub(.post, "/x").where(.body(.jsonPath("$.user", equals: ["pin": 5678])))
    }
    #expect(!text.contains("1234") && !text.contains("5678"), "\(text)")
    #expect(text.contains(#"expected {"pin":"<redacted>"}"#), "\(text)")
    #expect(text.contains(#""Ada""#))
  }

  @Test("A difference in a secret is another value, and not two marks")
  func anotherValue() async throws {
    let type = "application/x-www-form-urlencoded"
    let text = try await report("password=pl4nted", type: type, headers: ["X-Api-Key": "pl4nted"]) {
      Stub(.post, "/x?token=pl4ntedb").where(
        .field("X-Api-Key", "pl4ntedb"), .body(.form(["password": "pl4ntedb"])))
    }
    #expect(text.components(separatedBy: "but was  another value").count == 3, "\(text)")
    let json = try await report(#"{"a":{"pin":1234}}"#) {
      Stub(.post, "/x").where(.body(.json(["a": ["pin": 5678]])))
      Stub(.post, "/x").where(.body(.jsonPath("$.a", equals: ["pin": 5678])))
    }
    #expect(json.components(separatedBy: "but was  another value").count == 3, "\(json)")
    #expect(!(text + json).contains("but was  <redacted>"))
  }

  @Test("Where a long text is cut off, no beginning of a secret is shown", arguments: [1_980, 1_990, 1_995])
  func cutOff(length: Int) async throws {
    let words = String(repeating: "a b ", count: length / 4)
    let text = try await report(
      "", headers: ["X-Api-Key": "pl4nted0123456789", "X-Note": words + "pl4nted0123456789 c"]
    ) {
      Stub(.post, "/x").where(.field("X-Note", "d"))
    }
    #expect(!text.contains("pl4n") && text.contains("but was  a b a b "), "\(text)")
  }

  @Test("Fields of forms are masked, in what was sent and in what a stub wants, whatever else was expected")
  func forms() async throws {
    let type = "application/x-www-form-urlencoded"
    let text = try await report("user=ada&password=pl4nted&user%5Bpin%5D=1234", type: type) {
      Stub(.post, "/x").where(.body(.form(["user": "ada", "password": "pl4ntedb", "pin": "5678"])))
      Stub(.post, "/x").where(.body(.text("password=pl4nted")))
      Stub(.post, "/x").where(.body(.json(["user": "ada"])))
    }
    #expect(!text.contains("pl4nted") && !text.contains("1234") && !text.contains("5678"), "\(text)")
    #expect(text.contains("user=ada"))
    let untyped = try await report("user=ada&password=pl4nted") { Stub(.post, "/x").where(.body(.empty)) }
    #expect(!untyped.contains("pl4nted"), "\(untyped)")
  }

  @Test(
    """
    JSON that states no media type is masked where a form was wanted: all of it may be taken for a name, or for a \
    value
    """
  )
  func untypedJSON() async throws {
    let bodies = [
      #"{"user":{"token":"pl4nted","title":"Hello"}}"#, #"data={"user":{"token":"pl4nted"}}"#,
      #"{"url":"/?a=1","user":{"password":"pl4nted"}}"#,
    ]
    for body in bodies {
      let text = try await report(body) { Stub(.post, "/x").where(.body(.form(["user": "ada"]))) }
      #expect(!text.contains("pl4nted"), "\(text)")
    }
  }

  @Test("Parts of multipart forms are masked by their names")
  func multipart() async throws {
    let body = """
      --b\r
      Content-Disposition: form-data; name="password"\r
      \r
      pl4nted\r
      --b\r
      Content-Disposition: form-data; name="meta"\r
      \r
      {"token":"pl4nted","title":"Hello"}\r
      --b--\r\n
      """
    let text = try await report(body, type: "multipart/form-data; boundary=b") {
      Stub(.post, "/x").where(.body(.multipart(["password": .text("pl4ntedb"), "meta": .text("{}")])))
      Stub(.post, "/x").where(.body(.multipart(["password": .text("pl4ntedb"), "meta": .json(["token": "pl4ntedb"])])))
      Stub(.post, "/x").where(.body(.text("other")))
    }
    #expect(!text.contains("pl4nted"), "\(text)")
    #expect(text.contains(#""title":"Hello""#), "\(text)")
  }

  @Test("JSON that was cut off, XML and header fields show no secret either")
  func otherTexts() async throws {
    for body in [
      #"{"user": {"api_key": "pl4nted", "na"#, "<login><password>pl4nted</password></login>",
      "Authorization: Bearer pl4nted",
      "the Bearer pl4nted-1 was sent", "token = 'pl4nted'",
    ] {
      let text = try await report(body, headers: ["X-Note": "token=pl4nted", "X-Credential": "pl4nted"]) {
        Stub(.post, "/x").where(.body(.json(["a": 1])))
        Stub(.post, "/x").where(.body(.text("api_key=pl4nted")))
      }
      #expect(!text.contains("pl4nted"), "\(text)")
    }
  }

  @Test("No request shows its secret, in whatever shape", arguments: ["access_token", "userPassword", "api-key"])
  func shapes(name: String) async throws {
    for planting in Plantings.each(name, { _ in Plantings.secret }) {
      let request = planting.entry.request
      let json = try? JSONValue(reading: request.body?.data ?? Data())
      let mock = MockInterceptor {
        Stub(.post, "/x").where(.body(.json(["a": 1])), .query("a", "0"))
        Stub(.post, "/x").where(.body(.text("a")))
        Stub(.post, "/x").where(.body(.form(["a": "0"])))
        Stub(.post, "/x").where(.body(.jsonPath("$.*", equals: 0)))
        Stub(.post, "/x").where(.body(.multipart(["a": .text("0")])))
        if let json { Stub(.post, "/x").where(.body(.json(json.withOtherTexts))) }
      }
      var fields = Dictionary(request.headers.map { ($0.name, $0.value) }) { $1 }
      if let type = request.body?.mediaType, !type.isEmpty { fields["Content-Type"] = type }
      let url = try #require(URL(string: request.url.replacing("%zz", with: "")))
      let error = await failure {
        try await mock.ask(.make("POST", url.absoluteString, body: request.body?.data ?? Data(), headers: fields))
      }
      let text = try #require(mockError(error)).message
      #expect(!Plantings.isSeen(in: Data(text.utf8)), "\(planting): \(text)")
    }
  }

  @Test("The secrets of a stub's own URL are masked")
  func patterns() async throws {
    let text = try await report("", url: "https://a.b/y") {
      Stub(.post, "https://ada:pl4nted@a.b/x?token=pl4nted&q=1")
      Stub(.post, "/x").where(.query("token", "pl4nted"), .query("q", "1"))
    }
    #expect(!text.contains("pl4nted"), "\(text)")
    #expect(text.contains("POST https://a.b/x?token=…&q=1"), "\(text)")
  }

  @Test("What only sounds secret is shown when the mock is told so, in issues, descriptions and verifications")
  func showing() async throws {
    let body = #"{"session_key":"name","Pin":1234,"password":"pl4nted"}"#
    let masked = try await report(body) {
      Stub(.post, "/x").where(.body(.jsonSubset(["session_key": "date", "Pin": 1])))
    }
    #expect(!masked.contains("\"name\"") && !masked.contains("1234"), "\(masked)")
    let shown = try await report(body, showing: ["session_key", "PIN"]) {
      Stub(.post, "/x").where(.body(.jsonSubset(["session_key": "date", "Pin": 1, "password": "pl4ntedb"])))
    }
    #expect(
      shown.contains(#"expected "date""#) && shown.contains(#"but was  "name""#) && shown.contains("but was  1234"),
      "\(shown)")
    #expect(!shown.contains("pl4nted"))
    let mock = MockInterceptor(.init(unredactedNames: ["session_key"])) {
      Stub(.get, "/x?session_key=name", .status(200))
    }
    try await mock.ask(.get("https://a.b/x?session_key=name"))
    #expect(mock.requests.map(\.description) == ["GET https://a.b/x?session_key=name"])
    #expect("\(Stub(.get, "/x?session_key=name"))" == "GET /x?session_key=…")
  }

  @Test("A field that is known to be no secret is shown")
  func harmless() async throws {
    let text = try await report("x", headers: ["Idempotency-Key": "42"]) {
      Stub(.post, "/x").where(.field("Idempotency-Key", "43"))
    }
    #expect(text.contains("expected 43") && text.contains("but was  42"), "\(text)")
  }
}

extension JSONValue {
  /// The value with another text in place of each one.
  fileprivate var withOtherTexts: JSONValue {
    switch kind {
    case .string: "other"
    case .array(let elements): JSONValue(.array(elements.map(\.withOtherTexts)))
    case .object(let members):
      JSONValue(.object(members.map { Member(name: $0.name, value: $0.value.withOtherTexts) }))
    default: self
    }
  }
}
