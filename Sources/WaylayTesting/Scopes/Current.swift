public import WaylayMocks

extension URLSession {
  /// The session of the current mock's scope: every request of it is answered by that scope's stubs.
  ///
  /// ```swift
  /// @Test(.mocked { Stub(.get, "https://api.example.com/health") { .status(204) } })
  /// func health() async throws {
  ///   let (_, response) = try await URLSession.mocked.data(from: #require(URL(string: "https://api.example.com/health")))
  ///   #expect((response as? HTTPURLResponse)?.statusCode == 204)
  /// }
  /// ```
  ///
  /// It is the same session wherever it is asked for within one scope, in helpers and in child tasks too, and ends with
  /// the scope: see ``MockScope/session``. Outside of a scope it is a session that fails every request, and the test
  /// that runs fails with an issue that says so; nothing is sent to the network.
  public static var mocked: URLSession { MockScope.required(by: "URLSession.mocked").session }
}

extension URLSessionConfiguration {
  /// An ephemeral configuration whose sessions are answered by the current mock's scope.
  ///
  /// ```swift
  /// let session = URLSession(configuration: .mocked, delegate: delegate, delegateQueue: nil)
  /// ```
  ///
  /// Each access is a configuration of its own: take it into a variable to set header fields, timeouts or cookies,
  /// before a session is made from it. Sessions made from it belong to whoever makes them; on Linux each holds two
  /// descriptors until it is let go or invalidated (platform fact U12), so prefer `URLSession.mocked` where no delegate
  /// and no setting is needed. Outside of a scope it behaves as `URLSession.mocked` does.
  public static var mocked: URLSessionConfiguration {
    MockScope.required(by: "URLSessionConfiguration.mocked").configuration()
  }
}

extension MockInterceptor {
  /// The mock of the current scope, for stubs that a test adds on its way and for what it verifies.
  ///
  /// ```swift
  /// MockInterceptor.current.add { Stub(.delete, "https://api.example.com/users/1") { .status(204) } }
  /// try await UserClient(session: .mocked).delete(1)
  /// #expect(MockInterceptor.current.calls(to: .delete, "/users/1").count == 1)
  /// ```
  ///
  /// Outside of a scope it is a mock that no session uses, and the test that runs fails with an issue that says so.
  public static var current: MockInterceptor { MockScope.required(by: "MockInterceptor.current").mock }
}
