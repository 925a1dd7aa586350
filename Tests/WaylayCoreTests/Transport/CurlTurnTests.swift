// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing

  @testable import WaylayCore

  /// What libcurl does in one turn of the loop, though it is told of it one by one.
  @Suite("CurlTransport, within a turn of its loop", .timeLimit(.minutes(1)))
  struct CurlTurnTests {
    @Test("a request that begins before the end of the last one is told does not get what came behind that")
    func nextInTheSameTurn() async throws {
      let origin = try await ScriptedOrigin.start { request in
        let body = request.target == "/first" ? String(repeating: "a", count: 100_000) : "second"
        let poison = request.target == "/first" ? "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison" : ""
        return ScriptedOrigin.Script("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)\(poison)")
      }
      var options = CurlTransport.Options()
      options.bufferSize = 65_536
      let transport = CurlTransport(configuration: .ephemeral, options: options)
      let loop = CurlLoop(connectionsPerHost: 6)
      @Sendable func load(_ path: String, onBegin: (@Sendable () -> Void)? = nil) async throws -> MessageBody {
        var request = InterceptedRequest(URLRequest(url: origin.url(path)))
        request.route = try Route("127.0.0.1")
        request.route?.onBegin = onBegin
        return try await CurlExchange(request, of: transport, on: loop).start().body
      }
      let first = try await load("/first")
      // By then the loop has taken of the first one what it may, and has it wait for its reader.
      _ = try await load("/between").collect(upTo: .max)

      // The thread of the loop does nothing until all of these have told it what they want.
      let (isHeld, permit) = (Event(), DispatchSemaphore(value: 0))
      async let holding = load("/holding") {
        isHeld.happen()
        permit.wait()
      }
      await isHeld.wait()
      async let text = first.collect(upTo: .max)
      while loop.state.withLock({ $0.commands.count }) < 1 { await Task.yield() }
      async let second = load("/second")
      while loop.state.withLock({ $0.commands.count }) < 2 { await Task.yield() }
      permit.signal()
      #expect(try await text.count == 100_000)
      #expect(try await second.collect(upTo: .max) == Data("second".utf8))
      _ = try await holding.collect(upTo: .max)
      loop.invalidate()
      await origin.stop()
    }

    @Test("what a TLS library has read behind an answer is not the answer to the next request")
    func pendingInTLS() async throws {
      let authority = try TestAuthority()
      let tls = TestOrigin.TLS(authority: authority, names: ["api.test"])
      let origin = try await ScriptedOrigin.start(tls: tls) { request in
        guard request.target == "/first" else {
          return ScriptedOrigin.Script("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond")
        }
        // The rest of the answer and what comes behind it are one record, of which libcurl asks for the answer's part.
        let poison = "helloHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
        return ScriptedOrigin.Script([Data("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".utf8), Data(poison.utf8)])
      }
      var options = CurlTransport.Options()
      options.additionalAuthorities = [Data(authority.pem.utf8)]
      let transport = CurlTransport(configuration: .ephemeral, options: options)
      for _ in 0..<5 {
        for (path, text) in [("/first", "hello"), ("/second", "second")] {
          var request = InterceptedRequest(URLRequest(url: origin.url(path, host: "api.test")))
          request.route = try Route("127.0.0.1")
          #expect(try await transport.load(request).body.collect(upTo: .max) == Data(text.utf8))
        }
      }
      #expect(origin.connectionCount == 6)
      transport.invalidate()
      await origin.stop()
    }

    @Test("a transport that is invalidated while a body comes in goes, with what it holds")
    func invalidatedWithinBody() async throws {
      let origin = try await TestOrigin.start()
      for _ in 0..<20 {
        weak var loop: CurlLoop?
        do {
          let transport = CurlTransport(configuration: .ephemeral)
          let own = CurlLoop(connectionsPerHost: 6)
          loop = own
          let request = InterceptedRequest(URLRequest(url: origin.url("/bytes/100000000")))
          let body = try await CurlExchange(request, of: transport, on: own).start().body
          var reader = body.makeAsyncIterator()
          _ = try await reader.next()
          own.invalidate()
          await #expect(throws: (any Error).self) { while try await reader.next() != nil {} }
        }
        while loop != nil { await Task.yield() }
      }
      await origin.stop()
    }

    @Test("lookups end, though a connection that never opened had the number of their socket before", .exitTest)
    func silentlyClosed() async {
      await #expect(processExitsWith: .success) {
        Process.limit(seconds: 120)
        let hole = try BlackHole(host: "127.0.0.7", port: 8_411)
        let transport = CurlTransport(configuration: .ephemeral)
        for round in 0..<20 {
          let lost = Task {
            try await transport.load(InterceptedRequest(URLRequest(url: URL(string: "http://127.0.0.7:8411/")!)))
          }
          for _ in 0..<round * 50 { await Task.yield() }
          lost.cancel()
          _ = await lost.result
          // A label of more than 63 letters is no name, which needs no network to find out.
          for letter in ["a", "b", "c", "d"] {
            let name = String(repeating: letter, count: 64) + ".test"
            let request = InterceptedRequest(URLRequest(url: URL(string: "http://\(name)/")!))
            do {
              _ = try await transport.load(request)
              preconditionFailure("\(name) is there")
            } catch let error as TransportError {
              Process.require(error.urlErrorCode == .cannotFindHost, "\(error)")
            }
          }
        }
        transport.invalidate()
        withExtendedLifetime(hole) {}
      }
    }
  }
#endif
