import Testing
public import WaylayMocks

extension URLSession {
  /// The session of the current mock scope, whose stubs answer all its requests.
  ///
  /// ```swift
  /// @Test(.mocked { Stub(.get, "https://api.example.com/health", .status(204)) })
  /// func health() async throws {
  ///   let (_, response) = try await URLSession.mocked.data(from: #require(URL(string: "https://api.example.com/health")))
  ///   #expect((response as? HTTPURLResponse)?.statusCode == 204)
  /// }
  /// ```
  ///
  /// The session is the same everywhere within one scope, including helpers and child tasks, and ends with the scope:
  /// see ``MockScope/session``. Outside a scope, it is a session that fails every request, and the running test fails
  /// with an issue that says so; nothing is sent to the network.
  public static var mocked: URLSession { MockScope.required(by: "URLSession.mocked").session }
}

extension URLSessionConfiguration {
  /// An ephemeral configuration whose sessions are answered by the current mock scope.
  ///
  /// ```swift
  /// let session = URLSession(configuration: .mocked, delegate: delegate, delegateQueue: nil)
  /// ```
  ///
  /// Each access returns a new configuration: assign it to a variable to set header fields, timeouts or cookies before
  /// you make a session. You own the sessions made from it; on Linux each holds two descriptors until it is released or
  /// invalidated (platform fact U12), so prefer `URLSession.mocked` if you need neither a delegate nor settings.
  /// Outside a scope it behaves like `URLSession.mocked`.
  public static var mocked: URLSessionConfiguration {
    MockScope.required(by: "URLSessionConfiguration.mocked").configuration()
  }
}

extension MockInterceptor {
  /// The mock of the current scope, for adding stubs during a test and for verification.
  ///
  /// ```swift
  /// MockInterceptor.current.add { Stub(.delete, "https://api.example.com/users/1", .status(204)) }
  /// try await UserClient(session: .mocked).delete(1)
  /// #expect(MockInterceptor.current.requests(.delete, "/users/1").count == 1)
  /// ```
  ///
  /// Outside a scope, it is a mock that no session uses, and the running test fails with an issue that says so.
  public static var current: MockInterceptor { MockScope.required(by: "MockInterceptor.current").mock }
}

extension MockScope {
  /// The current scope. Outside a scope, or after its end, it reports an issue, and returns a scope whose loads all
  /// fail.
  static func required(by name: String) -> MockScope {
    guard let current else {
      reportOutside(outsideMessage(name))
      return outside
    }
    guard !current.isEnded else {
      IssueReport.report(
        """
        \(name) was used after the end of its scope, by a task or other work that the test left running. In the test, \
        wait for the work it starts.
        """)
      return outside
    }
    return current
  }

  /// No test is current in a detached task, on a queue or on a thread: the report then lists the open mocks.
  private static func reportOutside(_ message: String) {
    let scopes = Test.current == nil ? OpenScopes.scopes : []
    // With a single open scope, the code belongs to that scope's test: report it there.
    if scopes.count == 1 { return scopes[0].noteStray(message) }
    let open = scopes.map(\.mock.location)
    guard let first = open.first(where: { $0.test == nil }) ?? open.first else { return IssueReport.report(message) }
    let places = open.prefix(5).map(\.description).joined(separator: ", ")
    IssueReport.report(
      """
      \(message) Open mocks: \(open.count), made at \(places)\(open.count > 5 ? ", …" : ""). One of their \
      tests most likely ran this code.
      """, at: first)
  }

  /// A scope for the whole process whose loads all fail; it never ends.
  static let outside: MockScope = {
    let mock = MockInterceptor()
    let registry = InterceptorRegistry(configuration: .ephemeral)
    registry.register(InterceptorChain(.default, for: .any) { OutsideScope() })
    return MockScope(mock: mock, registry: registry)
  }()

  private static func outsideMessage(_ name: String) -> String {
    """
    \(name) was used outside of a mock's scope: its requests fail, and nothing is sent. Give the test \
    `.mocked { … }`, or wrap the call in `withMock { … } operation: { … }`. A detached task, a queue or a thread does \
    not inherit the scope: create the session beforehand, or bind the scope there with \
    `MockScope.$current.withValue(scope) { … }`.
    """
  }

  /// Fails every load.
  private struct OutsideScope: InlineResponding, GuardingInterceptor {
    var takesPartInNestedRequests: Bool { true }

    func validate(webSocket request: URLRequest) throws {
      throw WaylayError(
        .outsideMockScope, MockScope.outsideMessage("This session"), interceptor: name, url: request.url)
    }

    func respondInline(_ request: InterceptedRequest) throws -> InlineResponse {
      throw URLError.outsideMockScope(MockScope.outsideMessage("This session"), name, request)
    }
  }
}

extension URLError {
  /// The error of a request outside any mock scope.
  static func outsideMockScope(_ message: String, _ interceptor: String, _ request: InterceptedRequest) -> URLError {
    let cause = WaylayError(
      .outsideMockScope, message, interceptor: interceptor, url: request.url, requestID: request.id)
    return URLError(.resourceUnavailable, underlying: cause)
  }
}

extension ErrorCode where Domain == WaylayError {
  /// A session was taken from `URLSession.mocked` where no mock scope was current.
  public static var outsideMockScope: Self { Self("outsideMockScope") }
}

/// The open scopes, for reports on code outside all of them.
enum OpenScopes {
  private struct Open {
    let id: ObjectIdentifier
    weak var scope: MockScope?
  }

  private static let open = Locked<[Open]>([])

  /// All open scopes, oldest first.
  static var scopes: [MockScope] { open.withLock { $0 }.compactMap(\.scope) }

  static func add(_ scope: MockScope) { open.withLock { $0.append(Open(id: ObjectIdentifier(scope), scope: scope)) } }

  static func remove(_ scope: MockScope) {
    let id = ObjectIdentifier(scope)
    open.withLock { $0.removeAll { $0.id == id } }
  }
}
