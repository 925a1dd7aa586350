#if CORELIBS_FOUNDATION
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore

  @Suite("The bytes of an intercepted session, which Foundation on Linux does not have", .timeLimit(.minutes(10)))
  struct SessionBytesTests {
    /// As it is written for Apple platforms.
    private func events(_ session: URLSession, _ url: URL) async throws -> [String] {
      let (bytes, response): (URLSession.AsyncBytes, URLResponse) = try await session.bytes(for: URLRequest(url: url))
      #expect((response as? HTTPURLResponse)?.statusCode == 200)
      var events: [String] = []
      for try await line in bytes.lines where line.hasPrefix("data: ") { events.append(String(line.dropFirst(6))) }
      return events
    }

    @Test("come through the session's chain, with its header fields, line by line")
    func lines() async throws {
      try await withOrigin { origin in
        let seen = Log<String?>()
        let registry = InterceptorRegistry {
          Link { request, next in
            seen.add(request.urlRequest.value(forHTTPHeaderField: "X-Session"))
            return try await next(request)
          }
        }
        let configuration = URLSessionConfiguration.ephemeral.intercepted(by: registry)
        configuration.httpAdditionalHeaders = ["X-Session": "mine"]
        let events = try await events(URLSession(configuration: configuration), origin.url("/sse/3"))
        #expect(events.count == 3)
        #expect(seen.all == ["mine"])
        registry.invalidate()
      }
    }

    @Test("arrive while the response goes on")
    func streaming() async throws {
      let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
      let registry = InterceptorRegistry {
        Link { request, _ in InterceptedResponse(to: request, body: .stream(chunks)) }
      }
      let (bytes, _) = try await URLSession.intercepted(by: registry).bytes(from: .example)
      var lines = bytes.lines.makeAsyncIterator()
      continuation.yield(Data("data: first\n".utf8))
      #expect(try await lines.next() == "data: first")
      continuation.finish()
      #expect(try await lines.next() == nil)
      registry.invalidate()
    }

    @Test("a session that is not intercepted, or no more, says so")
    func plain() async throws {
      let error = await #expect(throws: WaylayError.self) {
        _ = try await URLSession(configuration: .ephemeral).bytes(from: .example)
      }
      #expect(error?.code == .notIntercepted)
      let registry = InterceptorRegistry { Link.pass() }
      let session = URLSession.intercepted(by: registry)
      registry.invalidate()
      let ended = await failure { _ = try await session.bytes(from: .example) }
      #expect(ended.flatMap(cause)?.code == .registryInvalidated)
    }
  }
#endif
