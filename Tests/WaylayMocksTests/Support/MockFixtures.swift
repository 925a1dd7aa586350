import TestOrigin
import WaylayMocks

extension MockInterceptor {
  /// A session that runs through this mock.
  var session: URLSession {
    URLSession(configuration: .ephemeral.intercepted(by: InterceptorRegistry { self }))
  }

  /// Asks the mock without a session; nothing passes through.
  @discardableResult
  func ask(_ request: URLRequest, body: MessageBody? = nil) async throws -> InterceptedResponse {
    try await startLoading(
      InterceptedRequest(request, body: body),
      next: InterceptorChain.Next { _ in throw URLError(.notConnectedToInternet) })
  }

  /// The text of an answer.
  func text(
    _ method: String = "GET", _ url: String, body: String? = nil, headers: [String: String] = [:]
  ) async throws -> String {
    let response = try await ask(.make(method, url, body: body.map { Data($0.utf8) }, headers: headers))
    return String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
  }
}

extension Stub {
  /// Whether the stub is for a request.
  func matches(_ request: URLRequest, body: MessageBody? = nil) async throws -> Bool {
    let mock = MockInterceptor(.init(unmatched: .status(501))) { self }
    return try await mock.ask(request, body: body).status == .ok
  }
}

extension RequestPattern {
  /// Whether the pattern is for a request, asked by way of a mock's history.
  func matches(_ request: URLRequest) async throws -> Bool {
    let mock = MockInterceptor(.init(unmatched: .status(501)))
    _ = try await mock.ask(request)
    return mock.requests(self).count == 1
  }
}

extension URLRequest {
  static func make(
    _ method: String = "GET", _ url: String, body: Data? = nil, headers: [String: String] = [:]
  ) -> URLRequest {
    var request = URLRequest(url: URL(string: url)!)
    request.httpMethod = method
    request.httpBody = body
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    return request
  }

  static func get(_ url: String) -> URLRequest { make("GET", url) }
}

extension URLSession {
  /// Status and body of an answer.
  func text(
    _ method: String = "GET", _ url: String, body: Data? = nil, headers: [String: String] = [:]
  ) async throws -> (Int, String) {
    let (data, response) = try await data(for: .make(method, url, body: body, headers: headers))
    return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
  }
}

/// The mock's error beneath what an app sees.
func mockError(_ error: (any Error)?) -> MockError? {
  (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? MockError ?? error as? MockError
}
