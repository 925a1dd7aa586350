#if AsyncHTTPClient
  import AsyncHTTPClient
  import NIOCore
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayAsyncHTTPClient

  @Suite("AsyncHTTPClientTransport, when it fails", .timeLimit(.minutes(5)))
  struct FailureTests {
    @Test(
      "calls failures of the network by their names",
      arguments: [
        ("/close", URLError.Code.networkConnectionLost), ("/truncated", .networkConnectionLost),
        ("/reset", .networkConnectionLost), ("/garbage", .badServerResponse), ("/garbage/status", .badServerResponse),
        ("/garbage/field", .badServerResponse), ("/garbage/length", .badServerResponse),
        ("/garbage/chunk", .badServerResponse), ("/gzip/broken", .cannotDecodeContentData),
      ])
    func network(path: String, code: URLError.Code) async throws {
      try await withOrigin { origin in
        let registry = InterceptorRegistry.overClient()
        let error = await failure { try await registry.text(origin.url(path)) }
        #expect((error as? URLError)?.code == code, "\(String(describing: error))")
        let cause = try #require(transportError(error))
        #expect(cause.requestBytesSent != 0 && cause.underlying != nil)
        registry.invalidate()
      }
    }

    @Test(
      "does not take for whole what ends early, however it is framed",
      arguments: [ScriptedOrigin.Script.End.close, .reset])
    func truncated(end: ScriptedOrigin.Script.End) async throws {
      let zipped = Data("hello".utf8).base64EncodedString()
      let messages = [
        "Content-Length: 10\r\n\r\nfour", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhel", "Content-Length: 10\r\n\r\n", "Content-Le",
        "Content-Encoding: gzip\r\nContent-Length: \(zipped.utf8.count)\r\n\r\n\(zipped)",
      ]
      for message in messages {
        let origin = try await ScriptedOrigin.start { _ in
          ScriptedOrigin.Script("HTTP/1.1 200 OK\r\n\(message)", end: end)
        }
        let registry = InterceptorRegistry.overClient()
        let code = await failureCode { try await registry.text(origin.url()) }
        #expect([.networkConnectionLost, .cannotDecodeContentData].contains(code), "\(message)")
        registry.invalidate()
        await origin.stop()
      }
    }

    @Test("says that nothing was sent when nobody listens, when the host is unknown and when TLS fails")
    func unsent() async throws {
      let registry = InterceptorRegistry.overClient()
      let port = try ClosedPort()
      let refused = transportError(await failure { try await registry.text(port.url()) })
      #expect(
        refused?.urlErrorCode == .cannotConnectToHost && refused?.code == .refused && refused?.phase == .connecting)
      #expect(refused?.requestBytesSent == 0)
      port.close()
      let unknown = transportError(await failure { try await registry.text(URL(string: "http://nowhere.invalid/")!) })
      #expect(
        unknown?.urlErrorCode == .cannotFindHost && unknown?.phase == .resolving && unknown?.requestBytesSent == 0)
      try await withOrigin { origin in
        let url = try #require(URL(string: "https://127.0.0.1:\(origin.port)/"))
        let plain = transportError(await failure { try await registry.text(url) })
        #expect(
          plain?.urlErrorCode == .secureConnectionFailed && plain?.code == .notTLS && plain?.requestBytesSent == 0)
      }
      registry.invalidate()
    }

    @Test(
      "refuses certificates, and has sent nothing by then",
      arguments: [
        TestOrigin.TLS.Certificate.Kind.expired, .notYetValid, .wrongName, .selfSigned, .unknownAuthority,
        .missingIntermediate,
      ])
    func certificates(kind: TestOrigin.TLS.Certificate.Kind) async throws {
      let authority = try TestAuthority()
      try await withOrigin(tls: TestOrigin.TLS(authority: authority, kind: kind)) { origin in
        let registry = InterceptorRegistry.overClient(try .trusting(authority))
        let cause = transportError(await failure { try await registry.text(origin.url("/hello")) })
        #expect(cause?.urlErrorCode == .serverCertificateUntrusted)
        #expect(cause?.code == (kind == .wrongName ? .certificateNameMismatch : .certificateUntrusted))
        #expect(cause?.phase == .securing && cause?.requestBytesSent == 0 && origin.requests.isEmpty)
        registry.invalidate()
      }
    }

    @Test("times out: the core's time, an attempt's own, and a connection's", arguments: ["/never", "/gate/silent"])
    func timeouts(path: String) async throws {
      try await withOrigin { origin in
        let request = URLRequest(url: origin.url(path), cachePolicy: .useProtocolCachePolicy, timeoutInterval: 0.1)
        origin.release("beginning", gate: "silent")
        let registry = InterceptorRegistry.overClient()
        let code = await failureCode { try await registry.text(request) }
        #expect(code == .timedOut)
        let attempts = InterceptorRegistry.overClient(
          link: Link { request, next in
            var request = request
            // Long enough for the request to be sent: the client does not say how far it has come.
            request.options.timeout = 1
            return try await next(request)
          })
        let error = transportError(await failure { try await attempts.text(origin.url(path)) })
        #expect(error?.code == .timedOut && error?.requestBytesSent == nil)
        registry.invalidate()
        attempts.invalidate()
      }
    }

    @Test(
      "times out while a connection is opened, and has sent nothing by then", .exitTest,
      .enabled(if: Platform.isLinux, "a full queue is answered in other ways elsewhere"))
    func deadAddress() async {
      // In a process of its own, where no other test takes the second that connections have.
      await #expect(processExitsWith: .success) {
        Process.limit()
        var configuration = HTTPClient.Configuration()
        configuration.timeout.connect = .seconds(1)
        let origin = try await TestOrigin.start()
        let port = try ClosedPort().port
        let hole = try BlackHole(host: "127.0.0.1", port: port)
        let registry = InterceptorRegistry.overClient(configuration)
        let dead = try #require(URL(string: "http://127.0.0.1:\(port)/"))
        let wrong = Log<String>()
        await withTaskGroup(of: Void.self) { group in
          for number in 0..<100 {
            group.addTask {
              let error = await failure {
                let text = try await registry.text(number.isMultiple(of: 2) ? dead : origin.url("/hello"))
                if text != "hello" { wrong.add(text) }
              }
              let cause = transportError(error)
              let isUnsent = cause?.code == .timedOut && cause?.phase == .connecting && cause?.requestBytesSent == 0
              if isUnsent != number.isMultiple(of: 2) { wrong.add("\(number): \(String(describing: error))") }
            }
          }
        }
        Process.require(wrong.all.isEmpty, wrong.all.prefix(3).joined(separator: "; "))
        registry.invalidate()
        withExtendedLifetime(hole) {}
        await origin.stop()
      }
    }

    @Test(
      "ends with its task: before, while the head, and while the body comes", arguments: ["/never", "/gate/cancelled"])
    func cancelled(path: String) async throws {
      try await withOrigin { origin in
        let registry = InterceptorRegistry.overClient()
        let before = Task {
          withUnsafeCurrentTask { $0?.cancel() }
          return try await registry.text(origin.url("/hello"))
        }
        #expect(await failureCode { try await before.value } == .cancelled)
        #expect(origin.requests.isEmpty)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        origin.release("beginning", gate: "cancelled")
        let load = Task {
          for try await _ in try await registry.load(URLRequest(url: origin.url(path))).body { begin.yield() }
        }
        await origin.until { $0.requests.count == 1 }
        if path != "/never" { for await _ in begun { break } }
        load.cancel()
        #expect(await failureCode { try await load.value } == .cancelled)
        await origin.until { $0.openConnectionCount == 0 }
        var response: InterceptedResponse? = try await registry.load(URLRequest(url: origin.url("/gate/dropped")))
        #expect(response?.status == .ok)
        response = nil
        await origin.until { $0.openConnectionCount == 0 }
        registry.invalidate()
      }
    }

    @Test(
      "ends what is under way when it is invalidated, once and for all, and takes nothing more",
      arguments: ["/never", "/gate/ended"])
    func invalidated(path: String) async throws {
      try await withOrigin { origin in
        let transport = AsyncHTTPClientTransport()
        origin.release("beginning", gate: "ended")
        let load = Task {
          for try await _ in try await transport.load(InterceptedRequest(.get, origin.url(path))).body {}
        }
        await origin.until { $0.requests.count == 1 }
        transport.invalidate()
        transport.invalidate()
        #expect((await failure { try await load.value } as? WaylayError)?.code == .registryInvalidated)
        let later = await failure { try await transport.load(InterceptedRequest(.get, origin.url("/hello"))) }
        #expect((later as? WaylayError)?.code == .registryInvalidated)
        await origin.until { $0.openConnectionCount == 0 }
      }
    }

    @Test("ends with the last who reads from it, and shuts its client down")
    func released() async throws {
      try await withOrigin { origin in
        var response: InterceptedResponse? = try await AsyncHTTPClientTransport().load(
          InterceptedRequest(.get, origin.url("/gate/last")))
        origin.release("all of it", gate: "last")
        origin.release(nil, gate: "last")
        #expect(try await response?.body.collect(upTo: 100) == Data("all of it".utf8))
        response = nil
        await origin.until { $0.openConnectionCount == 0 }
      }
    }
  }
#endif
