/// A deviation from what a mock's stubs or a cassette expect, which fails a test.
public struct MockIssue: Sendable {
  /// The kind of an issue. A struct, so that new kinds can be added.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    /// The kind's name.
    public let description: String

    /// A request that no stub matches.
    public static let unmatched = Kind(description: "unmatched")
    /// A request that matches only stubs that no longer answer, or do not answer yet.
    public static let usedUp = Kind(description: "usedUp")
    /// A required stub that was used less often than required, or entries of a cassette that were never requested.
    public static let unused = Kind(description: "unused")
    /// A stub with a mistake, independent of any request.
    public static let invalidStub = Kind(description: "invalidStub")
    /// A cassette that exceeds its maximum age.
    public static let expired = Kind(description: "expired")
    /// A cassette whose file is missing or cannot be read.
    public static let invalidCassette = Kind(description: "invalidCassette")
    /// An exchange that a cassette could not record.
    public static let notRecorded = Kind(description: "notRecorded")
    /// An answer that could not be given.
    public static let invalidAnswer = Kind(description: "invalidAnswer")
  }

  /// The kind of the issue.
  public let kind: Kind
  /// What happened, and what to do about it.
  public let message: String
  /// Where the stub was written; for a request that no stub matches, where the mock was made.
  public let location: MockSourceLocation
  /// Whether it is no reason for the test to fail.
  package var isWarning = false
}

extension MockIssue: CustomStringConvertible {
  /// The message with its location.
  public var description: String { "\(location): \(message)" }
}
