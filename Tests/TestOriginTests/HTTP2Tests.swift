import Foundation
import NIOHTTP1
import TestOrigin
import TestSupport
import Testing

@Suite("HTTP/2", .timeLimit(.minutes(5)))
struct HTTP2Tests {
  private func withClient(_ body: (TestOrigin, HTTP2Client) async throws -> Void) async throws {
    let authority = try TestAuthority()
    try await withOrigin(tls: .init(authority: authority)) { origin in
      let client = try await HTTP2Client(origin, authority: authority)
      try await body(origin, client)
      await client.close()
    }
  }

  @Test("the same routes answer, several requests on one connection")
  func routes() async throws {
    try await withClient { origin, client in
      async let hello = client.request("/hello")
      async let chunks = client.request("/chunks/3?pause=1")
      async let status = client.request("/status/418")
      async let zeros = client.request("/bytes/1000000")
      let exchanges = try await [hello, chunks, status, zeros]
      #expect(exchanges.map(\.status) == [200, 200, 418, 200])
      #expect(exchanges[0].text == "hello")
      #expect(exchanges[1].text == "chunk 1\nchunk 2\nchunk 3\n")
      #expect(exchanges[3].body == Data(count: 1_000_000))
      #expect(exchanges.allSatisfy { $0.isComplete })
      #expect(origin.connectionCount == 1)
      #expect(origin.connections[0].alpn == "h2")
      #expect(origin.requests.map(\.httpVersion) == ["2", "2", "2", "2"])
      #expect(origin.rawBytes[0].hasPrefix("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
    }
  }

  @Test("a request's body and names arrive")
  func upload() async throws {
    try await withClient { origin, client in
      let text = String(repeating: "0123456789", count: 30_000)
      let exchange = try await client.request("/echo?a=1", method: .POST, body: text)
      let echo = try JSONDecoder().decode(Echo.self, from: exchange.body)
      #expect(echo.method == "POST")
      #expect(echo.target == "/echo?a=1")
      #expect(echo.body == text)
      #expect(echo.head.hasPrefix("POST /echo?a=1 HTTP/2\n"))
      #expect(origin.requests[0]["Host"] == ["test"])
    }
  }

  @Test("a HEAD has no body, and a 204 and a 304 have none")
  func bodiless() async throws {
    try await withClient { _, client in
      let head = try await client.request("/hello", method: .HEAD)
      #expect(head.status == 200)
      #expect(head.heads[0].headers["content-length"] == ["5"])
      #expect(head.body.isEmpty)
      #expect(try await client.request("/status/204").isComplete)
      #expect(try await client.request("/status/304").isComplete)
    }
  }

  @Test("gates, trailers and early hints work")
  func parts() async throws {
    try await withClient { origin, client in
      origin.release("one", gate: "g")
      origin.release("two", gate: "g")
      origin.release(nil, gate: "g")
      #expect(try await client.request("/gate/g").text == "onetwo")
      let trailers = try await client.request("/trailers")
      #expect(trailers.text == "hello")
      #expect(trailers.trailers?["x-trailer"] == ["end"])
      let early = try await client.request("/early/103")
      #expect(early.heads.map { Int($0.status.code) } == [103, 200])
      #expect(early.heads[0].headers["link"] == ["</style.css>; rel=preload; as=style"])
      #expect(early.text == "hello")
    }
  }

  @Test("a truncated reply ends its stream, and the connection goes on")
  func truncated() async throws {
    try await withClient { origin, client in
      let exchange = try await client.request("/truncated")
      #expect(exchange.text == "half")
      #expect(!exchange.isComplete)
      #expect(try await client.request("/hello").text == "hello")
      #expect(origin.connectionCount == 1)
    }
  }

  @Test("a byte at a time arrives whole")
  func bytewise() async throws {
    try await withClient { _, client in
      let texts = [try await client.request("/bytewise").text, try await client.request("/hello").text]
      #expect(texts == ["hello", "hello"])
    }
  }

  @Test("other bad endings end the connection", arguments: ["/close", "/reset", "/hangup", "/garbage"])
  func badEndings(_ path: String) async throws {
    try await withClient { origin, client in
      let exchange = try? await client.request(path)
      #expect(exchange?.isComplete != true || path == "/hangup")
      await origin.until { $0.openConnectionCount == 0 }
      #expect(await failure { try await client.request("/hello") } != nil || origin.requests.count == 1)
    }
  }
}
