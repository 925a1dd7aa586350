import TestSupport
import Testing
import WaylayMocks

@Suite("Answers that are the same for every request", .heavy, .timeLimit(.minutes(10)))
struct PreparedTests {
  /// An answer given at once, and the same one that is computed: both ways must agree.
  @Test(
    "They are what a computed answer would be",
    arguments: ["GET", "HEAD", "POST"],
    [
      MockResponse.text("hello"), .status(204), .status(304), .text("x").status(204),
      .data(Data("x".utf8)).field("Content-Length", "1"),
      .json(["a": 1]).field("X-Id", "1").field("X-Id", "2"), .text("x").field("Transfer-Encoding", "chunked"),
      .text("0123456789").servingRanges(), .text("x").status(404).cookie("a=1"), .redirect(to: "/y"),
    ])
  func agree(_ method: String, _ response: MockResponse) async throws {
    let request = URLRequest.make(method, "https://a.b/x", headers: ["Range": "bytes=2-3"])
    let declared = try await MockInterceptor { Stub("/x", response) }.ask(request)
    let computed = try await MockInterceptor { Stub("/x") { _ in response } }.ask(request)
    #expect(declared.status == computed.status)
    #expect(Array(declared.fields) == Array(computed.fields))
    #expect(declared.url == computed.url)
    #expect(declared.source == computed.source)
    let (one, other) = (try await declared.body.collect(upTo: 100), try await computed.body.collect(upTo: 100))
    #expect(one == other)
  }

  @Test(
    "An answer that is given again is as it was, whatever an interceptor made of it before, and has the URL that was asked"
  )
  func again() async throws {
    struct Changing: InlineResponding {
      func respondInline(_ request: InterceptedRequest) -> InlineResponse { .startLoading }

      func startLoading(
        _ request: InterceptedRequest, next: InterceptorChain.Next
      ) async throws -> InterceptedResponse {
        var response = try await next(request)
        guard request.fields[.accept] == "changed" else { return response }
        response.status = .created
        response.fields[.server] = "a link"
        return response
      }
    }
    let mock = MockInterceptor { Stub("https://a.b/:page", .text("hello")) }
    let session = URLSession(
      configuration: .ephemeral.intercepted(
        by: InterceptorRegistry {
          Changing()
          mock
        }))
    defer { session.invalidateAndCancel() }
    let asked = [("x", false), ("x", false), ("x", true), ("x", true), ("x", false), ("y", true), ("x", false)]
    for (page, isChanged) in asked {
      let request = URLRequest.make("GET", "https://a.b/\(page)", headers: ["Accept": isChanged ? "changed" : "all"])
      let (data, response) = try await session.data(for: request)
      let head = try #require(response as? HTTPURLResponse)
      #expect(String(decoding: data, as: UTF8.self) == "hello")
      #expect(head.url == request.url)
      #expect(head.statusCode == (isChanged ? 201 : 200))
      #expect(head.value(forHTTPHeaderField: "Server") == (isChanged ? "a link" : nil))
      #expect(head.value(forHTTPHeaderField: "Content-Length") == "5")
    }
  }

  @Test("An answer is found among ten thousand stubs wherever it stands, and only what may match is asked")
  func index() async throws {
    let asked = Log<Int>()
    let mock = MockInterceptor(.init(unmatched: .status(501))) {
      for number in 0..<10_000 {
        let host = "https://host\(number % 10).example.com"
        Stub(.get, "\(host)/items/\(number)/:part", .text("\(number)"))
          .where(
            .predicate("counted") { _ in
              asked.add(number)
              return true
            }
          ).optional
      }
      Stub(.get, "https://host1.example.com/items/:id?page=1", .text("page")).optional
    }
    for number in [0, 1, 4_999, 5_000, 9_998, 9_999] {
      let text = try await mock.text("GET", "https://host\(number % 10).example.com/items/\(number)/detail")
      #expect(text == "\(number)")
    }
    #expect(try await mock.text("GET", "https://host1.example.com/items/7?page=1") == "page")
    #expect(asked.all == [0, 1, 4_999, 5_000, 9_998, 9_999])
  }
}
