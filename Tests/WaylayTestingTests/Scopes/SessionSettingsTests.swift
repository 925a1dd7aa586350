import TestSupport
import Testing
import WaylayTesting

@Suite("The settings and the end of mocked sessions", .timeLimit(.minutes(5)))
struct SessionSettingsTests {
  @Test("header fields, cookies and timeouts that are set after the configuration was taken count", .mocked())
  func settings() async throws {
    MockInterceptor.current.add {
      Stub(.get, "https://api.example.com/users/:id", .text("Ada").field("Set-Cookie", "seen=1"))
    }
    let configuration = URLSessionConfiguration.mocked
    configuration.httpAdditionalHeaders = ["Accept-Language": "de"]
    let storage = try #require(configuration.httpCookieStorage)
    let cookie = try #require(
      HTTPCookie(properties: [.name: "sid", .value: "7", .domain: "api.example.com", .path: "/"]))
    storage.setCookie(cookie)
    let client = UserClient(session: URLSession(configuration: configuration))
    #expect(try await client.name(of: 1) == "Ada")
    #expect(try await client.name(of: 2) == "Ada")
    let calls = MockInterceptor.current.requests
    #expect(calls.map { $0.field("Accept-Language") } == ["de", "de"])
    #expect(calls.first?.field("Cookie") == "sid=7")
    #expect(Set((calls.last?.field("Cookie") ?? "").components(separatedBy: "; ")) == ["sid=7", "seen=1"])
    #expect(Set((storage.cookies ?? []).map(\.name)) == ["sid", "seen"])
  }

  @Test("a timeout and a cookie storage set after the configuration was taken count", .mocked())
  func timeouts() async throws {
    MockInterceptor.current.add {
      Stub(.get, "https://api.example.com/users/1", .never)
      Stub(.get, "https://api.example.com/users/2", .text("Grace").field("Set-Cookie", "seen=1"))
    }
    let impatient = URLSessionConfiguration.mocked
    impatient.timeoutIntervalForRequest = 0.05
    let code = await failureCode { try await UserClient(session: URLSession(configuration: impatient)).name(of: 1) }
    #expect(code == .timedOut)
    let configuration = URLSessionConfiguration.mocked
    configuration.httpCookieStorage = nil
    let client = UserClient(session: URLSession(configuration: configuration))
    _ = try await client.name(of: 2)
    _ = try await client.name(of: 2)
    #expect(MockInterceptor.current.requests.map { $0.field("Cookie") } == [nil, nil, nil])
  }

  /// Code under test that cleans up after itself.
  private final class Client {
    let session: URLSession
    let cancels: Bool

    init(_ session: URLSession, cancels: Bool) {
      (self.session, self.cancels) = (session, cancels)
    }

    deinit {
      if cancels { session.invalidateAndCancel() } else { session.finishTasksAndInvalidate() }
    }
  }

  @Test(
    "code that invalidates the scope's session in its deinit leaves it to the others",
    .enabled(if: Platform.isLinux, "Apple's session class cannot be derived from"),
    .mocked { Stub(.get, "https://api.example.com/users/1", .text("Ada")) }, arguments: [false, true])
  func invalidation(_ cancels: Bool) async throws {
    let other = UserClient(session: .mocked)
    for _ in 0..<3 {
      let client = Client(.mocked, cancels: cancels)
      #expect(try await UserClient(session: client.session).name(of: 1) == "Ada")
    }
    #expect(try await UserClient(session: .mocked).name(of: 1) == "Ada")
    #expect(try await other.name(of: 1) == "Ada")
  }

  @Test(
    "what is cancelled with the session fails as cancelled",
    .enabled(if: Platform.isLinux, "Apple's session class cannot be derived from"),
    .mocked { Stub(.get, "https://api.example.com/users/1", .never) }
  )
  func cancelled() async throws {
    let client = UserClient(session: .mocked)
    async let code = failureCode { try await client.name(of: 1) }
    try await MockInterceptor.current.waitForRequest(.get, "https://api.example.com/users/1", timeout: .seconds(240))
    URLSession.mocked.invalidateAndCancel()
    #expect(await code == .cancelled)
  }

  @Test(
    "each case of a test has a clock of its own",
    .mocked(.init(clock: MockClock())) {
      Stub(.get, "https://api.example.com/users/1", .text("Ada").delay(.seconds(10)))
    },
    arguments: 1...3)
  func clocks(_ number: Int) async throws {
    let scope = try #require(MockScope.current)
    let clock = try #require(scope.mock.clock as? MockClock)
    #expect(clock.now == MockClock().now)
    async let name = UserClient(session: .mocked).name(of: 1)
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(10))
    #expect(try await name == "Ada")
  }

  @Test(
    "a body over the scope's limit fails its load",
    .mocked(.init(bodyLimit: 4)) { Stub(.post, "https://api.example.com/users", .status(201)) })
  func bodyLimit() async throws {
    var request = URLRequest(url: try #require(URL(string: "https://api.example.com/users")))
    request.httpMethod = "POST"
    request.httpBodyStream = InputStream(data: Data("12345".utf8))
    let error = await failure { try await URLSession.mocked.data(for: request) } as? URLError
    #expect(error?.cause(as: MockError.self)?.code == .bodyTooLarge)
    request.httpBodyStream = InputStream(data: Data("1234".utf8))
    _ = try await URLSession.mocked.data(for: request)
  }
}
