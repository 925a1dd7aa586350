#if AsyncHTTPClient && InspectorServer && DEBUG
  import AsyncHTTPClient
  import Foundation
  import NIOCore
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayAsyncHTTPClient
  import WaylayInspector
  import WaylayTesting

  @testable import WaylayRemote
  @testable import WaylayRemoteControl

  /// One list of stubs, whoever gives it and whoever asks: a session, AsyncHTTPClient, a remote control, and a server.
  @Suite("One stub list through every door", .timeLimit(.minutes(5)))
  struct StubListTests {
    enum Way: CaseIterable, Sendable {
      case session, client, remote, server

      /// What comes of each request, and the kinds of the mock's issues. A failure has no status at any door.
      func verdict(_ stubs: [Stub], _ requests: [Door.Request]) async throws -> [String] {
        let options = MockInterceptor.Options(unmatched: .status(501))
        switch self {
        case .session, .client:
          let mock = MockInterceptor(options) { stubs }
          return try await verdict(requests, through: mock) + mock.issues.map(\.kind.description)
        case .remote:
          let mock = MockInterceptor(options)
          let invitation = RemoteInvitation()
          let door = try await RemoteDoor.open(invitation, DoorCalls(Inspector(), mock, nil, [.reading, .stubs]))
          let client = DoorClient(invitation)
          _ = try await client.call("addStubs", ["stubs": JSONValue(stubs.map { try $0.json() })])
          let answers = try await verdict(requests, through: mock)
          let issues = try await client.call("issues")["issues"]?.array ?? []
          withExtendedLifetime(door) {}
          return answers + issues.compactMap { $0["kind"]?.string }
        case .server:
          let mock = MockInterceptor(options) { stubs }
          let registry = InterceptorRegistry(configuration: .ephemeral)
          defer { registry.invalidate() }
          let answers = try await mock.serve(bodyLimit: 1 << 20) { url in
            var answers: [String] = []
            for var request in requests {
              request.url = try #require(URL(string: url.absoluteString + request.url.relativeString.dropFirst()))
              answers.append(await answer { try await Door.direct.send(request, through: registry) })
            }
            return answers
          }
          return answers + mock.issues.map(\.kind.description)
        }
      }

      private func verdict(_ requests: [Door.Request], through mock: MockInterceptor) async throws -> [String] {
        let registry = InterceptorRegistry(configuration: .ephemeral) { mock }
        var answers: [String] = []
        for var request in requests {
          request.url = try #require(URL(string: "http://shop.example" + request.url.relativeString))
          let door: Door = self == .client ? .client : .session
          answers.append(await answer { try await door.send(request, through: registry) })
        }
        registry.invalidate()
        return answers
      }

      private func answer(_ send: () async throws -> Door.Response) async -> String {
        guard let response = try? await send() else { return "failed" }
        return response.status == 501 ? "501" : "\(response.status) \(response.type ?? "-") \(response.body)"
      }
    }

    private static func request(
      _ method: String, _ path: String, _ fields: [String: String] = [:], _ body: String? = nil
    )
      -> Door.Request
    {
      Door.Request(method: method, url: URL(string: path)!, fields: fields, body: body)
    }

    @Test("a list is matched, counted, and reported alike", arguments: Way.allCases)
    func verdicts(way: Way) async throws {
      let stubs = [
        Stub(.get, "/users/:id", .json(["id": 42]), .text("second", status: 203)),
        Stub(.get, "/search", .text("found")).where(.query("q", "a b"), .query("page")),
        Stub(.post, "/orders", .text("made", status: 201)).where(
          .body(.jsonSubset(["tea": 2])), .field("X-Tenant", "acme")),
        Stub(.get, "/once", .text("1")).once, Stub(.delete, "/users/:id", .status(204)),
        Stub(.get, "/broken", .fault(.connectionReset)),
        Stub(.get, "/half", .text("half of it").fault(.truncated(afterBytes: 4))),
        Stub(.get, "/large", .data(Data(repeating: 97, count: 300_000), type: "text/plain")),
        Stub(.get, "/unused", .status(200)),
      ]
      let json = ["Content-Type": "application/json"]
      let verdict = try await way.verdict(
        stubs,
        [
          Self.request("GET", "/users/42"), Self.request("GET", "/users/7"),
          Self.request("GET", "/search?q=a+b&page=1"),
          Self.request("POST", "/orders", json.merging(["X-Tenant": "acme"]) { $1 }, #"{"tea": 2, "milk": true}"#),
          Self.request("POST", "/orders", json, #"{"tea": 2}"#), Self.request("GET", "/once"),
          Self.request("GET", "/once"),
          Self.request("DELETE", "/users/42"), Self.request("GET", "/broken"), Self.request("GET", "/half"),
          Self.request("GET", "/large"),
        ])
      #expect(
        verdict == [
          #"200 application/json {"id":42}"#, "203 text/plain; charset=utf-8 second",
          "200 text/plain; charset=utf-8 found",
          "201 text/plain; charset=utf-8 made", "501", "200 text/plain; charset=utf-8 1", "501", "204 - ", "failed",
          "failed",
          "200 text/plain " + String(repeating: "a", count: 300_000), "unused", "unmatched", "exhausted",
        ])
    }

    @Test("a request that a mock's server cannot pass on is an issue")
    func passThrough() async throws {
      try await withKnownIssue {
        try await withMockServer {
          Stub(.get, "/on", .passThrough)
        } body: { url in
          let registry = InterceptorRegistry(configuration: .ephemeral)
          defer { registry.invalidate() }
          await #expect(throws: (any Error).self) {
            try await registry.load(URLRequest(url: url.appending(path: "on")))
          }
        }
      } matching: {
        "\($0)".contains("cannot pass a request through")
      }
    }

    @Test(
      "a mock's server answers on every path a client that has ended its output, and one of HTTP/1.0 without chunks")
    func oldClients() async throws {
      try await withMockServer {
        Stub(.get, "/events") { _ in
          .stream(
            AsyncStream {
              $0.yield(Data("streamed".utf8))
              $0.finish()
            }
          ).field("Connection", "keep-alive")
        }
      } body: { url in
        let port = try #require(url.port)
        for version in ["1.0", "1.1"] {
          let response = try await Self.exchange("GET /events HTTP/\(version)\r\nHost: a\r\n\r\n", port)
          let isChunked = version == "1.1"
          #expect(response.hasSuffix(isChunked ? "8\r\nstreamed\r\n0\r\n\r\n" : "\r\n\r\nstreamed"), "\(response)")
          #expect(response.contains("Transfer-Encoding") == isChunked && !response.contains("keep-alive"))
        }
      }
    }

    @Test(
      "a client that has left ends its request, and one that has ended its output alone gets a late response",
      .enabled(if: Platform.isLinux, "the kernel tells who has a socket"))
    func leavingClients() async throws {
      let (stream, events) = AsyncStream.makeStream(of: String.self)
      try await withMockServer {
        Stub(.get, "/closure") { _ in
          events.yield("begun")
          defer { events.yield("closure") }
          return await withTaskCancellationHandler {
            for await _ in AsyncStream<Void>.makeStream().stream {}
            return .text("never")
          } onCancel: {
            events.yield("cancelled")
          }
        }
        Stub(.get, "/stream") { _ in
          .stream(
            AsyncStream { continuation in
              continuation.onTermination = { _ in events.yield("stream") }
              continuation.yield(Data("a".utf8))
            })
        }
        Stub(.get, "/late", .text("late").delay(.milliseconds(300)))
      } body: { url in
        let port = try #require(url.port)
        var seen = stream.makeAsyncIterator()
        let closure = try Self.client("GET /closure HTTP/1.1\r\nHost: a\r\n\r\n", port)
        #expect(await seen.next() == "begun")
        try closure.close()
        let pushed = try Self.client("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n", port)
        _ = await Self.read(pushed, all: false)
        try pushed.close()
        var left: Set = ["cancelled", "closure", "stream"]
        while !left.isEmpty, let event = await seen.next() { left.remove(event) }
        #expect(try await Self.exchange("GET /late HTTP/1.1\r\nHost: a\r\n\r\n", port).hasSuffix("late"))
      }
    }

    @Test("many uploads may wait for the rest of their bodies at once, and all are answered")
    func slowUploads() async throws {
      try await withMockServer {
        Stub(.post, "/upload", .text("taken")).where(.body(.text("abc")))
      } body: { url in
        let port = try #require(url.port)
        let head = "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\n"
        let clients = try (1...100).map { _ in try Self.client(head + "a", port) }
        for client in clients {
          try client.write(contentsOf: Data("bc".utf8))
          #expect(await Self.read(client).hasSuffix("taken"))
        }
      }
    }

    @Test(
      "a client that asks whether it may send its body is told so", .disabled(if: !Platform.isLinux, "curl"))
    func expectation() async throws {
      try await withMockServer {
        Stub(.post, "/upload", .text("taken"))
      } body: { url in
        let (_, output) = try await Program(path: "/usr/bin/curl").run([
          "--silent", "--noproxy", "*", "--header", "Expect: 100-continue", "--expect100-timeout", "3000",
          "--max-time", "250", "--data", "abc", "\(url)upload",
        ])
        #expect(output == "taken")
      }
    }

    @Test("a request that is asked for credentials, and the next one that has them, are one use of a stub")
    func credentials() async throws {
      try await withMockServer {
        Stub(.get, "/account", .text("hello").requiringBasic(user: "ada", password: "s3cret")).once
      } body: { url in
        let registry = InterceptorRegistry(configuration: .ephemeral)
        defer { registry.invalidate() }
        let account = try #require(URL(string: "http://ada:s3cret@127.0.0.1:\(url.port ?? 0)/account"))
        let response = try await registry.load(URLRequest(url: account))
        #expect(response.status == .ok)
      }
    }

    @Test("an expectation that fails in a stub's closure belongs to the test")
    func closures() async throws {
      try await withKnownIssue {
        try await withMockServer {
          Stub(.get, "/closure") { _ in
            Issue.record("within the closure")
            return .text("called")
          }
        } body: { url in
          let answer = try await Self.exchange("GET /closure HTTP/1.1\r\nHost: a\r\n\r\n", try #require(url.port))
          #expect(answer.hasSuffix("called"))
        }
      } matching: {
        "\($0)".contains("within the closure")
      }
    }

    /// Sends a request, ends the output, and returns all that comes.
    private static func exchange(_ request: String, _ port: Int) async throws -> String {
      let client = try client(request, port)
      shutdown(client.fileDescriptor, Int32(SHUT_WR))
      return await read(client)
    }

    /// A connection that has sent a text.
    private static func client(_ text: String, _ port: Int) throws -> FileHandle {
      let descriptor = socket(AF_INET, streamSocketType, 0)
      // A program that another test starts would keep it open.
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
      try #require(address.withSockAddr { connect(descriptor, $0, socklen_t($1)) } == 0)
      try file.write(contentsOf: Data(text.utf8))
      return file
    }

    /// What comes until the end, or at first. A thread of its own: a read blocks.
    private static func read(_ file: FileHandle, all: Bool = true) async -> String {
      let data = await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          continuation.resume(returning: all ? file.readDataToEndOfFile() : file.availableData)
        }
      }
      return String(decoding: data, as: UTF8.self)
    }

    @Test("a remote control works in a test without network", .airgapped)
    func airgap() async throws {
      let verdict = try await Way.remote.verdict([Stub(.get, "/a", .text("a"))], [Self.request("GET", "/a")])
      #expect(verdict == ["200 text/plain; charset=utf-8 a"])
    }

    @Test(
      "a mock's server reports its issues at the end, and answers any client", .disabled(if: !Platform.isLinux, "curl"))
    func server() async throws {
      try await withKnownIssue {
        try await withMockServer {
          Stub(.get, "/hello", .text("hello"))
          Stub(.get, "/unused", .text("unused"))
        } body: { url in
          let (_, output) = try await Program(path: "/usr/bin/curl").run(["--silent", "--noproxy", "*", "\(url)hello"])
          #expect(output == "hello")
        }
      } matching: {
        "\($0)".contains("GET /unused")
      }
    }
  }
#endif
