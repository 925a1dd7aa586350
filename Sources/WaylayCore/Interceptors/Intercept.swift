public import HTTPTypes

/// An interceptor written as a closure.
///
/// ```swift
/// let registry = InterceptorRegistry {
///   Intercept("timing") { request, next in
///     let start = ContinuousClock.now
///     defer { print(request.url.path, ContinuousClock.now - start) }
///     return try await next(request)
///   }
///   Intercept(request: { $0.fields[.userAgent] = "app/1.0" })
///   Intercept(response: { print($0.status) })
/// }
/// ```
///
/// For an interceptor with state, or one that selects its requests, write a ``RequestInterceptor``.
public struct Intercept: RequestInterceptor {
  /// The name in errors and logs.
  public let name: String
  private let load: @Sendable (InterceptedRequest, InterceptorChain.Next) async throws -> InterceptedResponse

  /// Makes an interceptor whose `startLoading` is a closure.
  public init(
    _ name: String = "Intercept",
    _ load: @escaping @Sendable (InterceptedRequest, InterceptorChain.Next) async throws -> InterceptedResponse
  ) {
    self.name = name
    self.load = load
  }

  /// Makes an interceptor that changes requests.
  public init(
    _ name: String = "Intercept", request change: @escaping @Sendable (inout InterceptedRequest) async throws -> Void
  ) {
    self.init(name) { request, next in
      var request = request
      try await change(&request)
      return try await next(request)
    }
  }

  /// Makes an interceptor that changes responses.
  public init(
    _ name: String = "Intercept", response change: @escaping @Sendable (inout InterceptedResponse) async throws -> Void
  ) {
    self.init(name) { request, next in
      var response = try await next(request)
      try await change(&response)
      return response
    }
  }

  /// Calls the closure.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    try await load(request, next)
  }
}

/// An interceptor that sets a header field of requests to certain hosts, such as a key of an API.
///
/// ```swift
/// SetField(.xAPIKey, "…", for: .host("api.example.com"))
/// SetField(.userAgent, "app/1.0", for: .http)
/// ```
///
/// The scope has no default: state which hosts get the value. Other requests, including redirects, pass unchanged.
public struct SetField: ChainValidating {
  private let field: HTTPField.Name
  private let value: @Sendable () -> String
  private let scope: InterceptorChain.Scope

  /// Makes an interceptor for a field and a value, which replaces other values of the field.
  ///
  /// - Parameters:
  ///   - field: The field's name.
  ///   - value: The value, evaluated for each request.
  ///   - scope: The requests that get the value.
  public init(
    _ field: HTTPField.Name, _ value: @autoclosure @escaping @Sendable () -> String, for scope: InterceptorChain.Scope
  ) {
    (self.field, self.value, self.scope) = (field, value, scope)
  }

  /// Sets the field.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    guard scope.covers(request.url) else { return try await next(request) }
    var request = request
    request.fields[field] = value()
    return try await next(request)
  }

  /// Returns the invalid parts of its scope.
  public func problems(in chain: InterceptorChain) -> [String] {
    scope.problems.map { "has an invalid scope: \($0.message)" }
  }
}

extension HTTPField.Name {
  /// `X-API-Key`, the field for API keys of many services.
  public static let xAPIKey = HTTPField.Name("X-API-Key")!
}
