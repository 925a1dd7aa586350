#if InspectorServer
  import Foundation
  import NIOCore
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayInspector

  @testable import WaylayInspectorServer

  @Suite(.timeLimit(.minutes(10)))
  struct ServerTests {
    /// Sends bytes and returns all that comes until the server closes.
    private func exchange(_ url: URL, _ text: String) async throws -> String {
      let client = try await RawClient(url)
      defer { client.close() }
      try await client.send(text)
      return await client.text()
    }

    private func get(
      _ url: URL, _ path: String, host: String? = nil, _ fields: String = "", method: String = "GET"
    ) async throws -> String {
      let host = host ?? "127.0.0.1:\(url.port ?? 0)"
      return try await exchange(
        url, "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\(fields)\r\n")
    }

    /// A busy machine may take its time between a connection and its request.
    private var patient: ConnectionLimits {
      var limits = ConnectionLimits()
      limits.headTime = .minutes(5)
      return limits
    }

    private func quiet(_ change: (inout InspectorServer.Options) -> Void = { _ in }) -> InspectorServer.Options {
      var options = InspectorServer.Options()
      options.logger = nil
      change(&options)
      return options
    }

    @Test("the page is served to who has its URL, and says what a browser may do with it")
    func page() async throws {
      let server = InspectorServer(Inspector(), options: quiet(), limits: patient)
      let url = try await server.start()
      #expect(server.url == url)
      #expect(try await server.start() == url)
      let answer = try await get(url, url.path.hasSuffix("/") ? url.path : url.path + "/")
      #expect(answer.hasPrefix("HTTP/1.1 200"))
      for text in [
        "Content-Security-Policy: default-src 'none'; script-src 'sha256-",
        "connect-src 'self'; frame-ancestors 'none'",
        "Cache-Control: no-store",
        "Referrer-Policy: no-referrer", "X-Content-Type-Options: nosniff", "data-live=\"true\"",
      ] {
        #expect(answer.contains(text), "\(text)")
      }
      await server.stop()
      #expect(server.url == nil)
    }

    @Test("anybody else is told nothing, not even whether the token was right")
    func others() async throws {
      let inspector = Inspector()
      let server = InspectorServer(inspector, options: quiet(), limits: patient)
      let url = try await server.start()
      let token = url.pathComponents[1]
      var answers: Set<String> = []
      answers.insert(try await get(url, "/"))
      answers.insert(try await get(url, "/\(String(token.reversed()))/"))
      answers.insert(try await get(url, "/\(token)/", host: "evil.example:\(url.port ?? 0)"))
      answers.insert(try await get(url, "/\(token)/events", "Origin: http://evil.example\r\n"))
      answers.insert(try await get(url, "/\(token)/entries/1", "Sec-Fetch-Site: same-site\r\n"))
      answers.insert(try await get(url, "/\(token)/entries", method: "DELETE"))
      #expect(answers.count == 1)
      let answer = try #require(answers.first)
      #expect(answer.hasPrefix("HTTP/1.1 403"))
      #expect(!answer.contains(token))
      #expect(!answer.lowercased().contains("access-control"))
      // What is no HTTP at all ends its own connection.
      _ = try await exchange(url, "\u{0}\u{1}\r\n\r\n")
      _ = try await exchange(url, "GET\r\n\r\n")
      #expect(try await get(url, "/\(token)/").hasPrefix("HTTP/1.1 200"))
      await server.stop()
    }

    @Test("one page more than may listen is told so")
    func listeners() async throws {
      let server = InspectorServer(Inspector(), options: quiet { $0.maximumListeners = 1 }, limits: patient)
      let url = try await server.start()
      let path = "/\(url.pathComponents[1])/events"
      let socket = try await openEvents(url)
      let first = await socket.text(until: "event: hello")
      #expect(first.contains("Content-Type: text/event-stream"))
      let second = try await get(url, path)
      #expect(second.contains("event: full"))
      #expect(!second.contains("event: hello"))
      // A page that is closed makes room for another.
      socket.close()
      var third = ""
      while !third.contains("event: hello"), !Task.isCancelled {
        third = try await openEvents(url).text(until: "event: ")
      }
      #expect(third.contains("event: hello"))
      await server.stop()
    }

    /// Listens as a page does.
    private func openEvents(_ url: URL) async throws -> RawClient {
      let client = try await RawClient(url)
      try await client.send("GET \(url.path)/events HTTP/1.1\r\nHost: 127.0.0.1:\(url.port ?? 0)\r\n\r\n")
      return client
    }

    @Test("it stops with pages open, frees its port, and has another token when it starts again")
    func stopping() async throws {
      // A process that another test starts has the listener too until it is the program: not each time.
      for attempt in 1...100 {
        do { return try await stopAndStart() } catch let error as WaylayError {
          guard attempt < 100 else { throw error }
        }
      }
    }

    private func stopAndStart() async throws {
      let inspector = Inspector()
      let first = InspectorServer(inspector, options: quiet(), limits: patient)
      let url = try await first.start()
      let port = UInt16(try #require(url.port))
      async let stream = get(url, "/\(url.pathComponents[1])/events")
      // A second server cannot have the port, and says which.
      let other = InspectorServer(inspector, options: quiet { $0.port = port }, limits: patient)
      let error = await #expect(throws: WaylayError.self) { _ = try await other.start() }
      #expect(error?.code == .cannotListen)
      #expect(error?.message.contains("\(port)") == true)
      await first.stop()
      await first.stop()
      _ = try? await stream
      let again = try await other.start()
      #expect(again.port == Int(port))
      #expect(again.path != url.path)
      #expect(try await get(again, url.path + "/").hasPrefix("HTTP/1.1 403"))
      await other.stop()
      await #expect(throws: (any Error).self) { _ = try await exchange(url, "GET / HTTP/1.1\r\n\r\n") }
    }

    @Test("it serves until the task that runs it is cancelled")
    func cancelling() async throws {
      let server = InspectorServer(Inspector(), options: quiet(), limits: patient)
      let (urls, ready) = AsyncStream.makeStream(of: URL.self)
      let task = Task { try await server.run { ready.yield($0) } }
      for await url in urls {
        let answer = try await get(url, "/\(url.pathComponents[1])/")
        #expect(answer.hasPrefix("HTTP/1.1 200"))
        break
      }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(server.url == nil)
    }

    @Test("the log has the URL in one line, and nothing else of it")
    func log() async throws {
      let lines = Log<String>()
      let server = InspectorServer(
        Inspector(), options: quiet { $0.logger = Logger(label: "test") { _ in Lines(log: lines) } }, limits: patient)
      let url = try await server.start()
      _ = try await get(url, "/\(url.pathComponents[1])/")
      _ = try await get(url, "/")
      _ = try await exchange(url, "nonsense\r\n\r\n")
      await server.stop()
      #expect(lines.all == ["The Inspector is at \(url.absoluteString)"])
    }

    private struct Lines: LogHandler {
      let log: Log<String>
      var logLevel = Logger.Level.trace
      var metadata: Logger.Metadata = [:]

      init(log: Log<String>) {
        self.log = log
      }

      subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
      }

      func log(event: LogEvent) { log.add(event.message.description) }
    }
  }
#endif
