import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore
import WaylayHAR
import WaylayInterceptors
import WaylayMocks

@Suite("RequestLogger", .timeLimit(.minutes(5)))
struct LoggerTests {
  private func log(
    _ detail: RequestLogger.Detail, limit: Int = 4096, _ request: InterceptedRequest, _ response: InterceptedResponse
  ) async throws -> [String] {
    let lines = Log<String>()
    let link = RequestLogger(detail, logger: .recording(lines), bodyLimit: limit)
    let result = try await link.load(
      request,
      Script { request, _ in
        _ = try await request.body.collect(upTo: 1 << 20)
        return response
      })
    _ = try await result.body.collect(upTo: 1 << 20)
    return lines.all
  }

  private var request: InterceptedRequest {
    InterceptedRequest(
      .post, "http://api.example.com/v1?access_token=pl4nted&q=cats",
      fields: [.authorization: "Bearer pl4nted", .contentType: "application/json", .userAgent: "app/1.0"],
      body: .text(#"{"password": "pl4nted", "name": "Ada"}"#))
  }

  private var response: InterceptedResponse {
    InterceptedResponse(
      to: request, status: .created,
      fields: [.setCookie: "sid=pl4nted", .contentType: "application/json", .server: "test"],
      body: .text(#"{"token": "pl4nted", "id": 7}"#), source: .network)
  }

  @Test("each level logs what it says, without credentials")
  func levels() async throws {
    #expect(try await log(.none, request, response).isEmpty)
    for detail in [RequestLogger.Detail.basic, .fields, .body] {
      let lines = try await log(detail, request, response)
      let text = lines.joined(separator: "\n")
      #expect(!text.contains("pl4nted"), "\(text)")
      #expect(lines.count == 2 && lines.allSatisfy { $0.contains("POST \(request.url.redacted)") })
      #expect(text.contains("q=cats") == (detail >= .fields))
      #expect(text.contains("← 201 from network in "))
      #expect(text.contains("User-Agent: app/1.0") == (detail >= .fields))
      #expect(text.contains("Server: test") == (detail >= .fields))
      #expect(text.contains("curl --globoff") == (detail >= .fields))
      #expect(text.contains("Ada") == (detail >= .body) && text.contains(#""id": 7"#) == (detail >= .body), "\(text)")
    }
  }

  @Test(
    "a line has no secret of a URL, wherever in it that is",
    arguments: [
      "/v1?access_token=S", "/v1#access_token=S", "/v1;jsessionid=S", "/v1%3Bjsessionid=S", "ada:S@",
      "/v1/ghp_SA1b2C3d4E5f6G7h8", "/v1/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJTIn0S.cGw0bnRlZA/me",
    ])
  func urls(_ place: String) async throws {
    let text = place.replacing("S", with: "pl4nted")
    let url = place.hasPrefix("/") ? "http://api.example.com\(text)" : "http://\(text)api.example.com/v1"
    let request = InterceptedRequest(.get, try #require(URL(string: url)))
    let lines = try await log(.basic, request, response)
    #expect(
      lines.count == 2 && lines.allSatisfy { $0.contains("api.example.com") && !$0.contains("pl4nted") }, "\(lines)")
  }

  @Test("the URL of a line is redacted as in all other texts, whatever the redaction of fields and bodies")
  func urlOfLine() async throws {
    let request = InterceptedRequest(.get, "http://api.example.com/v1;a=b?q=cats&page=2#top")
    for redaction in [Redaction.standard, .none] {
      let lines = Log<String>()
      _ = try await RequestLogger(.basic, logger: .recording(lines), redaction: redaction).load(request, Script(.ok))
      #expect(lines.all.count == 2)
      #expect(lines.all.allSatisfy { $0.contains("GET http://api.example.com/v1;a=REDACTED?q=REDACTED&page=REDACTED") })
      #expect(lines.all.allSatisfy { !$0.contains("cats") && !$0.contains("top") }, "\(lines.all)")
    }
  }

  @Test("a body that is logged in part shows no secret, and one that is no text shows its length alone")
  func parts() async throws {
    var large = response
    large.body = .text(
      #"{"list": ["aaaaaaaaaaaaaaaaaaaa"], "token": "pl4nted"#.padding(toLength: 90, withPad: "x", startingAt: 0)
        + "\"}")
    let cut = try await log(.body, limit: 60, request, large).joined(separator: "\n")
    #expect(!cut.contains("pl4nt") && cut.contains("(92 bytes, the first 60 of them logged"), "\(cut)")
    var binary = response
    (binary.fields, binary.body) = ([.contentType: "image/png"], .data(Data([0, 1, 2, 0xFF])))
    let bytes = try await log(.body, request, binary).joined(separator: "\n")
    #expect(bytes.contains("(4 bytes)"), "\(bytes)")
  }

  @Test("streams are logged as they pass: not read before, not held back, and bounded")
  func streams() async throws {
    let (lines, read) = (Log<String>(), Log<Int>())
    let link = RequestLogger(.body, logger: .recording(lines), bodyLimit: 10)
    let stream = MessageBody.stream(length: 3_000_000) {
      AsyncStream<Data>(unfolding: {
        read.add(1); return read.all.count <= 3 ? Data(repeating: 65, count: 1_000_000) : nil
      })
    }
    var request = InterceptedRequest.example
    request.fields[.contentType] = "text/plain"
    request.body = stream
    let script = Script { request, _ in
      #expect(request.body.isReplayable && request.body.length == 3_000_000 && read.all.isEmpty)
      let sent = try await request.body.collect(upTo: 1 << 30).count
      #expect(sent == 3_000_000)
      return InterceptedResponse(
        to: request, fields: [.contentType: "text/plain"],
        body: .stream(
          AsyncStream<Data> { stream in
            stream.yield(Data("first".utf8))
            stream.yield(Data("second".utf8))
          }))
    }
    var response: InterceptedResponse? = try await link.load(request, script)
    var chunks = try #require(response?.body.makeAsyncIterator())
    #expect(try await chunks.next() == Data("first".utf8))
    #expect(lines.all.count == 3 && lines.all.contains { $0.contains("(3000000 bytes, the first 10 of them logged") })
    // Dropped: what has passed is logged.
    chunks = MessageBody.empty.makeAsyncIterator()
    response = nil
    #expect(lines.all.last?.contains("← body of GET https://api.example.com/v1, not read to its end") == true)
    #expect(lines.all.last?.contains("first") == true && response == nil)
  }

  @Test("no scalar of a body, a field or an error begins a line, moves the cursor or changes the direction")
  func scalars() async throws {
    let hostile =
      (1..<0x20).map { UInt32($0) } + Array(0x7F...0x9F) + [0x61C, 0x200E, 0x200F, 0x2028, 0x2029]
      + Array(0x202A...0x202E) + Array(0x2066...0x2069)
    let text = hostile.compactMap { Unicode.Scalar($0).map { "a\($0)← 200" } }.joined()
    let lines = Log<String>()
    let link = RequestLogger(.body, logger: .recording(lines))
    var request = InterceptedRequest.example
    (request.method, request.body) = (.post, .text(text))
    request.fields[.contentType] = "text/plain"
    request.fields[.userAgent] = "a\u{202E}b"
    let script = Script { request, _ in
      InterceptedResponse(to: request, fields: [.contentType: "text/plain"], body: .text(text))
    }
    _ = try await link.load(request, script)
    #expect(lines.all.count == 2)
    for line in lines.all {
      let scalars = line.unicodeScalars.filter { hostile.contains($0.value) }
      #expect(scalars.allSatisfy { $0 == "\n" || $0 == "\t" }, "\(line)")
      #expect(line.split(separator: "\n").dropFirst().allSatisfy { $0.hasPrefix("  ") })
      #expect(line.contains("\\u{202e}"), "\(line.unicodeScalars.map(\.value))")
    }
  }

  @Test("attempts, hops, who answered and failures are told; nobody's text looks like a line of the log")
  func places() async throws {
    try await withOrigin { origin in
      let lines = Log<String>()
      let registry = InterceptorRegistry {
        Retry(clock: MockClock(isAutomatic: true))
        RequestLogger(.body, logger: .recording(lines))
        MockInterceptor(.init(unmatched: .passThrough)) {
          Stub(.get, "/mock", .text("mocked\n← 200 from nobody"))
          Stub(.get, "/down", .fault(.connectionRefused))
        }
      }
      origin.reply(to: "/busy") { _ in .text("", status: 503) }
      _ = try await registry.data(for: URLRequest(url: origin.url("/busy")))
      _ = try await registry.data(for: URLRequest(url: origin.url("/redirect/302?to=/echo")))
      _ = try await registry.data(for: URLRequest(url: origin.url("/mock")))
      _ = try? await registry.data(for: URLRequest(url: origin.url("/down?token=pl4nted")))
      let text = lines.all.joined(separator: "\n")
      #expect(text.contains("/busy, attempt 3") && text.contains("/echo, hop 1"), "\(text)")
      #expect(text.contains("← 200 from mock") || text.contains("← 200 from interceptor"), "\(text)")
      #expect(!text.split(separator: "\n").contains { $0.hasPrefix("← 200 from nobody") } && !text.contains("pl4nted"))
      #expect(text.contains("← TransportError.refused"), "\(text)")
    }
  }
}
