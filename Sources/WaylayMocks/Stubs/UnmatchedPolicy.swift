/// What a mock does with a request that none of its stubs matches.
public struct UnmatchedPolicy: Sendable {
  enum Kind: Sendable {
    case fail
    case passThrough
    case respond(MockResponse)
  }

  let kind: Kind

  /// Fails the load with a `URLError` that names the closest stub, and records an issue. The default.
  public static let fail = UnmatchedPolicy(kind: .fail)
  /// Passes the request on to the next interceptor, and finally to the network. Records no issue.
  public static let passThrough = UnmatchedPolicy(kind: .passThrough)
  /// Answers the load with the given response, and records an issue.
  public static func respond(_ response: MockResponse) -> UnmatchedPolicy { UnmatchedPolicy(kind: .respond(response)) }
  /// Answers the load with the given status and text that names the closest stub, and records an issue.
  public static func respond(_ status: Int) -> UnmatchedPolicy { .respond(.status(status)) }
}
