import Foundation
import NIOSSL
import TestOrigin
import TestSupport
import Testing

@Suite("Replies on the wire", .timeLimit(.minutes(5)))
struct ReplyTests {
  /// All that comes back for a request on a connection of its own, which the client asks to be closed.
  private func answer(_ path: String, from origin: TestOrigin, tls: ClientTLS? = nil) async throws -> String {
    let client = try await RawClient(origin, tls: tls)
    try await client.request(path, fields: ["Connection: close"])
    return try await client.readToEnd()
  }

  @Test("a request is logged as it came")
  func log() async throws {
    try await withOrigin { origin in
      let client = try await RawClient(origin)
      try await client.send(
        "POST /echo?a=%20b HTTP/1.1\r\nhOST: test\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 4\r\n\r\nbody")
      _ = try await client.read(through: "}")
      let request = try #require(origin.requests.first)
      #expect(request.httpVersion == "1.1")
      #expect(request.localAddress == "127.0.0.1")
      #expect(request.target == "/echo?a=%20b")
      #expect(request.query("a") == " b")
      #expect(request["x-a"] == ["1", "2"])
      #expect(request.head.hasPrefix("POST /echo?a=%20b HTTP/1.1\nhOST: test\n"))
      #expect(request.body == Data("body".utf8))
      #expect(origin.rawBytes[0].hasSuffix("\r\n\r\nbody"))
      #expect(origin.connections[0].sni == nil)
    }
  }

  @Test("a server that is told to keeps no log")
  func noLog() async throws {
    try await withOrigin { origin in
      origin.keepsLog = false
      let text = try await answer("/hello", from: origin)
      #expect(text.hasSuffix("hello"))
      #expect(origin.requests.isEmpty)
      #expect(origin.rawBytes == [""])
      #expect(origin.connectionCount == 1)
    }
  }

  @Test("interim heads come before the final one", arguments: [100, 102, 103])
  func early(_ status: Int) async throws {
    try await withOrigin { origin in
      let text = try await answer("/early/\(status)", from: origin)
      #expect(text.hasPrefix("HTTP/1.1 \(status) "))
      #expect(text.contains("\r\nLink: </style.css>; rel=preload; as=style\r\n\r\nHTTP/1.1 200 OK\r\n"))
      #expect(text.hasSuffix("\r\n\r\nhello"))
    }
  }

  @Test("an interim head may be all that ever comes")
  func earlyOnly() async throws {
    let origin = try await TestOrigin.start()
    let client = try await RawClient(origin)
    try await client.request("/early/103/never")
    #expect(try await client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 103 "))
    await origin.stop()
    #expect(try await client.readToEnd() == "")
  }

  @Test("replies without a body keep the connection in step", arguments: ["/status/204", "/status/304"])
  func bodiless(_ path: String) async throws {
    try await withOrigin { origin in
      let client = try await RawClient(origin)
      try await client.request(path)
      let head = try await client.read(through: "\r\n\r\n")
      #expect(!head.contains("Content-Length"))
      try await client.request("/hello")
      let text = try await client.read(through: "hello")
      #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
    }
  }

  @Test("trailers follow a chunked body")
  func trailers() async throws {
    try await withOrigin { origin in
      let text = try await answer("/trailers", from: origin)
      #expect(text.hasSuffix("\r\n\r\n5\r\nhello\r\n0\r\nX-Trailer: end\r\n\r\n"))
    }
  }

  @Test("a raw reply is sent as it is, and the connection goes on with what was pipelined")
  func raw() async throws {
    try await withOrigin { origin in
      let bytes = "HTTP/1.1 299 Odd\r\nX-Case: a\r\nContent-Length: 3\r\n\r\nraw"
      origin.reply(to: "/raw") { _ in .raw(bytes) }
      let client = try await RawClient(origin)
      let request = "GET /raw HTTP/1.1\r\nHost: test\r\n\r\n"
      try await client.send(request + request + "GET /hello HTTP/1.1\r\nHost: test\r\n\r\n")
      let text = try await client.read(through: "hello")
      #expect(text.hasPrefix(bytes + bytes + "HTTP/1.1 200 OK\r\n"))
      #expect(origin.connectionCount == 1)
    }
  }

  @Test("malformed messages are sent to the last byte, then the connection is closed")
  func garbage() async throws {
    try await withOrigin { origin in
      #expect(try await answer("/garbage", from: origin).hasPrefix("\u{1}\u{2}"))
      #expect(try await answer("/garbage/status", from: origin).hasPrefix("HTTP/1.1 abc\r\n"))
      #expect(try await answer("/garbage/field", from: origin).contains("\r\nno colon here\r\n"))
      #expect(try await answer("/garbage/length", from: origin).contains("Content-Length: 5\r\nContent-Length: 6\r\n"))
      #expect(try await answer("/garbage/chunk", from: origin).hasSuffix("xyz\r\nhello\r\n0\r\n\r\n"))
      let huge = try await answer("/garbage/header?size=3000000", from: origin)
      #expect(huge.utf8.count > 3_000_000 && huge.hasSuffix("\r\n\r\nhello"))
    }
  }

  @Test("a server that hangs up says nothing of it")
  func hangup() async throws {
    try await withOrigin { origin in
      let client = try await RawClient(origin)
      try await client.request("/hangup")
      let text = try await client.readToEnd()
      #expect(text.hasSuffix("\r\n\r\nhello"))
      #expect(!text.lowercased().contains("connection:"))
    }
  }

  @Test("bad endings: none, none after a part, and a reset")
  func badEndings() async throws {
    try await withOrigin { origin in
      #expect(try await answer("/close", from: origin) == "")
      let truncated = try await answer("/truncated", from: origin)
      #expect(truncated.contains("Content-Length: 100\r\n") && truncated.hasSuffix("\r\n\r\nhalf"))
      let (_, error) = try BlockingClient.exchange("GET /reset HTTP/1.1\r\nHost: test\r\n\r\n", with: origin)
      #expect(error == ECONNRESET)
    }
  }

  @Test("bad endings over TLS come without its goodbye", arguments: ["/hangup", "/truncated", "/close", "/reset"])
  func badEndingsOverTLS(_ path: String) async throws {
    let authority = try TestAuthority()
    try await withOrigin(tls: .init(authority: authority)) { origin in
      let client = try await RawClient(origin, tls: ClientTLS(authority: authority))
      try await client.request(path)
      _ = try? await client.readToEnd()
      #expect(client.endedUncleanly)
      await origin.until { $0.openConnectionCount == 0 }
    }
  }

  @Test("a reply byte by byte is a write for each byte, head included")
  func bytewise() async throws {
    let authority = try TestAuthority()
    try await withOrigin(tls: .init(authority: authority)) { origin in
      // Before TLS 1.3 a record says openly whether it has data in it.
      let client = try await RawClient(origin, tls: ClientTLS(authority: authority, maximumVersion: .tlsv12))
      try await client.request("/bytewise")
      let text = try await client.read(through: "hello")
      #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(client.recordCount == text.utf8.count)
      try await client.request("/hello")
      _ = try await client.read(through: "hello")
      #expect(client.recordCount < text.utf8.count + 10)
    }
  }

  @Test("gates let chunks through in the order of their release, before and after the request")
  func gates() async throws {
    try await withOrigin { origin in
      for number in 0..<50 { origin.release("\(number) ", gate: "g") }
      let client = try await RawClient(origin)
      try await client.request("/gate/g")
      for number in 50..<100 { origin.release("\(number) ", gate: "g") }
      origin.release(nil, gate: "g")
      let text = try await client.read(through: "\r\n0\r\n\r\n")
      let chunks = text.components(separatedBy: "\r\n").filter { $0.hasSuffix(" ") }
      #expect(chunks == (0..<100).map { "\($0) " })
    }
  }

  @Test("waiting for a condition ends when the task is cancelled")
  func cancelledWait() async throws {
    try await withOrigin { origin in
      let waiting = Task { await origin.until { _ in false } }
      waiting.cancel()
      await waiting.value
    }
  }

  @Test("many clients at once find their requests in the log")
  func concurrency() async throws {
    let origin = try await TestOrigin.start(threads: 2)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for client in 0..<8 {
        group.addTask {
          let connection = try await RawClient(origin)
          for request in 0..<50 {
            try await connection.request("/echo?client=\(client)&request=\(request)")
            _ = try await connection.read(through: "}")
          }
          await connection.close()
        }
      }
      group.addTask { await origin.until { $0.requests.count == 400 } }
      group.addTask { await origin.until { $0.connectionCount == 8 && $0.openConnectionCount == 0 } }
      try await group.waitForAll()
    }
    #expect(Set(origin.requests.map(\.target)).count == 400)
    #expect(origin.connections.map(\.number) == Array(1...8))
    await origin.stop()
  }
}
