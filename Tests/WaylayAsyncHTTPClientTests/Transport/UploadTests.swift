#if AsyncHTTPClient
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayAsyncHTTPClient

  @Suite("AsyncHTTPClientTransport, what it sends", .timeLimit(.minutes(5)))
  struct UploadTests {
    /// The body that arrived.
    private func echo(
      _ registry: InterceptorRegistry, _ request: URLRequest, _ body: MessageBody?
    ) async throws -> String {
      try JSONDecoder().decode(Echo.self, from: Data(try await registry.text(request, body: body).utf8)).body
    }

    @Test("sends a stream while it is produced, in chunks")
    func streamed() async throws {
      try await withOrigin { origin in
        let registry = InterceptorRegistry.overClient()
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        let upload = Task { try await echo(registry, .post(origin.url("/echo")), .stream(stream)) }
        continuation.yield(Data("first".utf8))
        await origin.until { origin in origin.rawBytes.joined().contains("first") }
        continuation.yield(Data("second".utf8))
        continuation.finish()
        let arrived = try await upload.value
        #expect(arrived == "firstsecond")
        #expect(origin.requests.first?["Transfer-Encoding"] == ["chunked"])
        registry.invalidate()
      }
    }

    @Test("sends a length that the body or the app gives, and one framing only")
    func lengths() async throws {
      try await withOrigin { origin in
        let registry = InterceptorRegistry.overClient()
        let declared = URLRequest.post(origin.url("/echo"), fields: ["Content-Length": "5"])
        var arrived = [try await echo(registry, declared, .stream(ExchangeTests.pieces(["12", "345"])))]
        for body in [MessageBody.text("12345"), .empty] {
          arrived.append(try await echo(registry, .post(origin.url("/echo")), body))
        }
        #expect(arrived == ["12345", "12345", ""])
        #expect(origin.requests.map { $0["Content-Length"] } == [["5"], ["5"], ["0"]])
        #expect(origin.requests.allSatisfy { $0["Transfer-Encoding"].isEmpty })
        registry.invalidate()
      }
    }

    @Test("gives up a body of another length than was declared, and its connection", arguments: ["3", "300"])
    func falseLength(length: String) async throws {
      try await withOrigin { origin in
        let registry = InterceptorRegistry.overClient()
        let request = URLRequest.post(origin.url("/echo"), fields: ["Content-Length": length])
        let error = await failure {
          try await registry.text(request, body: .stream(ExchangeTests.pieces(["GET / HTTP/1.1\r\n", "\r\n"])))
        }
        #expect((error as? URLError)?.cause(as: WaylayError.self)?.code == .bodyUnreadable)
        await origin.until { $0.openConnectionCount == 0 }
        #expect(origin.requests.isEmpty)
        registry.invalidate()
      }
    }

    @Test("fails with the error of a body that fails, whose request is never complete")
    func failing() async throws {
      struct Broken: Error {}
      try await withOrigin { origin in
        let registry = InterceptorRegistry.overClient()
        let stream = AsyncThrowingStream<Data, any Error> { continuation in
          continuation.yield(Data("x".utf8))
          continuation.finish(throwing: Broken())
        }
        let body = MessageBody.stream(stream)
        let error = await failure { try await registry.text(.post(origin.url("/echo")), body: body) }
        #expect((error as? URLError)?.userInfo[NSUnderlyingErrorKey] is Broken)
        await origin.until { $0.openConnectionCount == 0 }
        #expect(origin.requests.isEmpty)
        registry.invalidate()
      }
    }

    @Test(
      "brings a response that comes before the body has been sent, and reads no more of the body then",
      arguments: [200, 413])
    func early(status: Int) async throws {
      let reason = "HTTP/1.1 \(status) Early\r\nContent-Length: 5\r\n\r\nearly"
      let origin = try await ScriptedOrigin.start { _ in ScriptedOrigin.Script(reason) }
      let registry = InterceptorRegistry.overClient()
      let (ended, end) = AsyncStream.makeStream(of: Void.self)
      let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
      continuation.onTermination = { _ in end.yield() }
      continuation.yield(Data("beginning".utf8))
      let response = try await registry.load(.post(origin.url()), body: .stream(stream))
      #expect(response.status.code == status)
      #expect(try await response.body.collect(upTo: 100) == Data("early".utf8))
      // After a refusal the client may not have begun to read it.
      if status == 200 { for await _ in ended { break } }
      registry.invalidate()
      await origin.stop()
    }

    @Test("does not read a body that is never sent, and a body that waits for ever ends with its load")
    func unsent() async throws {
      let port = try ClosedPort()
      let registry = InterceptorRegistry.overClient()
      let reads = Log<Int>()
      let body = MessageBody.stream(
        AsyncStream {
          reads.add(1); return Data("x".utf8)
        })
      #expect(await failureCode { try await registry.load(.post(port.url()), body: body) } == .cannotConnectToHost)
      #expect(reads.all.isEmpty)
      port.close()
      try await withOrigin { origin in
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        continuation.onTermination = { _ in end.yield() }
        continuation.yield(Data("beginning".utf8))
        let load = Task { try await registry.load(.post(origin.url("/echo")), body: .stream(stream)) }
        await origin.until { $0.rawBytes.joined().contains("beginning") }
        load.cancel()
        #expect(await failureCode { try await load.value } == .cancelled)
        for await _ in ended { break }
        await origin.until { $0.openConnectionCount == 0 }
      }
      registry.invalidate()
    }
  }
#endif
