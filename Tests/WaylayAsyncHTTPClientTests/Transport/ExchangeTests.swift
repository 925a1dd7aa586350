#if AsyncHTTPClient
  import AsyncHTTPClient
  import TestOrigin
  import TestSupport
  import Testing
  @testable import WaylayAsyncHTTPClient

  @Suite("AsyncHTTPClientTransport", .timeLimit(.minutes(5)))
  struct ExchangeTests {
    @Test("sends a request and streams its response, over one connection that it keeps")
    func exchange() async throws {
      try await withOrigin { origin in
        let registry = InterceptorRegistry.overClient()
        for _ in 0..<3 {
          let response = try await registry.load(URLRequest(url: origin.url("/chunks/3")))
          #expect(response.status == .ok && response.source == .network && response.url == origin.url("/chunks/3"))
          #expect(response.metrics?.protocolName == "http/1.1")
          #expect(try await response.body.collect(upTo: 100) == Data("chunk 1\nchunk 2\nchunk 3\n".utf8))
        }
        #expect(origin.connectionCount == 1)
        registry.invalidate()
      }
    }

    @Test("speaks HTTP/2 where it is asked for and TLS agrees on it", arguments: [["h2", "http/1.1"], ["http/1.1"]])
    func secure(protocols: [String]) async throws {
      let authority = try TestAuthority()
      var tls = TestOrigin.TLS(authority: authority)
      tls.applicationProtocols = protocols
      try await withOrigin(hosts: ["127.0.0.1", "::1"], tls: tls) { origin in
        let registry = InterceptorRegistry.overClient(try .trusting(authority), allowsHTTP2: true)
        for host in origin.hosts + ["localhost"] {
          let response = try await registry.load(URLRequest(url: origin.url("/hello", host: host)))
          #expect(try await response.body.collect(upTo: 100) == Data("hello".utf8))
          #expect(response.metrics?.protocolName == protocols[0])
        }
        let large = try await registry.load(URLRequest(url: origin.url("/bytes/50000000")))
        #expect(try await registry.text(origin.url("/hello")) == "hello", "beside one that nobody reads")
        #expect(large.body.length == 50_000_000)
        let echo = try await registry.text(.post(origin.url("/echo")), body: .stream(Self.pieces(["a", "b"])))
        #expect(try JSONDecoder().decode(Echo.self, from: Data(echo.utf8)).body == "ab")
        registry.invalidate()
      }
    }

    static func pieces(_ texts: [String]) -> AsyncStream<Data> {
      AsyncStream { continuation in
        for text in texts { continuation.yield(Data(text.utf8)) }
        continuation.finish()
      }
    }

    @Test("keeps fields in order with their duplicates, skips interim responses, and decodes bodies")
    func presentation() async throws {
      try await withOrigin { origin in
        let registry = InterceptorRegistry.overClient()
        origin.reply(to: "/fields") { _ in
          .text("x", fields: [("X-B", "1"), ("Set-Cookie", "a=1"), ("X-A", "2"), ("Set-Cookie", "b=2")])
        }
        let fields = try await registry.load(URLRequest(url: origin.url("/fields"))).fields
        #expect(fields[values: .setCookie] == ["a=1", "b=2"])
        #expect(fields.map(\.name.rawName).filter { $0.hasPrefix("X-") } == ["X-B", "X-A"])
        #expect(try await registry.text(origin.url("/early/103")) == "hello")
        #expect(try await registry.text(origin.url("/trailers")) == "hello")
        #expect(try await registry.text(origin.url("/bytewise")) == "hello")
        let zipped = try await registry.load(URLRequest(url: origin.url("/gzip")))
        #expect(zipped.fields[.contentEncoding] == "gzip" && zipped.body.length == nil)
        #expect(try await zipped.body.collect(upTo: 100) == Data("hello".utf8))
        #expect(origin.requests(to: "/gzip").first?["Accept-Encoding"] == ["gzip, deflate"])
        var plain = URLRequest(url: origin.url("/hello"))
        plain.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        _ = try await registry.text(plain)
        #expect(origin.requests(to: "/hello").first?["Accept-Encoding"] == ["identity"])
        #expect(try await registry.text(origin.url("/hangup")) == "hello")
        registry.invalidate()
      }
    }

    @Test("takes a coded response of no length for an empty one")
    func codedNothing() async throws {
      try await withOrigin { origin in
        let registry = InterceptorRegistry.overClient()
        origin.reply(to: "/none") { _ in Reply(200, [("Content-Encoding", "gzip")], .whole(Data())) }
        let response = try await registry.load(URLRequest(url: origin.url("/none")))
        #expect(response.fields[.contentEncoding] == "gzip" && response.body.inMemory == Data())
        registry.invalidate()
      }
    }

    @Test("keeps the connection of a response without a body, and none is made up", arguments: [204, 304, 200])
    func bodyless(status: Int) async throws {
      try await withOrigin { origin in
        let registry = InterceptorRegistry.overClient()
        origin.reply(to: "/none") { _ in
          Reply(status, [("X-Length", "5")], .whole(Data(status == 200 ? "hello".utf8 : "".utf8)))
        }
        for _ in 0..<5 {
          var request = URLRequest(url: origin.url("/none"))
          request.httpMethod = status == 200 ? "HEAD" : "GET"
          let response = try await registry.load(request)
          #expect(response.status.code == status && response.body.inMemory == Data())
        }
        #expect(origin.connectionCount == 1)
        registry.invalidate()
      }
    }

    @Test(
      "does not take for a body what a server sends after a head that has none",
      arguments: ["HEAD 200", "GET 204", "GET 304"])
    func bodyAfterNoBody(kind: String) async throws {
      let words = kind.split(separator: " ")
      let origin = try await ScriptedOrigin.start { _ in
        ScriptedOrigin.Script("HTTP/1.1 \(words[1]) X\r\nContent-Length: 5\r\n\r\nhello")
      }
      let registry = InterceptorRegistry.overClient()
      for _ in 0..<3 {
        var request = URLRequest(url: origin.url())
        request.httpMethod = String(words[0])
        // The client turns the connection down when it sees what comes, and with it a request that has just gone out.
        do {
          let response = try await registry.load(request)
          #expect(response.body.isEmpty && "\(response.status.code)" == words[1])
        } catch let error as URLError {
          #expect(error.code == .networkConnectionLost)
        }
      }
      registry.invalidate()
      await origin.stop()
    }

    @Test("follows redirects by the core's rules: credentials stay, methods change, cookies are stored and sent")
    func redirects() async throws {
      try await withOrigin(hosts: ["127.0.0.1", "::1"]) { origin in
        let registry = InterceptorRegistry.overClient(
          HTTPClient.Configuration(redirectConfiguration: .follow(max: 5, allowCycles: false)))
        let away = origin.url("/echo", host: "::1").absoluteString
        origin.reply(to: "/away") { _ in Reply(302, [("Location", away), ("Set-Cookie", "a=1; Path=/")]) }
        var request = URLRequest.post(origin.url("/away"), fields: ["Authorization": "secret", "Cookie": "own=secret"])
        request.httpBody = Data("body".utf8)
        let echo = try JSONDecoder().decode(Echo.self, from: Data(try await registry.text(request).utf8))
        #expect(echo.method == "GET" && echo.body.isEmpty && !echo.head.contains("secret"))
        let again = try await registry.text(origin.url("/echo"))
        #expect(again.contains("a=1"))
        #expect(
          await failureCode { try await registry.load(URLRequest(url: origin.url("/loop"))) } == .httpTooManyRedirects)
        registry.invalidate()
      }
    }

    @Test("with a client of the app's works, and sends nothing if that client follows redirects past the chain")
    func borrowed() async throws {
      try await withOrigin { origin in
        let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
        let registry = InterceptorRegistry(transport: AsyncHTTPClientTransport(client: client)) {
          Link()
        }
        #expect(try await registry.text(origin.url("/redirect/302?to=/hello")) == "hello")
        let count = origin.requests.count
        for (transport, path) in [
          (AsyncHTTPClientTransport(client: .shared), "/hello"),
          (AsyncHTTPClientTransport(client: .shared, followsRedirects: false), "/redirect/302?to=/hello"),
        ] {
          let wrong = InterceptorRegistry(transport: transport) { Link() }
          let error = await failure { try await wrong.text(origin.url(path)) }
          #expect((error as? URLError)?.cause(as: WaylayError.self)?.code == .transportIncapable, "\(path)")
          if path == "/hello" { #expect(origin.requests.count == count) }
          wrong.invalidate()
        }
        registry.invalidate()
        try await client.shutdown()
        let later = await failure {
          try await InterceptorRegistry(transport: AsyncHTTPClientTransport(client: client)).text(
            origin.url("/hello"))
        }
        #expect(transportError(later)?.requestBytesSent == 0)
      }
    }

    @Test("says what it cannot do, and dials no other address in place of it")
    func incapable() async throws {
      let transport = AsyncHTTPClientTransport()
      #expect(transport.capabilities == [.backPressure, .streamedUploads])
      var request = InterceptedRequest(.get, "http://api.example.com/")
      request.route = try Route("127.0.0.1")
      let error = await failure { [request] in try await transport.load(request) }
      #expect((error as? WaylayError)?.code == .transportIncapable)
      let unix = await failure { try await transport.load(InterceptedRequest(.get, "http+unix://%2Ftmp%2Fx/")) }
      #expect((unix as? TransportError)?.urlErrorCode == .unsupportedURL)
      for value in ["a\r\nX-Injected: 1", "a\u{1}b"] {
        let field = await failure {
          var request = URLRequest(url: URL(string: "http://127.0.0.1:9/")!)
          request.setValue(value, forHTTPHeaderField: "X-Field")
          return try await InterceptorRegistry(transport: transport).load(request)
        }
        #expect(
          (field as? URLError)?.cause(as: WaylayError.self)?.code == .invalidRequest
            || transportError(field)?.requestBytesSent == 0)
      }
    }

    @Test("refuses a head over the limits")
    func limits() async throws {
      try await withOrigin { origin in
        var limits = MessageLimits()
        limits.fieldCount = 20
        let registry = InterceptorRegistry.overClient(limits: limits)
        origin.reply(to: "/many") { _ in .text("x", fields: (0..<30).map { ("X-\($0)", "1") }) }
        let error = await failure { try await registry.text(origin.url("/many")) }
        #expect(transportError(error)?.code == .limitExceeded)
        let huge = await failure { try await registry.text(origin.url("/garbage/header?size=1000000")) }
        #expect([.badServerResponse, .dataLengthExceedsMaximum].contains((huge as? URLError)?.code))
        registry.invalidate()
      }
    }
  }
#endif
