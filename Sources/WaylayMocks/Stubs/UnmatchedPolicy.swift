/// What a mock does with a request that none of its stubs is for.
public struct UnmatchedPolicy: Sendable {
  enum Kind: Sendable {
    case fail
    case passThrough
    case respond(MockResponse)
  }

  let kind: Kind

  /// The load fails with a `URLError` that says what came nearest, and the mock records an issue. The default.
  public static let fail = UnmatchedPolicy(kind: .fail)
  /// The request goes on to the next interceptor, and so to the network at last. No issue.
  public static let passThrough = UnmatchedPolicy(kind: .passThrough)
  /// The load gets that answer, and the mock records an issue.
  public static func respond(_ response: MockResponse) -> UnmatchedPolicy { UnmatchedPolicy(kind: .respond(response)) }
  /// The load gets an answer of that status, with what came nearest as its text, and the mock records an issue.
  public static func respond(_ status: Int) -> UnmatchedPolicy { .respond(.status(status)) }
}
