// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import TestSupport
  import Foundation
  import TestOrigin
  import Testing
  import WaylayCore

  @Suite("CurlTransport", .timeLimit(.minutes(5)))
  struct CurlTransportTests {
    private func registry(_ options: CurlTransport.Options = CurlTransport.Options()) -> InterceptorRegistry {
      InterceptorRegistry(
        transport: CurlTransport(configuration: .ephemeral, options: options), configuration: .ephemeral
      ) { Link.pass() }
    }

    private func trusting(_ authority: TestAuthority) -> CurlTransport.Options {
      var options = CurlTransport.Options()
      options.additionalAuthorities = [Data(authority.pem.utf8)]
      return options
    }

    /// A server with TLS, and a registry that trusts its authority.
    private func withTLS(
      _ tls: (TestAuthority) -> TestOrigin.TLS = { TestOrigin.TLS(authority: $0) },
      _ body: (TestOrigin, InterceptorRegistry) async throws -> Void
    ) async throws {
      try await withTrustedOrigin(hosts: ["127.0.0.1", "127.0.0.2", "::1"], tls: tls, body)
    }

    @Test("is the default on Linux, and says which libcurl it has found")
    func available() async throws {
      #expect(CurlTransport.isAvailable)
      #expect(CurlTransport.unavailableReason == nil)
      #expect(
        CurlTransport.libraryVersion?.hasPrefix("7.") == true || CurlTransport.libraryVersion?.hasPrefix("8.") == true)
      let origin = try await TestOrigin.start(host: "::1")
      let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
      // What a session cannot do (U4).
      let (data, _) = try await registry.data(for: URLRequest(url: origin.url("/hello")))
      #expect(String(decoding: data, as: UTF8.self) == "hello")
      registry.invalidate()
      await origin.stop()
    }

    @Test("trusts an additional authority, and speaks HTTP/2 where TLS agrees on it")
    func secure() async throws {
      try await withTLS { origin, registry in
        let response = try await registry.load(URLRequest(url: origin.url("/hello")))
        let text = try await response.body.collect(upTo: 100)
        #expect(String(decoding: text, as: UTF8.self) == "hello")
        #expect(response.metrics?.protocolName == "h2")
        #expect(origin.requests.map(\.httpVersion) == ["2"])
      }
    }

    @Test(
      "tells failures of TLS apart, and has sent nothing by then",
      arguments: [
        (TestOrigin.TLS.Certificate.Kind.expired, URLError.Code.serverCertificateHasBadDate),
        (.notYetValid, .serverCertificateNotYetValid), (.wrongName, .serverCertificateUntrusted),
        (.selfSigned, .serverCertificateHasUnknownRoot), (.unknownAuthority, .serverCertificateHasUnknownRoot),
        (.missingIntermediate, .serverCertificateHasUnknownRoot),
      ])
    func certificates(kind: TestOrigin.TLS.Certificate.Kind, code: URLError.Code) async throws {
      try await withTLS({ TestOrigin.TLS(authority: $0, kind: kind) }) { origin, registry in
        let error = try #require(
          await failure { try await registry.data(for: URLRequest(url: origin.url("/hello"))) } as? URLError)
        #expect(error.code == code)
        let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? TransportError)
        #expect(cause.phase == .securing)
        #expect(cause.requestBytesSent == 0)
        #expect(origin.requests.isEmpty)
      }
    }

    @Test("trusts no private authority unless it was told to")
    func untrusted() async throws {
      try await withTLS { origin, _ in
        let registry = registry()
        let code = await failureCode { try await registry.data(for: URLRequest(url: origin.url("/hello"))) }
        #expect(code == .serverCertificateHasUnknownRoot)
        registry.invalidate()
      }
    }

    @Test("dials a route: the URL, the server name and the certificate's name stay", arguments: ["127.0.0.2", "::1"])
    func route(address: String) async throws {
      try await withTLS({ TestOrigin.TLS(authority: $0, names: ["api.example.com"]) }) { origin, registry in
        let target = try Route(address, port: origin.port)
        registry.register(
          InterceptorChain("dial", for: .host("api.example.com")) {
            Link { request, next in
              var request = request
              request.route = target
              return try await next(request)
            }
          })
        let response = try await registry.load(URLRequest(url: URL(string: "https://api.example.com/echo")!))
        let text = String(decoding: try await response.body.collect(upTo: 10_000), as: UTF8.self)
        #expect(response.url.host == "api.example.com")
        #expect(text.contains("api.example.com"))
        #expect(origin.connections.map(\.sni) == ["api.example.com"])
        #expect(origin.connections.map(\.localAddress) == [address])
        #expect(response.metrics?.address?.contains(address) == true)
      }
    }

    @Test("lets one attempt through a gate: the others send nothing")
    func gate() async throws {
      try await withTLS { origin, registry in
        let gate = DialGate()
        let routes = try ["127.0.0.1", "127.0.0.2"].map { try Route($0, port: origin.port, gate: gate) }
        let losers = Log<TransportError>()
        registry.register(
          InterceptorChain("race") {
            Link { request, next in
              try await withThrowingTaskGroup(of: InterceptedResponse?.self) { group in
                for route in routes {
                  group.addTask {
                    var request = request
                    request.route = route
                    do { return try await next(request) } catch let error as TransportError {
                      losers.add(error)
                      return nil
                    }
                  }
                }
                var answer: InterceptedResponse?
                for try await response in group { answer = response ?? answer }
                return try #require(answer)
              }
            }
          })
        let (data, _) = try await registry.data(for: URLRequest(url: origin.url("/hello")))
        #expect(String(decoding: data, as: UTF8.self) == "hello")
        #expect(origin.requests.count == 1)
        #expect(losers.all.map(\.requestBytesSent) == [0])
        #expect(gate.isClaimed)
      }
    }

    @Test("URLSessionTransport refuses a route rather than dial another address")
    func incapable() async throws {
      let registry = InterceptorRegistry(transport: URLSessionTransport(configuration: .ephemeral)) {
        Link { request, next in
          var request = request
          request.route = try Route("127.0.0.1")
          return try await next(request)
        }
      }
      let error = await failure { try await registry.data(for: URLRequest(url: .example)) }
      #expect(error.flatMap(cause)?.code == .transportIncapable)
      registry.invalidate()
    }

    @Test(
      "takes addresses for routes, and no names",
      arguments: ["example.com", "", "1.2.3", "[::1]", "1.2.3.4:80", "::1%eth0"])
    func badRoutes(address: String) {
      #expect(throws: WaylayError.self) { try Route(address) }
      #expect(throws: WaylayError.self) { try Route("1.2.3.4", port: 0) }
    }

    @Test("holds the server back while nobody reads, and goes on when somebody does")
    func backPressure() async throws {
      try await withOrigin { origin in
        let registry = registry()
        let size = 160 << 20
        let response = try await registry.load(URLRequest(url: origin.url("/bytes/\(size)")))
        var chunks = response.body.makeAsyncIterator()
        var received = 0
        // What the server has sent more is in the one buffer and in the sockets, which grow to some 36 MB here.
        while let chunk = try await chunks.next() {
          received += chunk.count
          #expect(origin.bytesSent - received < 64 << 20)
        }
        #expect(received == size)
        registry.invalidate()
      }
    }

    @Test("sends a stream while it is produced")
    func streamedUpload() async throws {
      try await withOrigin { origin in
        let registry = registry()
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        var request = URLRequest(url: origin.url("/echo"))
        request.httpMethod = "POST"
        let upload = Task { [request] in try await registry.upload(for: request, from: .stream(stream)).0 }
        continuation.yield(Data("first".utf8))
        await origin.until { origin in origin.rawBytes.joined().contains("first") }
        continuation.yield(Data("second".utf8))
        continuation.finish()
        let echo = try JSONDecoder().decode(Echo.self, from: try await upload.value)
        #expect(echo.body == "firstsecond")
        registry.invalidate()
      }
    }

    @Test("sends a stream with the length that the app gives it, and with one framing only")
    func declaredLength() async throws {
      try await withOrigin { origin in
        let registry = registry()
        var request = URLRequest(url: origin.url("/echo"))
        request.httpMethod = "POST"
        request.setValue("5", forHTTPHeaderField: "Content-Length")
        request.httpBodyStream = InputStream(data: Data("12345".utf8))
        let sent = Passed(request)
        let (data, _) = try await registry.data(for: sent.value)
        #expect(try JSONDecoder().decode(Echo.self, from: data).body == "12345")
        #expect(origin.requests.first?["Content-Length"] == ["5"])
        #expect(origin.requests.first?["Transfer-Encoding"] == [])
        registry.invalidate()
      }
    }

    @Test("does not read a body that is never sent: after an address that refuses, the next one gets it")
    func unsentBody() async throws {
      let origin = try await TestOrigin.start(hosts: ["127.0.0.1", "127.0.0.2"])
      try await origin.stopListening(on: "127.0.0.1")
      let registry = registry()
      registry.register(
        InterceptorChain("failover") {
          Link { request, next in
            var request = request
            request.route = try Route("127.0.0.1", port: origin.port)
            do { return try await next(request) } catch let error as TransportError where error.requestBytesSent == 0 {
              request.route = try Route("127.0.0.2", port: origin.port)
              return try await next(request)
            }
          }
        })
      var request = URLRequest(url: origin.url("/echo"))
      request.httpMethod = "POST"
      let stream = AsyncStream<Data> { continuation in
        continuation.yield(Data("once".utf8))
        continuation.finish()
      }
      let (data, _) = try await registry.upload(for: request, from: .stream(stream))
      #expect(try JSONDecoder().decode(Echo.self, from: data).body == "once")
      registry.invalidate()
      await origin.stop()
    }

    @Test("sends large chunks of a stream without copying what is left each time")
    func largeChunk() async throws {
      try await withOrigin { origin in
        let registry = registry()
        origin.keepsLog = false
        origin.reply(to: "/count") { .text("\($0.body.count)") }
        var request = URLRequest(url: origin.url("/count"))
        request.httpMethod = "POST"
        let stream = AsyncStream<Data> { continuation in
          continuation.yield(Data(count: 24 << 20))
          continuation.yield(Data("end".utf8))
          continuation.finish()
        }
        let (data, _) = try await registry.upload(for: request, from: .stream(stream))
        #expect(String(decoding: data, as: UTF8.self) == "\((24 << 20) + 3)")
        registry.invalidate()
      }
    }

    @Test("lets a small load through beside a large one that nobody reads, to the same server")
    func unreadNeighbour() async throws {
      try await withTLS { origin, registry in
        let large = try await registry.load(URLRequest(url: origin.url("/bytes/50000000")))
        let (small, _) = try await registry.data(for: URLRequest(url: origin.url("/hello")))
        #expect(String(decoding: small, as: UTF8.self) == "hello")
        #expect(large.status == .ok)
      }
    }

    @Test("fails an upload whose stream fails with the stream's error")
    func failingUpload() async throws {
      struct Broken: Error {}
      try await withOrigin { origin in
        let registry = registry()
        var request = URLRequest(url: origin.url("/echo"))
        request.httpMethod = "POST"
        let stream = AsyncThrowingStream<Data, any Error> { continuation in
          continuation.yield(Data("x".utf8))
          continuation.finish(throwing: Broken())
        }
        let error = await failure { [request] in try await registry.load(request, body: .stream(Passed(stream).value)) }
        #expect((error as? URLError)?.userInfo[NSUnderlyingErrorKey] is Broken)
        registry.invalidate()
      }
    }

    @Test(
      "calls failures of the network by their names",
      arguments: [
        ("/close", URLError.Code.networkConnectionLost), ("/truncated", .networkConnectionLost),
        ("/reset", .networkConnectionLost),
        ("/garbage", .badServerResponse), ("/garbage/chunk", .networkConnectionLost),
      ])
    func failures(path: String, code: URLError.Code) async throws {
      try await withOrigin { origin in
        let registry = registry()
        let error = try #require(
          await failure { try await registry.data(for: URLRequest(url: origin.url(path))) } as? URLError)
        #expect(error.code == code, "\(error.localizedDescription)")
        let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? TransportError)
        #expect(cause.phase == .receiving)
        #expect(cause.requestBytesSent ?? 0 > 0)
        #expect(cause.address == "127.0.0.1:\(origin.port)")
        registry.invalidate()
      }
    }

    @Test("says that nothing was sent when nobody listens, and when the host is unknown")
    func unreachable() async throws {
      let registry = registry()
      let port = try ClosedPort()
      let refused = await failure { try await registry.data(for: URLRequest(url: port.url())) } as? URLError
      #expect(refused?.code == .cannotConnectToHost)
      let cause = refused?.userInfo[NSUnderlyingErrorKey] as? TransportError
      #expect(cause?.phase == .connecting)
      #expect(cause?.requestBytesSent == 0)
      let unknown =
        await failure { try await registry.data(for: URLRequest(url: URL(string: "http://nowhere.invalid/")!)) }
        as? URLError
      #expect(unknown?.code == .cannotFindHost)
      registry.invalidate()
      port.close()
    }

    @Test(
      "sends a request again when a kept connection turns out dead, unless it might be done twice",
      arguments: ["GET", "PUT", "POST", "PATCH"])
    func deadConnection(method: String) async throws {
      try await withOrigin { origin in
        // The second request is taken, and the connection closed without a word.
        origin.reply(to: "/second") { _ in
          origin.requests(to: "/second").count == 2 ? Reply(200, [], .close) : .text("here")
        }
        let registry = registry()
        var request = URLRequest(url: origin.url("/second"))
        request.httpMethod = method
        if method != "GET" { request.httpBody = Data("body".utf8) }
        let sent = request
        _ = try await registry.data(for: sent)
        let isRepeated = ["GET", "PUT"].contains(method)
        if isRepeated {
          let (data, _) = try await registry.data(for: sent)
          #expect(String(decoding: data, as: UTF8.self) == "here")
        } else {
          #expect(await failureCode { try await registry.data(for: sent) } == .networkConnectionLost)
        }
        #expect(origin.requests.count == (isRepeated ? 3 : 2))
        registry.invalidate()
      }
    }

    @Test("ends the connections of one address on demand, and no others (U11)")
    func closeConnections() async throws {
      let origin = try await TestOrigin.start(hosts: ["127.0.0.1", "::1"])
      let transport = CurlTransport(configuration: .ephemeral)
      let registry = InterceptorRegistry(transport: transport, configuration: .ephemeral) { Link.pass() }
      for host in origin.hosts { _ = try await registry.data(for: URLRequest(url: origin.url("/hello", host: host))) }
      #expect(transport.closeConnections(to: "0:0:0:0:0:0:0:1") == 1)
      await origin.until { $0.openConnectionCount == 1 }
      for host in origin.hosts { _ = try await registry.data(for: URLRequest(url: origin.url("/hello", host: host))) }
      #expect(origin.connections.map(\.localAddress) == ["127.0.0.1", "::1", "::1"])
      #expect(transport.closeConnections(to: "192.0.2.1") == 0)
      transport.invalidate()
      #expect(transport.closeConnections(to: "127.0.0.1") <= 1)
      registry.invalidate()
      await origin.stop()
    }

    @Test("makes its sockets close-on-exec")
    func closeOnExec() async throws {
      try await withOrigin { origin in
        let registry = registry()
        _ = try await registry.data(for: URLRequest(url: origin.url("/hello")))
        let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        let flags = numbers.compactMap { descriptor -> Int32? in
          var peer = sockaddr_in()
          var length = socklen_t(MemoryLayout<sockaddr_in>.size)
          let isConnected = withUnsafeMutableBytes(of: &peer) { bytes in
            bytes.baseAddress.map { getpeername(descriptor, $0.assumingMemoryBound(to: sockaddr.self), &length) == 0 }
              ?? false
          }
          guard isConnected, Int(UInt16(bigEndian: peer.sin_port)) == origin.port else { return nil }
          return fcntl(descriptor, F_GETFD)
        }
        #expect(flags.count == 1)
        #expect(flags.allSatisfy { $0 & FD_CLOEXEC != 0 })
        registry.invalidate()
      }
    }

    @Test("notices that a kept connection was closed meanwhile")
    func hangUp() async throws {
      try await withOrigin { origin in
        let registry = registry()
        _ = try await registry.data(for: URLRequest(url: origin.url("/hangup")))
        await origin.until { $0.openConnectionCount == 0 }
        let (data, _) = try await registry.data(for: URLRequest(url: origin.url("/hello")))
        #expect(String(decoding: data, as: UTF8.self) == "hello")
        registry.invalidate()
      }
    }

    @Test("uses one connection for requests one after the other, and says so")
    func keepAlive() async throws {
      try await withOrigin { origin in
        let registry = registry()
        var reused: [Bool?] = []
        for _ in 0..<5 {
          let response = try await registry.load(URLRequest(url: origin.url("/hello")))
          _ = try await response.body.collect(upTo: 100)
          reused.append(response.metrics?.isConnectionReused)
        }
        #expect(origin.connectionCount == 1)
        #expect(reused == [false, true, true, true, true])
        registry.invalidate()
      }
    }

    @Test("measures: times in order, bytes both ways, address and protocol")
    func metrics() async throws {
      try await withOrigin { origin in
        let registry = registry()
        var request = URLRequest(url: origin.url("/bytes/300000"))
        request.httpMethod = "POST"
        let response = try await registry.load(request, body: .data(Data("12345".utf8)))
        for try await _ in response.body {}
        let metrics = try #require(response.metrics)
        #expect(metrics.requestBodyBytes == 5)
        #expect(metrics.responseBodyBytes == 300_000)
        #expect(metrics.address == "127.0.0.1:\(origin.port)")
        #expect(metrics.protocolName == "http/1.1")
        let times = try #require([metrics.connect, metrics.firstByte, metrics.total] as? [Duration])
        #expect(times == times.sorted())
        registry.invalidate()
      }
    }

    @Test(
      "keeps fields in order with their duplicates, skips interim responses, and brings trailers and decoded bodies")
    func presentation() async throws {
      try await withOrigin { origin in
        let registry = registry()
        origin.reply(to: "/fields") { _ in
          .text("x", fields: [("X-B", "1"), ("Set-Cookie", "a=1"), ("X-A", "2"), ("Set-Cookie", "b=2")])
        }
        let fields = try await registry.load(URLRequest(url: origin.url("/fields"))).fields
        #expect(fields[values: .setCookie] == ["a=1", "b=2"])
        let names = fields.map(\.name.rawName).filter { $0.hasPrefix("X-") }
        #expect(names == ["X-B", "X-A"])
        let early = try await registry.data(for: URLRequest(url: origin.url("/early/103")))
        #expect(early.1.statusCode == 200)
        let trailing = try await registry.load(URLRequest(url: origin.url("/trailers")))
        _ = try await trailing.body.collect(upTo: 1000)
        #expect(!trailing.trailers.isEmpty)
        let (zipped, head) = try await registry.data(for: URLRequest(url: origin.url("/gzip")))
        #expect(head.value(forHTTPHeaderField: "Content-Encoding") == "gzip")
        #expect(zipped.first != 0x1F)
        registry.invalidate()
      }
    }

    @Test("survives any bytes that a server may send")
    func anyBytes() async throws {
      let pieces = [
        "HTTP/1.1 200 OK\r\n", "HTTP/1.1 103 Early\r\n", "HTTP/2 999 \r\n", "HTTP/1.1 000\r\n", "Content-Length: 5\r\n",
        "Content-Length: -1\r\n",
        "Transfer-Encoding: chunked\r\n", "X: \u{1}\u{7f}é\r\n", " folded\r\n", ": none\r\n", "no colon\r\n",
        "Set-Cookie: a=1; b\r\n",
        "\r\n", "\n", "\0",
        "5\r\nhello\r\n0\r\n", "Trailer: x\r\n", "Content-Encoding: gzip\r\n", "hello",
        "WWW-Authenticate: Digest realm=\"\r\n",
        "Location: ::::\r\n",
      ]
      try await withOrigin { origin in
        let registry = registry()
        let numbers = Locked(SplitMix(state: 7))
        origin.reply(to: "/raw") { _ in
          let count = numbers.withLock { Int($0.next() % 10) }
          let text = (0..<count).map { _ in pieces[Int(numbers.withLock { $0.next() } % UInt64(pieces.count))] }
            .joined()
          var reply = Reply.raw("HTTP/1.1 200 OK\r\n" + text)
          if count.isMultiple(of: 2) { reply = Reply.raw(text) }
          reply.hangsUp = true
          return reply
        }
        for _ in 0..<400 {
          // Whatever comes of it, it comes to an end.
          _ = await failure { try await registry.data(for: URLRequest(url: origin.url("/raw"))) }
        }
        #expect(origin.requests.count >= 400)
        registry.invalidate()
      }
    }

    @Test("frees the connection of a response that is dropped unread, and of a load that is cancelled")
    func dropped() async throws {
      try await withOrigin { origin in
        let registry = registry()
        var response: InterceptedResponse? = try await registry.load(URLRequest(url: origin.url("/gate/dropped")))
        #expect(response?.status == .ok)
        response = nil
        await origin.until { $0.openConnectionCount == 0 }
        let load = Task { try await registry.data(for: URLRequest(url: origin.url("/never"))).0 }
        await origin.until { $0.requests.count == 2 }
        load.cancel()
        #expect(await failureCode { try await load.value } == .cancelled)
        await origin.until { $0.openConnectionCount == 0 }
        registry.invalidate()
      }
    }

    @Test("ends what is under way when it is invalidated, and takes nothing more")
    func invalidated() async throws {
      try await withOrigin { origin in
        let transport = CurlTransport(configuration: .ephemeral)
        let load = Task { try await transport.load(InterceptedRequest(.get, origin.url("/never"))) }
        await origin.until { $0.requests.count == 1 }
        transport.invalidate()
        #expect(await failure { try await load.value } is WaylayError)
        let later = await failure { try await transport.load(InterceptedRequest(.get, origin.url("/hello"))) }
        #expect((later as? WaylayError)?.code == .registryInvalidated)
        await origin.until { $0.openConnectionCount == 0 }
      }
    }

    @Test("puts no line break of a header field on the wire")
    func injection() async throws {
      try await withOrigin { origin in
        let registry = registry()
        var request = URLRequest(url: origin.url("/hello"))
        request.setValue("a\r\nX-Injected: 1", forHTTPHeaderField: "X-Field")
        let sent = request
        let error = await failure { try await registry.data(for: sent) }
        if error == nil { #expect(!origin.rawBytes.joined().contains("\r\nX-Injected")) }
        registry.invalidate()
      }
    }
  }
#endif
