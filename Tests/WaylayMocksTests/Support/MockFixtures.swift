import WaylayMocks

extension MockInterceptor {
  /// A session that runs through this mock.
  var session: URLSession {
    URLSession(configuration: .ephemeral.intercepted(by: InterceptorRegistry { self }))
  }
}

extension URLSession {
  /// Status and body of an answer.
  func text(_ method: String = "GET", _ url: String, body: Data? = nil, headers: [String: String] = [:]) async throws -> (Int, String) {
    var request = URLRequest(url: URL(string: url)!)
    request.httpMethod = method
    request.httpBody = body
    request.allHTTPHeaderFields = headers
    let (data, response) = try await data(for: request)
    return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
  }
}
