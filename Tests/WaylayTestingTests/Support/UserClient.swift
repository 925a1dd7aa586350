import WaylayTesting

/// The code under test of these tests: it knows nothing of mocks.
struct UserClient: Sendable {
  let session: URLSession

  /// The name of a user.
  func name(of id: Int) async throws -> String {
    let (data, _) = try await session.data(from: Self.url(id))
    return String(decoding: data, as: UTF8.self)
  }

  /// The name of a user, or nobody when anything goes wrong.
  func nameIfAny(of id: Int) async -> String? {
    try? await name(of: id)
  }

  static func url(_ id: Int) -> URL {
    var parts = URLComponents()
    (parts.scheme, parts.host, parts.path) = ("https", "api.example.com", "/users/\(id)")
    return parts.url ?? URL(fileURLWithPath: "/")
  }
}
