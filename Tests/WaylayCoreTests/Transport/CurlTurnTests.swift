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
        return try await CurlExchange(request, of: transport, on: loop).head().body
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
  }
#endif
