/// The tokens of the user who is signed in.
public actor Account {
  /// The token of each request.
  public private(set) var token: String?
  private let renew: @Sendable () async throws -> String

  /// Makes an account.
  ///
  /// - Parameters:
  ///   - token: The token of the last launch, if there is one.
  ///   - renew: Gets a new token from the server.
  public init(token: String?, renew: @escaping @Sendable () async throws -> String) {
    (self.token, self.renew) = (token, renew)
  }

  func refresh() async throws -> String {
    let new = try await renew()
    token = new
    return new
  }
}
