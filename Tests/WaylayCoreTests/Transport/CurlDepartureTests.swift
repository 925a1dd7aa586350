// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore

  /// Requests on connections of HTTP/2 that end under them.
  @Suite("CurlTransport, connections that end", .timeLimit(.minutes(10)))
  struct CurlDepartureTests {
    private func with(_ body: (TestOrigin, InterceptorRegistry) async throws -> Void) async throws {
      try await withTrustedOrigin { origin, registry in
        // The first connection ends, without a word, with the first request for this.
        origin.reply(to: "/") { $0.connection == 1 ? Reply(200, [], .close) : .text("answered") }
        try await body(origin, registry)
      }
    }

    private func text(_ registry: InterceptorRegistry, _ url: URL, _ method: String = "GET") async throws -> String {
      var request = URLRequest(url: url)
      request.httpMethod = method
      return String(decoding: try await registry.data(for: request).0, as: UTF8.self)
    }

    @Test(
      "a crowd goes out on another connection when the kept one ends, where it may be sent again",
      arguments: ["GET", "PUT", "DELETE"])
    func repeated(method: String) async throws {
      try await with { origin, registry in
        _ = try await text(registry, origin.url("/hello"))
        let answers = await withTaskGroup(of: String.self) { group in
          for _ in 0..<40 {
            group.addTask {
              do { return try await text(registry, origin.url("/"), method) } catch { return "\(error.redacted)" }
            }
          }
          return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(answers) == ["answered"])
        #expect(origin.connectionCount > 1)
      }
    }

    @Test("what the server may have acted on is not sent again")
    func once() async throws {
      try await with { origin, registry in
        _ = try await text(registry, origin.url("/hello"))
        let code = await failureCode { try await text(registry, origin.url("/"), "POST") }
        #expect(code == .networkConnectionLost)
        #expect(origin.requests(to: "/").count == 1)
        let answer = try await text(registry, origin.url("/"), "POST")
        #expect(answer == "answered")
      }
    }

    /// The end of a connection, as HTTP/2 announces it (RFC 9113, section 6.8).
    private func goAway(after stream: UInt8) -> Reply {
      Reply(200, [], .raw(Data([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, stream, 0, 0, 0, 0])))
    }

    @Test(
      "what the server has refused when it went away is sent again, once, whatever it is",
      arguments: [true, false], [Data(), Data(repeating: 1, count: 100_000)])
    func refused(isKept: Bool, body: Data) async throws {
      try await with { origin, registry in
        origin.reply(to: "/order") { $0.connection == 1 ? goAway(after: isKept ? 1 : 0) : .text("ordered") }
        if isKept { _ = try await text(registry, origin.url("/hello")) }
        var request = URLRequest(url: origin.url("/order"))
        request.httpMethod = "POST"
        request.httpBody = body
        let answer = try await registry.data(for: request).0
        #expect(String(decoding: answer, as: UTF8.self) == "ordered")
        #expect(origin.requests(to: "/order").map(\.connection) == [1, 2])
        #expect(origin.requests(to: "/order").last?.body == body)
      }
    }

    @Test("a stream that the server has refused by itself is sent again, as its first on a connection")
    func refusedStream() async throws {
      try await with { origin, registry in
        // RST_STREAM of the first stream, with REFUSED_STREAM (RFC 9113, section 6.4).
        let reset = Data([0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 7])
        origin.reply(to: "/order") { $0.connection == 1 ? Reply(200, [], .raw(reset)) : .text("ordered") }
        let answer = try await text(registry, origin.url("/order"), "POST")
        #expect(answer == "ordered")
        #expect(origin.requests(to: "/order").map(\.connection) == [1, 2])
      }
    }

    @Test("what the server may have acted on before it went away is not sent again", arguments: [true, false])
    func notRefused(isKept: Bool) async throws {
      try await with { origin, registry in
        origin.reply(to: "/order") { request in
          guard request.connection == 1 else { return .text("ordered") }
          return goAway(after: isKept ? 3 : 1).with { $0.hangsUp = true }
        }
        if isKept { _ = try await text(registry, origin.url("/hello")) }
        let code = await failureCode { try await text(registry, origin.url("/order"), "POST") }
        #expect(code == .networkConnectionLost)
        #expect(origin.requests(to: "/order").count == 1)
      }
    }

    @Test("one that is given up before its answer leaves the others on its connection alone", .heavy)
    func givenUp() async throws {
      try await with { origin, registry in
        let size = 40_000_000
        let large = Task { try await registry.data(for: URLRequest(url: origin.url("/bytes/\(size)"))).0.count }
        await origin.until { $0.bytesSent > 0 }
        for count in 1...10 {
          let given = Task { try await text(registry, origin.url("/never")) }
          await origin.until { $0.requests(to: "/never").count == count }
          given.cancel()
          _ = await given.result
          let answer = try await text(registry, origin.url("/hello"))
          #expect(answer == "hello")
        }
        let received = try await large.value
        #expect(received == size)
        #expect(origin.connectionCount == 1 || !CurlTransport.canMultiplex)
      }
    }
  }
#endif
