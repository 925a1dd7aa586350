public import WaylayMocks

extension URLSession {
  /// The session of the current mock scope, whose stubs answer all its requests.
  ///
  /// ```swift
  /// @Test(.mocked { Stub(.get, "https://api.example.com/health") { .status(204) } })
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
  /// MockInterceptor.current.add { Stub(.delete, "https://api.example.com/users/1") { .status(204) } }
  /// try await UserClient(session: .mocked).delete(1)
  /// #expect(MockInterceptor.current.calls(to: .delete, "/users/1").count == 1)
  /// ```
  ///
  /// Outside a scope, it is a mock that no session uses, and the running test fails with an issue that says so.
  public static var current: MockInterceptor { MockScope.required(by: "MockInterceptor.current").mock }
}
