/// Something that was not as a mock's stubs say it should be: what a test is to fail for.
public struct MockIssue: Sendable {
  /// What kind of thing it is. A struct, so that kinds may be added.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    /// The kind's name.
    public let description: String

    /// A request that no stub is for.
    public static let unmatched = Kind(description: "unmatched")
    /// A request that only stubs are for that do not answer any more, or not yet.
    public static let usedUp = Kind(description: "usedUp")
    /// A required stub that was used less often than it should have been, or entries of a cassette that were not asked
    /// for.
    public static let unused = Kind(description: "unused")
    /// A stub that is wrong, whatever the request.
    public static let invalidStub = Kind(description: "invalidStub")
    /// A cassette that is older than it may be.
    public static let expired = Kind(description: "expired")
    /// A cassette whose file is not there or cannot be read.
    public static let invalidCassette = Kind(description: "invalidCassette")
    /// An exchange that a cassette could not record.
    public static let notRecorded = Kind(description: "notRecorded")
    /// An answer that could not be given.
    public static let invalidAnswer = Kind(description: "invalidAnswer")
  }

  /// What kind of thing it is.
  public let kind: Kind
  /// What happened, and what to do about it.
  public let message: String
  /// Where the stub was written; for a request that no stub is for, where the mock was made.
  public let location: MockSourceLocation
  /// Whether it is no reason for the test to fail.
  package var isWarning = false
}

extension MockIssue: CustomStringConvertible {
  /// The message with its place.
  public var description: String { "\(location): \(message)" }
}
