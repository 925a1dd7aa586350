/// When the parts of an answer come.
struct MockTiming: Sendable {
  /// From the request to the first byte of the answer.
  var firstByte: MockDelay?

  var isImmediate: Bool { firstByte == nil }
}

/// How long something takes: always the same, or drawn anew each time.
public struct MockDelay: Sendable {
  enum Law: Sendable, Hashable {
    case fixed(Duration)
  }

  let law: Law

  /// Always the same.
  public static func fixed(_ duration: Duration) -> MockDelay { MockDelay(law: .fixed(duration)) }
}

/// What a Basic challenge asks for.
struct MockCredentials: Sendable {}
