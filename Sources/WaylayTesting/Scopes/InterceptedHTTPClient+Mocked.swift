#if AsyncHTTPClient
  public import WaylayAsyncHTTPClient

  extension InterceptedHTTPClient {
    /// The client of the current mock scope, whose stubs answer all its calls.
    ///
    /// ```swift
    /// @Test(.mocked { Stub(.get, "https://api.example.com/health", .status(204)) })
    /// func health() async throws {
    ///   let request = HTTPClientRequest(url: "https://api.example.com/health")
    ///   let response = try await InterceptedHTTPClient.mocked.execute(request, timeout: .seconds(5))
    ///   #expect(response.status == .noContent)
    /// }
    /// ```
    ///
    /// It ends with its scope. Outside a scope it behaves like `URLSession.mocked`.
    public static var mocked: InterceptedHTTPClient {
      InterceptedHTTPClient(MockScope.required(by: "InterceptedHTTPClient.mocked").registry)
    }
  }
#endif
