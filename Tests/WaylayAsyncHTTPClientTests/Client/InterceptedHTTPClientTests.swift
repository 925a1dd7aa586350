#if AsyncHTTPClient
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1
  import NIOSSL
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayAsyncHTTPClient

  @Suite("InterceptedHTTPClient", .timeLimit(.minutes(5)))
  struct InterceptedHTTPClientTests {
    /// Runs a test with a client of the app's, and a chain of one interceptor.
    private func withClient(
      _ link: Link = Link(), _ body: (InterceptedHTTPClient, HTTPClient) async throws -> Void
    ) async throws {
      let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
      do {
        try await body(InterceptedHTTPClient(client, InterceptorRegistry(configuration: .ephemeral) { link }), client)
      } catch {
        try await client.shutdown()
        throw error
      }
      try await client.shutdown()
    }

    private func post(_ url: URL, _ body: HTTPClientRequest.Body) -> HTTPClientRequest {
      var request = HTTPClientRequest(url: url.absoluteString)
      request.method = .POST
      request.body = body
      return request
    }

    @Test("sends bodies as the client does: with the length that it knows, and in memory where it has them there")
    func bodies() async throws {
      let seen = Log<String>()
      let link = Link { request, next in
        seen.add("\(request.body.length ?? -1) \(request.body.isReplayable)")
        return try await next(request)
      }
      try await withOrigin { origin in
        try await withClient(link) { client, _ in
          let pieces = AsyncStream<ByteBuffer> { continuation in
            continuation.yield(ByteBuffer(string: "he"))
            continuation.yield(ByteBuffer(string: "llo"))
            continuation.finish()
          }
          let bodies: [HTTPClientRequest.Body] = [
            .bytes(ByteBuffer(string: "hello")), .bytes(Array("hello".utf8)),
            .bytes("hello".utf8, length: .known(Int64(5))),
          ]
          for body in bodies + [.stream(pieces, length: .known(Int64(5)))] {
            let response = try await client.execute(post(origin.url("/echo"), body), timeout: .seconds(60))
            let echo = try await response.body.collect(upTo: 10_000)
            #expect(String(buffer: echo).contains("hello"))
          }
          let unknown = AsyncStream<ByteBuffer> { continuation in continuation.finish() }
          _ = try await client.execute(
            post(origin.url("/echo"), .stream(unknown, length: .unknown)), timeout: .seconds(60))
        }
        #expect(origin.requests.map { $0["Content-Length"] } == [["5"], ["5"], ["5"], ["5"], []])
      }
      #expect(seen.all == ["5 true", "5 true", "5 true", "5 false", "-1 false"])
    }

    @Test("throws what the client throws, and what an interceptor throws in its place")
    func errors() async throws {
      try await withOrigin { origin in
        let never = HTTPClientRequest(url: origin.url("/never").absoluteString)
        try await withClient { client, _ in
          let late = await failure { try await client.execute(never, timeout: .milliseconds(50)) }
          #expect(late as? HTTPClientError == .deadlineExceeded)
          let invalid = await failure { try await client.execute(HTTPClientRequest(url: ""), timeout: .seconds(60)) }
          #expect(invalid as? HTTPClientError == .invalidURL)
          let cut = await failure {
            let request = HTTPClientRequest(url: origin.url("/truncated").absoluteString)
            return try await client.execute(request, timeout: .seconds(60)).body.collect(upTo: 1000)
          }
          #expect(cut != nil && !(cut is URLError))
          var own = never
          own.tlsConfiguration = .makeClientConfiguration()
          let refused = await failure { [own] in try await client.execute(own, timeout: .seconds(60)) }
          #expect((refused as? WaylayError)?.code == .invalidRequest)
          // The first one may have been late before it was sent.
          let before = origin.requests(to: "/never").count
          let call = Task { try await client.execute(never, deadline: .distantFuture) }
          await origin.until { $0.requests(to: "/never").count > before }
          call.cancel()
          #expect(await failure { try await call.value } is CancellationError)
        }
        let link = Link { _, _ in throw HTTPClientError.connectTimeout }
        try await withClient(link) { client, _ in
          let thrown = await failure { try await client.execute(never, timeout: .seconds(60)) }
          #expect(thrown as? HTTPClientError == .connectTimeout)
        }
      }
    }

    @Test("sends two fields of cookies as one, which a server can read")
    func cookies() async throws {
      try await withOrigin { origin in
        try await withClient { client, _ in
          var request = HTTPClientRequest(url: origin.url("/echo").absoluteString)
          request.headers.add(contentsOf: [("Cookie", "a=1"), ("X-List", "1"), ("cookie", "b=2; c=3"), ("X-List", "2")])
          _ = try await client.execute(request, timeout: .seconds(60)).body.collect(upTo: 10_000)
        }
        #expect(origin.requests.map { $0["Cookie"] } == [["a=1; b=2; c=3"]])
        #expect(origin.requests.map { $0["X-List"].joined() } == ["1,2"])
      }
    }

    @Test("keeps no cookies, and fails when its client is shut down")
    func calls() async throws {
      try await withOrigin { origin in
        origin.reply(to: "/cookie") { _ in .text("set", fields: [("Set-Cookie", "a=1; Path=/")]) }
        try await withClient { client, _ in
          for path in ["/cookie", "/echo"] {
            let request = HTTPClientRequest(url: origin.url(path).absoluteString)
            let answer = try await client.execute(request, timeout: .seconds(60))
            #expect(answer.url == origin.url(path))
            let text = String(buffer: try await answer.body.collect(upTo: 10_000))
            #expect(!text.contains("Cookie"))
          }
        }
        let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
        let intercepted = InterceptedHTTPClient(client, InterceptorRegistry(configuration: .ephemeral) { Link() })
        let never = HTTPClientRequest(url: origin.url("/never").absoluteString)
        let call = Task { try await intercepted.execute(never, deadline: .distantFuture) }
        await origin.until { $0.requests(to: "/never").count == 1 }
        try await client.shutdown()
        #expect(await failure { try await call.value } is HTTPClientError)
        #expect(await failure { try await intercepted.execute(never, timeout: .seconds(60)) } is HTTPClientError)
      }
    }
  }
#endif
