#if CORELIBS_FOUNDATION
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing

  @testable import WaylayCore

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

    /// A session whose response begins with a line and goes on when the test says so, and how that body ended.
    private func open(
      delegate: (any URLSessionDelegate)? = nil
    ) -> (registry: InterceptorRegistry, session: URLSession, chunks: AsyncStream<Data>.Continuation, ended: Event) {
      let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
      let ended = Event()
      continuation.onTermination = { _ in ended.happen() }
      continuation.yield(Data("first\n".utf8))
      let registry = InterceptorRegistry {
        Link { request, _ in InterceptedResponse(to: request, body: .stream(chunks)) }
      }
      return (registry, URLSession.intercepted(by: registry, delegate: delegate), continuation, ended)
    }

    @Test(
      "end with the cancellation of their task, of the session's tasks or of the Swift task, and so does the load",
      arguments: ["task", "session", "progress", "reader"])
    func cancelled(by canceller: String) async throws {
      let (registry, session, _, ended) = open()
      let (bytes, response) = try await session.bytes(from: .example)
      #expect(bytes.task.response === response)
      let first = Event()
      let reading = Task {
        var lines = bytes.lines.makeAsyncIterator()
        #expect(try await lines.next() == "first")
        first.happen()
        return try await lines.next()
      }
      await first.wait()
      switch canceller {
      case "task": bytes.task.cancel()
      case "session": session.invalidateAndCancel()
      case "progress": bytes.task.progress.cancel()
      default: reading.cancel()
      }
      #expect(await failureCode { try await reading.value } == .cancelled)
      await ended.wait()
      registry.invalidate()
    }

    @Test("that are dropped unread end the load")
    func dropped() async throws {
      let ended = Event()
      let registry = InterceptorRegistry {
        Link { request, _ in
          let endless = AsyncStream<Data> { chunks in
            chunks.onTermination = { _ in ended.happen() }
            chunks.yield(Data("first".utf8))
          }
          return InterceptedResponse(to: request, body: .stream(endless))
        }
      }
      var bytes: URLSession.AsyncBytes? = try await URLSession.intercepted(by: registry).bytes(from: .example).0
      let task = try #require(bytes?.task)
      #expect(task.state == .running)
      bytes = nil
      await ended.wait()
      #expect(task.state != .running)
      registry.invalidate()
    }

    @Test("a call that is cancelled while it waits for the head fails as a cancelled one")
    func cancelledEarly() async throws {
      let started = Event()
      let registry = InterceptorRegistry { Link.waiting(started) }
      let session = URLSession.intercepted(by: registry)
      let call = Task { try await session.bytes(from: .example).1 }
      await started.wait()
      call.cancel()
      #expect(await failureCode { try await call.value } == .cancelled)
      registry.invalidate()
    }

    @Test("are refused by a session that was invalidated, without a request", arguments: [true, false])
    func refused(cancels: Bool) async throws {
      let seen = Log<URL>()
      let registry = InterceptorRegistry {
        Link { request, next in
          seen.add(request.url)
          return try await next(request)
        }
      }
      let session = URLSession.intercepted(by: registry)
      if cancels { session.invalidateAndCancel() } else { session.finishTasksAndInvalidate() }
      for _ in 1...3 {
        #expect(await failureCode { try await session.bytes(from: .example) } == .cancelled)
      }
      #expect(seen.all.isEmpty)
      registry.invalidate()
    }

    @Test("of a session that finishes its tasks are read to their end, and then the session is invalid")
    func finishing() async throws {
      let ending = SessionEnding()
      let (registry, session, chunks, _) = open(delegate: ending)
      let (bytes, _) = try await session.bytes(from: .example)
      session.finishTasksAndInvalidate()
      chunks.yield(Data("second\n".utf8))
      chunks.finish()
      var lines: [String] = []
      for try await line in bytes.lines { lines.append(line) }
      #expect(lines == ["first", "second"])
      await ending.event.wait()
      #expect(bytes.task.state == .completed)
      registry.invalidate()
    }

    @Test("U23: a session that is invalidated while calls begin cancels each of them or gives it its bytes", .exitTest)
    func crossing() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let registry = InterceptorRegistry { Link.answer("hello") }
        for round in 0..<400 {
          let session = URLSession.intercepted(by: registry)
          await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
              group.addTask {
                do {
                  for try await line in try await session.bytes(from: .example).0.lines {
                    Process.require(line == "hello", line)
                  }
                } catch {
                  Process.require((error as? URLError)?.code == .cancelled, "\(error)")
                }
              }
            }
            group.addTask {
              if round % 2 == 0 { session.invalidateAndCancel() } else { session.finishTasksAndInvalidate() }
            }
          }
        }
      }
    }

    @Test("are read from the source no faster than the reader takes them")
    func slowReader() async throws {
      let made = Log<Int>()
      let registry = InterceptorRegistry {
        Link { request, _ in
          let chunks = AsyncStream<Data> {
            made.add(1)
            return made.all.count <= 100 ? Data(repeating: 1, count: 1000) : nil
          }
          return InterceptedResponse(to: request, body: .stream(chunks))
        }
      }
      let (bytes, _) = try await URLSession.intercepted(by: registry).bytes(from: .example)
      var count = 0
      for try await _ in bytes {
        count += 1
        // Beside the chunk that is read: the one that waits for its reader.
        if count % 1000 == 1 { #expect(made.all.count <= count / 1000 + 2) }
      }
      #expect(count == 100_000)
      registry.invalidate()
    }

    @Test("go on after their task was suspended and resumed")
    func suspended() async throws {
      let (registry, session, chunks, _) = open()
      let (bytes, _) = try await session.bytes(from: .example)
      bytes.task.suspend()
      #expect(bytes.task.state == .suspended)
      chunks.yield(Data("second\n".utf8))
      chunks.finish()
      bytes.task.resume()
      var lines: [String] = []
      for try await line in bytes.lines { lines.append(line) }
      #expect(lines == ["first", "second"])
      registry.invalidate()
    }

    @Test(
      "the delegate of the call is asked about redirects and challenges; without one, the session's",
      arguments: [true, false])
    func delegate(ofCall: Bool) async throws {
      try await withOrigin { origin in
        let registry = InterceptorRegistry { Link.pass() }
        let refusing = Recorder(redirect: { _ in nil })
        let session = URLSession.intercepted(by: registry, delegate: ofCall ? Recorder() : refusing)
        let (bytes, response) = try await session.bytes(
          from: origin.url("/redirect/302?to=/hello"), delegate: ofCall ? refusing : nil)
        #expect((response as? HTTPURLResponse)?.statusCode == 302)
        #expect(refusing.proposedRedirects.map(\.url?.path) == ["/hello"])
        for try await _ in bytes {}
        let answering = Recorder(
          credential: URLCredential(user: "user", password: "password", persistence: .none))
        let other = URLSession.intercepted(by: registry, delegate: ofCall ? nil : answering)
        let (_, welcome) = try await other.bytes(
          from: origin.url("/basic/user/password"), delegate: ofCall ? answering : nil)
        #expect((welcome as? HTTPURLResponse)?.statusCode == 200)
        registry.invalidate()
      }
    }

    @Test("belong to a task of the session, with its number, its request and its count of bytes")
    func task() async throws {
      let (registry, session, chunks, _) = open()
      let before = session.dataTask(with: .example)
      let (bytes, _) = try await session.bytes(for: URLRequest(url: .example))
      let after = session.dataTask(with: .example)
      let numbers = [before, bytes.task, after].map(\.taskIdentifier)
      #expect(numbers == [numbers[0], numbers[0] + 1, numbers[0] + 2])
      #expect(bytes.task.originalRequest?.url == .example)
      let tasks = await handed { give in session.getAllTasks { give($0) } }
      #expect(tasks?.contains(bytes.task) == true)
      chunks.finish()
      for try await _ in bytes {}
      #expect(bytes.task.countOfBytesReceived == 6)
      before.cancel()
      after.cancel()
      registry.invalidate()
    }

    @Test("of a request that no chain accepts come from the transport, one by one")
    func noChain() async throws {
      try await withOrigin { origin in
        let registry = InterceptorRegistry { Link.pass(accepts: { _ in false }) }
        let events = try await events(URLSession.intercepted(by: registry), origin.url("/sse/3"))
        #expect(events.count == 3)
        registry.invalidate()
      }
    }

    @Test("leave nothing of the session behind when they have ended", arguments: [true, false])
    func released(isRead: Bool) async throws {
      let released = Event()
      func use() async throws {
        let (registry, session, chunks, ended) = open()
        PlatformClient.onRelease(of: session) { released.happen() }
        let (bytes, _) = try await session.bytes(from: .example)
        chunks.yield(Data("second\n".utf8))
        chunks.finish()
        if isRead { for try await _ in bytes {} }
        await ended.wait()
        registry.invalidate()
      }
      try await use()
      // It waits for good, up to the time limit, if something is retained.
      await released.wait()
    }
  }

  private final class SessionEnding: NSObject, URLSessionDelegate, Sendable {
    let event = Event()

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { event.happen() }
  }
#endif
