#if AsyncHTTPClient
  import AsyncHTTPClient
  import Foundation
  import NIOCore
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayAsyncHTTPClient

  /// What belongs to a whole process, each in a process of its own.
  @Suite("AsyncHTTPClientTransport, looked at from outside", .timeLimit(.minutes(10)))
  struct ProcessTests {
    @Test("takes large bodies both ways in bounded memory", .exitTest, .enabled(if: Process.measuresMemory))
    func large() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let (origin, sink) = (try await TestOrigin.start(), try await Sink())
        origin.keepsLog = false
        let registry = InterceptorRegistry.overClient()
        // So many bytes come, and as many go.
        try await Process.requireSameMemory { size in
          let before = origin.bytesSent
          let body = try await registry.load(URLRequest(url: origin.url("/bytes/\(size)"))).body
          let most = try await Process.peak(reading: body, of: size) { received in
            Process.require(origin.bytesSent - before - received < 64 << 20, "the server is not held back")
          }
          let answer = try await registry.text(.post(sink.url), body: .stream(Zeros(size)))
          Process.require(answer == "\(size)", "the server got \(answer) bytes")
          return max(most, Process.residentBytes)
        }
        registry.invalidate()
        await origin.stop()
      }
    }

    /// Sends a body that goes on to a server that has answered at its head and resets the stream, until it has been so
    /// 20 times.
    private static func unread(allowsHTTP2: Bool) async throws {
      let authority = try TestAuthority()
      let origin = try await TestOrigin.start(tls: TestOrigin.TLS(authority: authority))
      let registry = InterceptorRegistry.overClient(try .trusting(authority), allowsHTTP2: allowsHTTP2)
      for _ in 0..<20 { _ = try? await registry.text(.post(origin.url("/unread")), body: .stream(Zeros(64 << 20))) }
      let text = try await registry.text(origin.url("/hello"))
      Process.require(text == "hello", "the transport goes on")
      registry.invalidate()
      await origin.stop()
    }

    @Test("a server that responds early and resets the stream ends no process", .exitTest)
    func earlyResponse() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        try await Self.unread(allowsHTTP2: false)
      }
    }

    /// When this fails, HTTP/2 can be on by default again.
    @Test("AsyncHTTPClient's issue 922: with HTTP/2 such a server ends the process", .exitTest)
    func earlyResponseHTTP2() async {
      await #expect(processExitsWith: .failure) {
        Process.limit()
        try await Self.unread(allowsHTTP2: true)
      }
    }

    /// In a process of its own, where no other test keeps it from being sent.
    @Test("does not time out while a body is sent, however long that takes", .exitTest)
    func slowUpload() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let origin = try await TestOrigin.start()
        let registry = InterceptorRegistry.overClient(
          link: Link { request, next in
            var request = request
            request.options.timeout = 1
            return try await next(request)
          })
        // The client keeps its time by the machine's clock: longer than its limit in all, and a fiftieth of it for each
        // piece.
        let end = ContinuousClock.now + .seconds(1.5)
        let slow = AsyncStream<Data> {
          try? await Task.sleep(for: .milliseconds(20))
          return .now < end ? Data("x".utf8) : nil
        }
        let text = try await registry.text(.post(origin.url("/echo")), body: .stream(slow))
        Process.require(text.contains("xx"), text)
        await origin.stop()
      }
    }

    @Test("does not end a call whose body takes longer than the call may", .exitTest)
    func lateBody() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let origin = try await TestOrigin.start()
        let client = InterceptedHTTPClient(.overClient())
        let end = NIODeadline.now() + .seconds(1)
        let response = try await client.execute(
          HTTPClientRequest(url: origin.url("/gate/late").absoluteString), deadline: end)
        // The client keeps its time by the machine's clock.
        while NIODeadline.now() < end { try await Task.sleep(for: .milliseconds(20)) }
        origin.release("late", gate: "late")
        origin.release(nil, gate: "late")
        let body = try await response.body.collect(upTo: 100)
        Process.require(String(buffer: body) == "late", "the body was \(body)")
        await origin.stop()
      }
    }

    #if os(Linux)
      @Test("leaves nothing behind of loads that are cancelled at any moment, reset or out of time", .exitTest)
      func cancelled() async {
        await #expect(processExitsWith: .success) {
          Process.limit()
          let origin = try await TestOrigin.start()
          origin.keepsLog = false
          let wrong = Log<String>()
          @Sendable func misfortunes(_ count: Int) async throws {
            let registry = InterceptorRegistry.overClient()
            await withTaskGroup(of: Void.self) { group in
              for worker in 0..<32 {
                group.addTask {
                  for number in stride(from: worker, to: count, by: 32) {
                    if let fault = await Self.misfortune(number, registry, origin) { wrong.add(fault) }
                  }
                }
              }
            }
            registry.invalidate()
            await origin.until { $0.openConnectionCount == 0 }
          }
          try await misfortunes(320)
          let (descriptors, memory) = (try Process.openDescriptors, Process.residentBytes)
          try await misfortunes(Sizes.of(10_000, small: 640))
          Process.require(wrong.all.isEmpty, wrong.all.prefix(5).joined(separator: "; "))
          _ = try await Process.settles { try Process.openDescriptors <= descriptors }
          let stayed = try Process.openDescriptors - descriptors
          Process.require(stayed <= 0, "\(stayed) descriptors stayed open")
          let growth = Process.residentBytes - memory
          Process.require(!Process.measuresMemory || growth < 16 << 20, "resident memory grew by \(growth >> 20) MiB")
          await origin.stop()
        }
      }

      /// One load that does not end well, and what is wrong with how it ended.
      private static func misfortune(
        _ number: Int, _ registry: InterceptorRegistry, _ origin: TestOrigin
      ) async -> String? {
        let load: @Sendable () async throws -> Void
        var wanted: Set<URLError.Code?> = [.cancelled, nil]
        switch number % 8 {
        case 0..<3: load = { _ = try await registry.text(origin.url("/chunks/50?pause=1")) }
        case 3..<5:
          load = {
            _ = try await registry.text(
              .post(origin.url("/echo")),
              body: .stream(
                AsyncStream {
                  await Task.yield(); return Data("x".utf8)
                }))
          }
        case 5..<7:
          wanted = [.networkConnectionLost]
          load = { _ = try await registry.text(origin.url("/reset")) }
        default:
          wanted = [.timedOut]
          load = {
            var request = URLRequest(url: origin.url("/never"))
            request.timeoutInterval = 0.05
            _ = try await registry.text(request)
          }
        }
        let task = Task { try await load() }
        if wanted.contains(.cancelled) {
          for _ in 0..<number % 97 { await Task.yield() }
          task.cancel()
        }
        let code = await failureCode { try await task.value }
        return wanted.contains(code) ? nil : "\(number % 8) ended with \(code?.rawValue ?? 0)"
      }
    #endif
  }
#endif
