import Foundation
import Testing
import WaylayCore
import WaylayMocks

@Suite("Answers", .timeLimit(.minutes(5))) struct AnswerTests {
  @Test("status, header fields and JSON reach the app")
  func json() async throws {
    struct User: Codable, Equatable { var name: String }
    let answer = try await MockResponse.json(User(name: "Ada"), status: 201).field("X-Trace", "7").answer()
    #expect(answer.status == 201)
    #expect(answer.field("Content-Type") == "application/json")
    #expect(answer.field("X-Trace") == "7")
    #expect(answer.field("Content-Length") == "14")
    #expect(try JSONDecoder().decode(User.self, from: answer.data) == User(name: "Ada"))
  }

  @Test("JSON may be written as literals of several types, or as one")
  func literals() async throws {
    #expect(
      try await MockResponse.json(["b": 1, "a": [nil, true, 2.5, "x"]]).direct().text
        == #"{"b":1,"a":[null,true,2.5,"x"]}"#)
    #expect(try await MockResponse.json([]).direct().text == "[]")
    #expect(try await MockResponse.json(["b": 1, "a": 2]).direct().text == #"{"b":1,"a":2}"#)
    #expect(try await MockResponse.json([1, 2]).direct().text == "[1,2]")
    let patched = MockResponse.json(["a": 1, "b": "x"]).mergingJSON(["a": nil, "c": 3, "b": "y"])
    #expect(try await patched.direct().text == #"{"b":"y","c":3}"#)
    #expect(
      try await MockResponse.events([.json(["a": 1, "b": "x"])]).direct().text == "data: {\"a\":1,\"b\":\"x\"}\n\n")
  }

  @Test("a header field is replaced, added, or taken away")
  func fields() async throws {
    let response = try await MockResponse.text("x").field("A", "1").field("a", "2").addingField("B", "1")
      .addingField("B", "2")
      .removingField("content-type").fields(["C": "3"]).direct()
    #expect(response.fields.filter { $0.name.canonicalName == "a" }.map(\.value) == ["2"])
    #expect(response.fields.filter { $0.name.canonicalName == "b" }.map(\.value) == ["1", "2"])
    #expect(response.fields[.contentType] == nil)
    #expect(response.head.value(forHTTPHeaderField: "C") == "3")
  }

  @Test("two Set-Cookie fields are stored in the session's storage and sent with the next request")
  func cookies() async throws {
    let answering = Answering { request in
      .text(request.fields[.cookie] ?? "none").cookie("a=1; Path=/").cookie("b=2; Path=/")
    }
    let session = answering.session()
    defer { session.invalidateAndCancel() }
    let (first, _) = try await session.data(from: .mocked)
    let (second, _) = try await session.data(from: .mocked)
    #expect(String(decoding: first, as: UTF8.self) == "none")
    let sent = String(decoding: second, as: UTF8.self).split(separator: "; ").sorted()
    #expect(sent == ["a=1", "b=2"])
    #expect(session.configuration.httpCookieStorage?.cookies(for: .mocked)?.count == 2)
  }

  @Test(
    "a mistake in an answer is kept, and fails the load with what to do",
    arguments: [
      (MockResponse.status(99), MockError.Code.invalidResponse, "99"),
      (.status(1000), .invalidResponse, "1000"),
      (.json(["a": 1], status: 100), .invalidResponse, "100"),
      (.text("x").status(-1), .invalidResponse, "-1"),
      (.text("x").field("no name", "x"), .invalidResponse, "no name"),
      (.text("x").field("A", "x\r\nB: y"), .invalidResponse, "line break"),
      (.json(Double.nan), .invalidJSON, "Double"),
      (.json(text: "{\n  \"a\": 1,\n}"), .invalidJSON, "line 3"),
      (.text("x").delay(.seconds(-1)), .invalidTiming, "below zero"),
      (.text("x").duration(.seconds(-1)), .invalidTiming, "below zero"),
      (.text("x").bandwidth(bytesPerSecond: .nan), .invalidTiming, "nan"),
      (.text("x").bandwidth(bytesPerSecond: 0), .invalidTiming, "0"),
      (.text("x").network(.threeG.loss(2)), .invalidTiming, "3G"),
      (.text("x").fault(.connectionReset(afterBytes: -1)), .invalidResponse, "negative"),
      (.redirect(to: "/x", status: 200), .invalidResponse, "redirect"),
      (.file(URL(fileURLWithPath: "/nowhere/users.json")), .unreadableFile, "/nowhere/users.json"),
      (.file(URL(fileURLWithPath: "/")), .unreadableFile, "folder"),
      (.resource("users", withExtension: "json", in: .main), .unreadableFile, "users.json"),
      (.events([.init("x", id: "a\nb")]), .invalidResponse, "id"),
      (.events([.json(Double.infinity)]), .invalidJSON, "Double"),
      (.text("x").requiringBasic(user: "a:b", password: "c"), .invalidResponse, "colon"),
      (.passThrough.mergingJSON(parsing: "{"), .invalidJSON, "line 1"),
    ])
  func mistakes(response: MockResponse, code: MockError.Code, hint: String) async throws {
    let mistake = try #require(await response.mistake())
    #expect(mistake.code == code)
    #expect(mistake.message.contains(hint))
  }

  @Test("an answer to HEAD has the length and no body; 204 and 304 have neither")
  func bodiless() async throws {
    let head = try await MockResponse.text("hello").direct(to: .mocked("HEAD"))
    #expect(head.fields[.contentLength] == "5")
    #expect(head.body.isEmpty)
    for status in [204, 304] {
      let response = try await MockResponse.text("hello").status(status).direct()
      #expect(response.body.isEmpty)
      #expect(response.fields[.contentLength] == nil)
    }
  }

  @Test("a closure sees the request, synchronously and asynchronously")
  func computed() async throws {
    let sync = Answering(parameters: ["id": "42"]) { request in
      .text("\(request.parameters["id"] ?? "") \(request.body.count)")
    }
    #expect(try await sync.answer(to: .mocked("POST", body: "abc")).text == "42 3")
    let async = Answering { request in
      await Task.yield()
      return .text(request.urlRequest.httpMethod ?? "").field("X-Outer", "1")
    }
    #expect(try await async.answer().field("X-Outer") == "1")
    let failing = MockInterceptor { Stub(.any) { throw URLError(.userAuthenticationRequired) } }
    await #expect(throws: URLError(.userAuthenticationRequired)) { try await failing.ask(URLRequest(url: .mocked)) }
  }
}
