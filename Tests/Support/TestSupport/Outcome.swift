import Testing
package import WaylayCore

/// What an app sees of one request, to be compared between two ways of sending it.
package struct Outcome: Equatable, Sendable {
  package var status = 0
  package var fields: [String: String] = [:]
  package var body = ""
  package var url = ""
  package var cookies: [String] = []
  package var code: URLError.Code?

  package init(code: URLError.Code? = nil) {
    self.code = code
  }

  /// Sends a request in a session of its own, which begins without cookies.
  package init(of request: URLRequest, in make: (URLSessionConfiguration) -> URLSession) async throws {
    let configuration = URLSessionConfiguration.ephemeral
    let storage = configuration.httpCookieStorage
    for cookie in storage?.cookies ?? [] { storage?.deleteCookie(cookie) }
    let session = make(configuration)
    do {
      let (data, response) = try await session.data(for: request)
      let head = try #require(response as? HTTPURLResponse)
      status = head.statusCode
      for (name, value) in head.allHeaderFields {
        if let name = name as? String, let value = value as? String { fields[name] = value }
      }
      fields["Date"] = nil
      body = String(decoding: data, as: UTF8.self)
      url = head.url?.absoluteString ?? ""
    } catch let error as URLError {
      code = error.code
    }
    cookies = (storage?.cookies ?? []).map { "\($0.name)=\($0.value) \($0.domain) \($0.path)" }.sorted()
    session.invalidateAndCancel()
  }
}
