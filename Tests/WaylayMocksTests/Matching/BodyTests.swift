import TestOrigin
import TestSupport
import Testing
import WaylayMocks

@Suite("Conditions on the body", .timeLimit(.minutes(5)))
struct BodyTests {
  private func post(_ body: String, type: String? = nil) -> URLRequest {
    .make("POST", "https://a.b/x", body: Data(body.utf8), headers: type.map { ["Content-Type": $0] } ?? [:])
  }

  private func matches(_ matcher: BodyMatcher, _ body: String, type: String? = nil) async throws -> Bool {
    try await Stub(.post, "/x").where(.body(matcher)).matches(post(body, type: type))
  }

  @Test("Bytes, text, an expression, none, some")
  func plain() async throws {
    #expect(try await matches(.data(Data([0x68, 0x69])), "hi"))
    #expect(try await !matches(.data(Data([0x68])), "hi"))
    #expect(try await matches(.text("hi"), "hi"))
    #expect(try await matches(.regex("^h.$"), "hi"))
    #expect(try await !matches(.regex("^.$"), "hi"))
    #expect(try await matches(.empty, ""))
    #expect(try await !matches(.empty, "x"))
    #expect(try await matches(.present, "x"))
    #expect(try await !matches(.present, ""))
  }

  struct Order: Codable {
    var id = 42
    var items = ["book"]
  }

  @Test("JSON by value: neither the order of members, nor spaces, nor how a number is written count")
  func json() async throws {
    let value: JSONValue = ["id": 42, "items": ["book", nil, true], "price": 1.5, "name": "Ada \"\n"]
    let same = #"{ "price": 15e-1, "name": "Ad\u0061 \"\n", "items": ["book", null, true], "id": 42.0 }"#
    #expect(try await matches(.json(value), same))
    #expect(try await !matches(.json(value), #"{"id": 42}"#))
    #expect(try await !matches(.json(["a": [1, 2]]), #"{"a": [2, 1]}"#))
    #expect(try await !matches(.json(["a": 10_000_000_000_000_001]), #"{"a": 10000000000000000}"#))
    #expect(try await !matches(.json(["a": 1]), #"{"a": "1"}"#))
    #expect(try await !matches(.json(["a": 1]), #"{"a": true}"#))
    #expect(try await !matches(.json([:]), "not JSON"))
    #expect(try await matches(.json(Order()), #"{"items":["book"],"id":42}"#))
    #expect(try await matches(.json(parsing: #"{"a": 1}"#), #"{"a":1.0}"#))
  }

  @Test("A part of a JSON value, and what stands at a path")
  func jsonParts() async throws {
    let body = #"{"user": {"name": "Ada", "tags": ["a", "b"]}, "items": [{"id": 1}, {"id": 2}], "odd.name": 7}"#
    #expect(try await matches(.jsonSubset(["user": ["name": "Ada"]]), body))
    #expect(try await matches(.jsonSubset(["items": [["id": 1], [:]]]), body))
    #expect(try await !matches(.jsonSubset(["items": [["id": 1]]]), body))
    #expect(try await !matches(.jsonSubset(["user": ["name": "Bob"]]), body))
    #expect(try await matches(.jsonPath("$.user.name", equals: "Ada"), body))
    #expect(try await matches(.jsonPath("items[1].id", equals: 2), body))
    #expect(try await matches(.jsonPath("$.items[-1].id", equals: 2), body))
    #expect(try await matches(.jsonPath("$.items[*].id", equals: 2), body))
    #expect(try await matches(.jsonPath("$['odd.name']", equals: 7), body))
    #expect(try await !matches(.jsonPath("$.items[2].id", equals: 2), body))
    #expect(try await matches(.jsonPath(exists: "$.user.tags"), body))
    #expect(try await !matches(.jsonPath(exists: "$.user.age"), body))
  }

  @Test("Forms: whatever the order of the fields, plus signs are spaces")
  func forms() async throws {
    #expect(try await matches(.form(["user": "Ada L", "x": "1"]), "x=1&user=Ada+L"))
    #expect(try await matches(.form(["user": "ä&="]), "user=%C3%A4%26%3D"))
    #expect(try await !matches(.form(["user": "Ada"]), "user=Ada&x=1"))
    #expect(try await matches(.form(["user": "Ada"], exactly: false), "user=Ada&x=1"))
    #expect(try await !matches(.form(["t": "1", "t": "2"]), "t=2&t=1"))
  }

  private func multipart(_ boundary: String, preamble: String = "") -> String {
    preamble + """
      --\(boundary)\r
      Content-Disposition: form-data; name="title"\r
      \r
      Hello\r
      --\(boundary)\r
      content-type: image/png\r
      Content-Disposition: form-data; filename="a;b \\"c\\".png"; name="file"\r
      \r
      line\r\n\r\n--not the boundary\r
      --\(boundary)--\r\n
      """
  }

  @Test("Multipart forms: the boundary does not count", arguments: ["XYZ", "----WebKitFormBoundary7MA4YWxkTrZu0gW"])
  func multipartForms(_ boundary: String) async throws {
    let file = BodyMatcher.data(Data("line\r\n\r\n--not the boundary".utf8))
    let parts: KeyValuePairs<String, BodyMatcher> = ["title": .text("Hello"), "file": file]
    let type = "multipart/form-data; boundary=\(boundary)"
    #expect(try await matches(.multipart(parts), multipart(boundary), type: type))
    #expect(
      try await matches(
        .multipart(parts), multipart(boundary, preamble: "preamble\r\n"),
        type: "Multipart/Form-Data; boundary=\"\(boundary)\""))
    #expect(try await !matches(.multipart(["title": .text("Hello")]), multipart(boundary), type: type))
    #expect(try await matches(.multipart(["file": file], exactly: false), multipart(boundary), type: type))
    #expect(try await !matches(.multipart(["title": .text("Bye")], exactly: false), multipart(boundary), type: type))
    #expect(try await !matches(.multipart(parts), multipart(boundary), type: "multipart/form-data; boundary=other"))
  }

  @Test("A cut multipart body is not one, and traps nothing")
  func cutMultipart() async throws {
    let whole = Array(multipart("b").utf8)
    for length in 0..<whole.count {
      let request = URLRequest.make(
        "POST", "https://a.b/x", body: Data(whole[..<length]),
        headers: ["Content-Type": "multipart/form-data; boundary=b"])
      let found = try await Stub(.post, "/x").where(.body(.multipart(["title": .text("Hello")], exactly: false)))
        .matches(
          request)
      #expect(found == (length >= whole.count - 2))
    }
  }

  @Test(
    "A stream is read once for a hundred conditions, which all see it, as do the handler, the history and the network")
  func readOnce() async throws {
    let origin = try await TestOrigin.start()
    let reads = Log<Int>()
    let chunks = AsyncStream<Data>(unfolding: {
      reads.add(1)
      return reads.all.count <= 3 ? Data("part \(reads.all.count) ".utf8) : nil
    })
    let seen = Log<String>()
    let mock = MockInterceptor(.init(unmatched: .passThrough)) {
      for number in 0..<50 { Stub(.post, "**").where(.body(.text("\(number)"))).optional }
      for number in 0..<50 {
        Stub(.post, "**").where(
          .predicate("predicate \(number)") { request in
            seen.add(request.text)
            return false
          }
        ).optional
      }
    }
    let registry = InterceptorRegistry { mock }
    _ = try await registry.upload(
      for: URLRequest.make("POST", origin.url("/echo").absoluteString), from: .stream(chunks))
    registry.invalidate()
    let whole = "part 1 part 2 part 3 "
    #expect(origin.requests.map(\.body) == [Data(whole.utf8)])
    #expect(reads.all.count == 4)
    #expect(seen.all == Array(repeating: whole, count: 50))
    #expect(mock.requests.first?.body == Data(whole.utf8))
    await origin.stop()
  }

  @Test("Uploads of data, of a file and of a stream match, and the computed answer sees their bytes")
  func uploads() async throws {
    let mock = MockInterceptor {
      Stub(.post, "/upload") { request in .text("got \(request.body.count)") }.where(.body(.regex("^uploaded")))
    }
    let session = mock.session
    let body = Data("uploaded bytes".utf8)
    let request = URLRequest.make("POST", "https://a.b/upload")
    let (fromData, _) = try await session.upload(for: request, from: body)
    #expect(String(decoding: fromData, as: UTF8.self) == "got 14")
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-\(UUID().uuidString)")
    try body.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let (fromFile, _) = try await session.upload(for: request, fromFile: file)
    #expect(String(decoding: fromFile, as: UTF8.self) == "got 14")
    var streamed = request
    streamed.httpBodyStream = InputStream(data: body)
    let (fromStream, _) = try await session.data(for: streamed)
    #expect(String(decoding: fromStream, as: UTF8.self) == "got 14")
    var plain = request
    plain.httpBody = body
    let (fromBody, _) = try await session.data(for: plain)
    #expect(String(decoding: fromBody, as: UTF8.self) == "got 14")
    #expect(mock.requests.map(\.body) == [body, body, body, body])
  }

  @Test("A body over the limit fails its load with the limit's name")
  func limit() async throws {
    let mock = MockInterceptor(.init(bodyLimit: 8)) { Stub(.post, "/x", .status(200)) }
    let stream = AsyncStream<Data> { continuation in
      for _ in 0..<3 { continuation.yield(Data("12345".utf8)) }
      continuation.finish()
    }
    let error = await failure { try await mock.ask(.make("POST", "https://a.b/x"), body: .stream(stream)) }
    #expect(mockError(error)?.code == .bodyTooLarge)
    #expect(mockError(error)?.message.contains("bodyLimit") == true)
  }
}
