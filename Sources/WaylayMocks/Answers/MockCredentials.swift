import Foundation
import HTTPTypes

/// What a Basic challenge asks for (RFC 7617).
struct MockCredentials: Sendable {
  let user: String
  let password: String
  let realm: String

  /// What is wrong with it, if anything is.
  var defect: MockError? {
    if user.contains(":") {
      return MockError(
        .invalidResponse, "a user name for Basic authentication must not contain a colon (RFC 7617, section 2).")
    }
    guard [user, password, realm].contains(where: { $0.utf8.contains { $0 < 0x20 || $0 == 0x7F } }) else { return nil }
    return MockError(
      .invalidResponse, "user, password and realm of Basic authentication must not contain control characters.")
  }

  /// The challenge, or `nil` for a request that brings the credentials.
  func refusal(of request: InterceptedRequest) -> InterceptedResponse? {
    if let field = request.fields[.authorization], isRight(field) { return nil }
    return InterceptedResponse(
      to: request, status: .unauthorized,
      fields: [.wwwAuthenticate: "Basic realm=\(realm.quotedString), charset=\"UTF-8\""],
      source: .mock)
  }

  private func isRight(_ field: String) -> Bool {
    guard let space = field.firstIndex(of: " "), field[..<space].lowercased() == "basic" else { return false }
    return Data(base64Encoded: String(field[space...].dropFirst())) == Data("\(user):\(password)".utf8)
  }
}

extension MockResponse {
  /// The same response for requests with the right user and password; any other request gets a 401 with a Basic
  /// challenge.
  ///
  /// ```swift
  /// Stub(.get, "/account") { .json(account).requiringBasic(user: "ada", password: "s3cret") }
  /// ```
  ///
  /// The challenge is answered like one from the network: by the task's delegate, the session's credential storage, or
  /// the URL's user info. All of this happens inside the load, offline, and counts as one use of the stub. Without the
  /// right credentials the app gets the 401.
  public func requiringBasic(user: String, password: String, realm: String = "mock") -> MockResponse {
    with { copy in
      let credentials = MockCredentials(user: user, password: password, realm: realm)
      copy.note(credentials.defect)
      copy.credentials = credentials
    }
  }
}
