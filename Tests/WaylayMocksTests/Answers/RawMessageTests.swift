import Foundation
import Testing
import WaylayCore
import WaylayMocks

@Suite("Raw messages", .timeLimit(.minutes(5))) struct RawMessageTests {
  @Test("head and body are read, whatever ends the lines", arguments: ["\n", "\r\n"])
  func lines(end: String) async throws {
    let message = [
      "HTTP/1.1 404 Not Found", "Content-Type: text/plain", "Set-Cookie: a=1", "Set-Cookie: b=2", "", "no\r\nsuch",
    ]
    let response = try await MockResponse.raw(message.joined(separator: end)).direct()
    #expect(response.status.code == 404)
    #expect(response.fields[values: .setCookie] == ["a=1", "b=2"])
    #expect(response.fields[.contentLength] == "8")
    #expect(try await response.text == "no\r\nsuch")
  }

  @Test(
    "of several heads the last counts",
    arguments: [
      "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n",
      "HTTP/1.1 200 Connection established\r\n\r\n", "HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"x\"\r\n\r\n",
      "HTTP/2 301 \r\nlocation: /b\r\n\r\nHTTP/2 307 \r\n\r\n",
    ])
  func heads(before: String) async throws {
    let response = try await MockResponse.raw(before + "HTTP/2 201 \r\nx-last: 1\r\n\r\nbody").direct()
    #expect(response.status.code == 201)
    #expect(response.fields.map(\.name.canonicalName) == ["x-last", "content-length"])
    #expect(try await response.text == "body")
  }

  @Test("a body that looks like a head stays a body")
  func bodyLikeHead() async throws {
    let response = try await MockResponse.raw(
      "HTTP/1.1 200 OK\r\nContent-Type: message/http\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n"
    )
    .direct()
    #expect(response.status == .ok)
    #expect(try await response.text == "HTTP/1.1 404 Not Found\r\n\r\n")
  }

  @Test(
    "a chunked body is decoded once",
    arguments: [
      "5\r\nhello\r\n6;x=1\r\n world\r\n0\r\n\r\n", "5\nhello\n6\n world\n0\n\n",
      "b\r\nhello world\r\n0\r\nTrailer: 1\r\n\r\n",
      "B\r\nhello world\r\n0\r\n", "hello world",
    ])
  func chunked(body: String) async throws {
    let response = try await MockResponse.raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body).direct()
    #expect(try await response.text == "hello world")
    #expect(response.fields[.transferEncoding] == nil)
    #expect(response.fields[.contentLength] == "11")
  }

  @Test("Content-Length follows the body, and the line end of an editor is no part of it")
  func length() async throws {
    let edited = try await MockResponse.raw("HTTP/1.1 200 OK\nContent-Length: 3\n\nlonger").direct()
    #expect(edited.fields[values: .contentLength] == ["6"])
    let ended = try await MockResponse.raw("HTTP/1.1 200 OK\nContent-Length: 3\n\nabc\n").direct()
    #expect(try await ended.text == "abc")
    let head = try await MockResponse.raw("HTTP/1.1 200 OK\nContent-Length: 300\n").direct(to: .mocked("HEAD"))
    #expect(head.fields[values: .contentLength] == ["300"])
  }

  @Test("folded fields and Latin-1 are read")
  func oldFields() async throws {
    let response = try await MockResponse.raw(
      Data("HTTP/1.0 200 OK\r\nX-A: one\r\n  two\r\nX-B: ".utf8) + [0xE9] + Data("\r\n\r\n".utf8)
    )
    .direct()
    #expect(response.head.value(forHTTPHeaderField: "X-A") == "one two")
    #expect(response.head.value(forHTTPHeaderField: "X-B") == "é")
  }

  @Test(
    "what is no message fails with the line",
    arguments: [
      ("", "line 0"), ("hello", "line 1"), ("HTTP/1.1 20 OK\n\n", "line 1"),
      ("HTTP/1.1 200 OK\nno colon\n\n", "line 2"),
      ("HTTP/1.1 200 OK\nA: 1\nB b: 2\n\n", "line 3"), ("HTTP/1.1 200 OK\n folded\n\n", "folded"),
      ("HTTP/1.1 100 Continue\n\n", "100"),
      ("HTTP/1.1 200 OK\nA: x\u{1}y\n\n", "control"),
    ])
  func mistakes(message: String, hint: String) async throws {
    let mistake = try #require(await MockResponse.raw(message).mistake())
    #expect(mistake.code == .invalidResponse)
    #expect(mistake.message.contains(hint))
  }

  @Test("a body that is still compressed is refused with what to do")
  func compressed() async throws {
    let message = Data("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".utf8) + [0x1F, 0x8B, 0x08]
    let mistake = try #require(await MockResponse.raw(message).mistake())
    #expect(mistake.message.contains("--compressed"))
  }

  @Test("a message is read from a file, a large one in parts")
  func files() async throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-\(UUID().uuidString).http")
    defer { try? FileManager.default.removeItem(at: file) }
    let body = Data(repeating: 65, count: 1 << 20)
    try (Data("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n".utf8) + body).write(to: file)
    let response = try await MockResponse.raw(contentsOf: file).direct()
    #expect(response.body.length == 1 << 20)
    #expect(response.body.inMemory == nil)
    let read = try await response.body.collect(upTo: 1 << 21)
    #expect(read == body)
    try Data("HTTP/1.1 503 Busy\n\nlater".utf8).write(to: file)
    let small = try await MockResponse.raw(contentsOf: file).answer()
    #expect(small.status == 503)
    #expect(small.text == "later")
    let missing = try #require(await MockResponse.raw(contentsOf: file.appendingPathExtension("gone")).mistake())
    #expect(missing.code == .unreadableFile)
  }

  @Test("messages with bytes changed never trap")
  func fuzz() {
    let random = MockRandom(seed: 3)
    let seed = Array(
      """
      HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\n \
      c\r\n\r\n5\r\nhello\r\n0\r\n\r\n
      """
      .utf8)
    for _ in 0..<3000 {
      var bytes = seed
      for _ in 0..<Int(random.unit() * 4) + 1 {
        bytes[Int(random.unit() * Double(bytes.count))] = UInt8(random.unit() * 256)
      }
      _ = MockResponse.raw(Data(bytes.prefix(Int(random.unit() * Double(bytes.count + 1)))))
    }
  }
}
