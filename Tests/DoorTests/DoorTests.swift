#if AsyncHTTPClient
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayArchive
  import WaylayHAR
  import WaylayInspector
  import WaylayInterceptors
  import WaylayTesting

  /// One verdict: what a chain does, it does for every client.
  @Suite("Through every door", .timeLimit(.minutes(5)))
  struct DoorTests {
    private static let users = URL(string: "https://api.example.com/users")!

    @Test(
      "stubs answer, and keep what was asked",
      .mocked {
        Stub(.get, "https://api.example.com/users", .json(["name": "Ada"]))
        Stub(.post, "https://api.example.com/users", .text("made", status: 201)).where(.body(.json(["name": "Grace"])))
      }, arguments: Door.allCases)
    func mocks(door: Door) async throws {
      let found = try await door.sendMocked(Door.Request(url: Self.users, fields: ["X-Trace": "7"]))
      #expect(found.status == 200 && found.type == "application/json" && found.url == Self.users)
      #expect(found.body.contains("Ada"))
      let made = try await door.sendMocked(Door.Request(method: "POST", url: Self.users, body: #"{"name": "Grace"}"#))
      #expect(made.status == 201 && made.body == "made")
      let asked = MockInterceptor.current.requests.map { $0 }
      #expect(asked.map(\.method) == ["GET", "POST"] && asked.first?.field("X-Trace") == "7")
    }

    @Test("a request that no stub matches fails, and the report names the nearest stub", arguments: Door.allCases)
    func misses(door: Door) async throws {
      let mock = MockInterceptor { Stub(.get, "https://api.example.com/user", .status(204)) }
      let registry = InterceptorRegistry(configuration: .ephemeral) { mock }
      let error = await failure { try await door.send(Self.users, through: registry) }
      let cause = (error as? URLError)?.cause(as: MockError.self)
      #expect(
        cause?.code == .unmatched && cause?.message.contains("https://api.example.com/user ") == true,
        "\(cause?.message ?? "")")
      registry.invalidate()
    }

    @Test("faults reach the caller as failures, and a response that breaks off is not whole", arguments: Door.allCases)
    func faults(door: Door) async throws {
      let mock = MockInterceptor {
        Stub(.get, "https://api.example.com/users", .error(.timedOut))
        Stub(.get, "https://api.example.com/half", .text("half of it").fault(.connectionReset(afterBytes: 4)))
      }
      let registry = InterceptorRegistry(configuration: .ephemeral) { mock }
      #expect(await failureCode { try await door.send(Self.users, through: registry) } == .timedOut)
      let half = try #require(URL(string: "https://api.example.com/half"))
      #expect(await failure { try await door.send(half, through: registry) } != nil)
      registry.invalidate()
    }

    @Test("a cassette records a server and plays it back without one", arguments: Door.allCases)
    func cassettes(door: Door) async throws {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let path = folder.appendingPathComponent("tape.har").path
      let origin = try await TestOrigin.start()
      origin.reply(to: "/greet") { .text("Good day, \(String(decoding: $0.body, as: UTF8.self))") }
      let request = Door.Request(
        method: "POST", url: origin.url("/greet"), fields: ["Authorization": "secret"], body: "Ada")
      var answers: [Door.Response] = []
      for mode in [Cassette.Mode.all, .none] {
        let cassette = Cassette(path, mode: mode)
        let registry = InterceptorRegistry(configuration: .ephemeral) { cassette }
        answers.append(try await door.send(request, through: registry))
        try cassette.eject()
        registry.invalidate()
        await origin.stop()
      }
      #expect(answers[0].status == 200 && answers[0].body.contains("Ada"))
      #expect(answers[1].status == 200 && answers[1].body.contains("Ada") && origin.requests.count == 1)
      #expect(try !String(contentsOfFile: path, encoding: .utf8).contains("secret"))
    }

    @Test("an archive answers again without the network, and offline", arguments: Door.allCases)
    func archives(door: Door) async throws {
      let origin = try await TestOrigin.start()
      origin.reply(to: "/cached") { _ in .text("kept", fields: [("Cache-Control", "max-age=3600")]) }
      let archive = ArchiveCache()
      let registry = InterceptorRegistry(configuration: .ephemeral) { archive }
      for _ in 0..<3 {
        let answer = try await door.send(origin.url("/cached"), through: registry)
        #expect(answer == Door.Response(status: 200, type: "text/plain", url: origin.url("/cached"), body: "kept"))
      }
      #expect(origin.requests.count == 1)
      await origin.stop()
      archive.mode = .offline
      let offline = try await door.send(origin.url("/cached"), through: registry)
      #expect(offline.body == "kept")
      registry.invalidate()
    }

    @Test("an inspector lists what was sent and received, without its secrets", arguments: Door.allCases)
    func inspectors(door: Door) async throws {
      try await withOrigin { origin in
        let inspector = Inspector()
        let registry = InterceptorRegistry(configuration: .ephemeral) { inspector }
        let request = Door.Request(
          method: "POST", url: origin.url("/echo?page=2"), fields: ["Authorization": "Bearer secret-1"], body: "Ada")
        let answer = try await door.send(request, through: registry)
        let exchange = try #require(inspector.exchanges.first)
        #expect(exchange.state == .finished && exchange.source == .network && inspector.count == 1)
        #expect(exchange.request.method == "POST" && exchange.request.body?.text == "Ada")
        let body = try #require(exchange.response?.body.text)
        #expect(exchange.response?.status == 200 && body.contains("page=2") && !body.contains("secret"))
        #expect(!"\(exchange.request.headers)".contains("secret") && answer.body.contains("secret"))
        registry.invalidate()
      }
    }

    @Test("an interceptor retries, and a redirect leaves credentials with their origin", arguments: Door.allCases)
    func links(door: Door) async throws {
      try await withOrigin(hosts: ["127.0.0.1", "::1"]) { origin in
        let asked = Log<Int>()
        origin.reply(to: "/busy") { _ in
          asked.add(1)
          return asked.all.count < 3 ? Reply(503) : .text("there")
        }
        let away = origin.url("/echo", host: "::1").absoluteString
        origin.reply(to: "/away") { _ in Reply(302, [("Location", away)]) }
        let registry = InterceptorRegistry(configuration: .ephemeral) { Retry(initialDelay: .zero) }
        let retried = try await door.send(origin.url("/busy"), through: registry)
        #expect(retried.body == "there")
        let request = Door.Request(url: origin.url("/away"), fields: ["Authorization": "secret"])
        let answer = try await door.send(request, through: registry)
        #expect(answer.url == origin.url("/echo", host: "::1") && !answer.body.contains("secret"))
        registry.invalidate()
      }
    }

    @Test("a large body arrives whole, decoded or not", arguments: Door.allCases)
    func bodies(door: Door) async throws {
      try await withOrigin { origin in
        let registry = InterceptorRegistry(configuration: .ephemeral) { Inspector() }
        let large = try await door.send(origin.url("/bytes/20000000"), through: registry)
        #expect(large.body.utf8.count == 20_000_000)
        #expect(await failure { try await door.send(origin.url("/truncated"), through: registry) } != nil)
        registry.invalidate()
      }
    }

    @Test(
      "the progress of an upload reaches the caller; a direct load and AsyncHTTPClient have none to tell it by",
      arguments: [Door.session])
    func progress(door: Door) async throws {
      try await withOrigin { origin in
        let registry = InterceptorRegistry(configuration: .ephemeral) { Inspector() }
        let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
        var request = URLRequest(url: origin.url("/echo"))
        request.httpMethod = "POST"
        let task: URLSessionUploadTask = await withCheckedContinuation { continuation in
          let sent = Locked<URLSessionUploadTask?>(nil)
          let task = session.uploadTask(with: request, from: Data(count: 100_000)) { _, _, _ in
            if let task = sent.withLock({ $0 }) { continuation.resume(returning: task) }
          }
          sent.withLock { $0 = task }
          task.resume()
        }
        #expect(task.countOfBytesSent == 100_000)
        session.finishTasksAndInvalidate()
        registry.invalidate()
      }
    }
  }
#endif
