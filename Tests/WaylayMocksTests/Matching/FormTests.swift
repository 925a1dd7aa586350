import TestSupport
import Testing
import WaylayMocks

@Suite("Forms, parts and plus signs", .timeLimit(.minutes(5)))
struct FormTests {
  private func parts(_ parts: (String, String)...) -> String {
    parts.map { "--b\r\nContent-Disposition: form-data; \($0.0)\r\n\r\n\($0.1)\r\n" }.joined() + "--b--\r\n"
  }

  private func post(_ body: String, type: String? = "multipart/form-data; boundary=b") -> URLRequest {
    .make("POST", "https://a.b/x", body: Data(body.utf8), headers: type.map { ["Content-Type": $0] } ?? [:])
  }

  private func matches(
    _ matcher: BodyMatcher, _ body: String, type: String? = "multipart/form-data; boundary=b"
  ) async throws -> Bool {
    try await Stub(.post, "/x").where(.body(matcher)).matches(post(body, type: type))
  }

  private func report(_ request: URLRequest, _ stub: Stub) async throws -> String {
    let mock = MockInterceptor { stub }
    return try #require(mockError(await failure { try await mock.ask(request) })).message
  }

  @Test("The parts of a multipart form come in any order")
  func anyOrder() async throws {
    let wanted: KeyValuePairs<String, BodyMatcher> = ["a": .text("1"), "b": .text("2"), "a": .text("3")]
    for (first, second, third) in [("1", "2", "3"), ("3", "2", "1")] {
      let sent = parts((#"name="b""#, second), (#"name="a""#, first), (#"name="a""#, third))
      #expect(try await matches(.multipart(wanted), sent))
    }
    #expect(
      try await !matches(.multipart(wanted), parts((#"name="b""#, "2"), (#"name="a""#, "1"), (#"name="a""#, "1"))))
    #expect(
      try await matches(.multipart(["a": .text("3")], exactly: false), parts((#"name="b""#, "2"), (#"name="a""#, "3")))
    )
  }

  @Test("Each part is found by its name and has a condition of its own")
  func byName() async throws {
    let sent = parts(
      (#"name="photo"; filename="a.png""#, "PNG"), (#"name="meta""#, #"{"album": 7, "tags": []}"#),
      (#"name="note""#, ""))
    #expect(
      try await matches(.multipart(["meta": .jsonSubset(["album": 7]), "photo": .present, "note": .empty]), sent))
    #expect(try await !matches(.multipart(["meta": .jsonSubset(["album": 7]), "photo": .present]), sent))
    #expect(try await matches(.multipart(["meta": .jsonSubset(["album": 7])], exactly: false), sent))
    #expect(try await !matches(.multipart(["meta": .jsonSubset(["album": 8])], exactly: false), sent))
    // The condition that takes anything leaves the part that another one needs.
    let twice = parts((#"name="a""#, "1"), (#"name="a""#, "2"))
    #expect(try await matches(.multipart(["a": .present, "a": .text("1")]), twice))
    let mock = MockInterceptor { Stub(.post, "/x").where(.body(.multipart(["meta": .regex("(")]))) }
    #expect(mock.issues.map(\.kind) == [.invalidStub])
  }

  @Test("A part is found by its file name and media type")
  func files() async throws {
    let sent =
      "--b\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a.png\"\r\nContent-Type: Image/PNG; q=1\r\n\r\n"
      + "PNG\r\n--b--\r\n"
    let matching: [BodyMatcher] = [
      .file("a.png"), .file("a.png", type: "image/png"), .file(nil, type: "IMAGE/png"),
      .file("a.png", content: .text("PNG")),
    ]
    for matcher in matching { #expect(try await matches(.multipart(["photo": matcher]), sent), "\(matcher)") }
    let others: [BodyMatcher] = [
      .file("b.png"), .file("a.png", type: "image/jpeg"), .file("a.png", content: .text("JPG")),
    ]
    for matcher in others { #expect(try await !matches(.multipart(["photo": matcher]), sent), "\(matcher)") }
    #expect(try await !matches(.multipart(["a": .file("a.png")]), parts((#"name="a""#, "1"))))
    #expect(try await matches(.multipart(["a": .file(nil, type: "text/plain")]), parts((#"name="a""#, "1"))))
    let text = try await report(
      post(sent), Stub(.post, "/x").where(.body(.multipart(["photo": .file("b.png", type: "image/gif")]))))
    #expect(text.contains("part photo, file name") && text.contains("expected b.png"), "\(text)")
    #expect(text.contains("part photo, type") && text.contains("but was  image/png"), "\(text)")
  }

  @Test("A report shows the part that differs, the one that is missing, and the one that is too many")
  func differences() async throws {
    let sent = parts((#"name="meta""#, #"{"album":7}"#), (#"name="title""#, "Hello"), (#"name="more""#, "x"))
    let text = try await report(
      post(sent),
      Stub(.post, "/x").where(
        .body(.multipart(["title": .text("Bye"), "meta": .json(["album": 8]), "photo": .present]))))
    #expect(text.contains("part title"), "\(text)")
    #expect(text.contains(#"expected "Bye""#) && text.contains(#"but was  "Hello""#), "\(text)")
    #expect(text.contains("part meta, body at $.album") && text.contains("but was  7"), "\(text)")
    #expect(text.contains("part photo") && text.contains("no such part"), "\(text)")
    #expect(text.contains("no other parts") && text.contains(#"more: "x""#), "\(text)")
    let whole = try await report(
      post(sent),
      Stub(.post, "/x").where(.body(.multipart(["title": .text("Hello"), "meta": .text("{}"), "more": .text("x")]))))
    #expect(whole.contains("part meta") && whole.contains(#"but was  {"album":7}"#), "\(whole)")
    #expect(!whole.contains("part title"))
  }

  @Test("The stub that is ready to be pasted for a multipart form matches it")
  func pasted() async throws {
    let text = try await report(
      post(parts((#"name="title""#, "Hello"), (#"name="f"; filename="x""#, "1"))), Stub(.get, "/other"))
    #expect(text.contains(#".body(.multipart(["title": .text("Hello"), "f": .present]))"#), "\(text)")
  }

  @Test("A form that calls itself something else is none")
  func mediaType() async throws {
    let form = "application/x-www-form-urlencoded"
    #expect(try await matches(.form(["a": "1"]), "a=1", type: form))
    #expect(try await matches(.form(["a": "1"]), "a=1", type: form + "; charset=utf-8"))
    #expect(try await matches(.form(["a": "1"]), "a=1", type: nil))
    #expect(try await !matches(.form(["a": "1"]), "a=1", type: "text/plain"))
    let text = try await report(post("a=1", type: "text/plain"), Stub(.post, "/x").where(.body(.form(["a": "1"]))))
    #expect(
      text.contains("expected application/x-www-form-urlencoded") && text.contains("but was  text/plain"), "\(text)")
  }

  @Test("A plus sign in a query is a space, and a report says how it was written")
  func plus() async throws {
    for query in ["q=a+b", "q=a%20b"] {
      #expect(try await Stub(.get, "/x").where(.query("q", "a b")).matches(.get("https://a.b/x?\(query)")))
      #expect(try await Stub(.get, "/x?q=a+b").matches(.get("https://a.b/x?\(query)")))
      #expect(try await Stub(.get, "/x?q=a%20b").matches(.get("https://a.b/x?\(query)")))
    }
    #expect(try await Stub(.get, "/x").where(.query("q", "a+b")).matches(.get("https://a.b/x?q=a%2Bb")))
    let mock = MockInterceptor { Stub(.get, "/x") { request in .text(request.query("q") ?? "") } }
    #expect(try await mock.text("GET", "https://a.b/x?q=1+1%2B1") == "1 1+1")
    let text = try await report(.get("https://a.b/x?q=1+1"), Stub(.get, "/x").where(.query("q", "1+1")))
    #expect(text.contains("expected q=1+1"), "\(text)")
    #expect(text.contains(#"but was  q=1 1 (written 1+1: a "+" is a space, a plus sign is written "%2B")"#), "\(text)")
  }

  @Test("JSON whose lists come in any order")
  func lists() async throws {
    let body = #"{"tags": ["b", {"id": 1}, "a"], "n": 1}"#
    let wanted: JSONValue = ["tags": ["a", "b", ["id": 1]], "n": 1]
    #expect(try await !matches(.json(wanted), body, type: nil))
    #expect(try await matches(.json(wanted, ignoringArrayOrder: true), body, type: nil))
    #expect(try await !matches(.json(wanted, ignoringArrayOrder: false), body, type: nil))
    #expect(try await !matches(.json(["tags": ["a", "b", "b"], "n": 1], ignoringArrayOrder: true), body, type: nil))
    #expect(try await !matches(.json(["tags": ["a", "b", ["id": 1]]], ignoringArrayOrder: true), body, type: nil))
    #expect(try await matches(.jsonSubset(["tags": ["a", [:]]], ignoringArrayOrder: true), body, type: nil))
    #expect(try await !matches(.json(["x": "${json-unit.ignore}"], ignoringArrayOrder: true), #"{"x": 1}"#, type: nil))
    let text = try await report(
      post(body, type: nil),
      Stub(.post, "/x").where(.body(.json(["tags": ["a", "c", ["id": 1]], "n": 1], ignoringArrayOrder: true))))
    #expect(
      text.contains("body at $.tags[*]") && text.contains(#"expected "c""#) && text.contains("no element like it"),
      "\(text)")
    #expect(text.contains("body at $.tags[0]") && text.contains(#"but was  "b""#), "\(text)")
  }
}
