import Foundation

/// What is wrong with a mock, with the place where it was written.
///
/// ```swift
/// do {
///   _ = try await session.data(from: url)
/// } catch let error as URLError {
///   if let cause = error.cause(as: MockError.self) { print(cause.message) }
/// }
/// ```
///
/// A mock never traps on bad input: a status of 99 or a missing file fails the load with this error, and a closure that
/// wants to fail a load like a broken network returns `MockResponse.error(_:)` instead.
public struct MockError: LoadError {
  /// What kind of mistake it was.
  public let code: Code
  /// What happened and what to do about it.
  public let message: String
  /// Where the stub was written, where that is known.
  public var location: MockSourceLocation?
  /// The error beneath, where there was one.
  public let underlying: (any Error)?
  /// The URL of the request that failed, where it is about one.
  public internal(set) var url: URL?
  /// The load it happened in, where it is about one.
  public internal(set) var requestID: InterceptedRequest.ID?
  /// Whether it lies beneath an error that says the same.
  private var isBeneath = false

  /// The same beneath an error whose text is its own: its description is short.
  var beneath: MockError {
    var copy = self
    copy.isBeneath = true
    return copy
  }

  /// Makes an error of the given kind.
  public init(
    _ code: Code, _ message: String, location: MockSourceLocation? = nil, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.location = location
    self.underlying = underlying
  }

  /// The same error at the given place, unless it knows its place already.
  package func located(at location: MockSourceLocation) -> MockError {
    var copy = self
    if copy.location == nil { copy.location = location }
    return copy
  }
}

extension MockError {
  /// The kinds of mistake. A struct rather than an enum, so that new ones do not break a `switch`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name.
    public let description: String

    /// Makes a code of that name.
    public init(_ description: String) {
      self.description = description
    }

    /// An answer that cannot be given, for example with the status 99 or a header field without a name.
    public static let invalidResponse = Code("invalidResponse")
    /// A delay below zero, or a bandwidth that is no positive number.
    public static let invalidTiming = Code("invalidTiming")
    /// A value that could not be encoded, or data that are not the JSON they should be.
    public static let invalidJSON = Code("invalidJSON")
    /// A file that is not there or cannot be read.
    public static let unreadableFile = Code("unreadableFile")
    /// A cassette's file that cannot be written, or that another cassette is writing.
    public static let unwritableFile = Code("unwritableFile")
    /// A cassette that is older than it may be.
    public static let expiredCassette = Code("expiredCassette")
    /// A template with an unknown placeholder, or one whose value the request does not have.
    public static let invalidTemplate = Code("invalidTemplate")
    /// A URL pattern that cannot be parsed.
    public static let invalidPattern = Code("invalidPattern")
    /// A regular expression that cannot be compiled.
    public static let invalidRegex = Code("invalidRegex")
    /// A count that is not positive.
    public static let invalidCount = Code("invalidCount")
    /// A state that a scenario does not have.
    public static let unknownState = Code("unknownState")
    /// No stub, and no entry of a cassette, is for the request.
    public static let unmatched = Code("unmatched")
    /// The stubs, or the entries of a cassette, that are for the request have answered as often as they were to.
    public static let usedUp = Code("usedUp")
    /// A request's body is longer than the mock reads.
    public static let bodyTooLarge = Code("bodyTooLarge")
    /// A call that was waited for did not come.
    public static let callMissing = Code("callMissing")
    /// There was another number of calls than the test wants.
    public static let callCount = Code("callCount")
    /// A body that is not the form it should be.
    public static let invalidForm = Code("invalidForm")
    /// A fixture that cannot be understood.
    public static let invalidFixture = Code("invalidFixture")
  }
}

extension MockError {
  /// Code, message and place; the place on a line of its own after a message of several lines.
  /// Beneath a `URLError`, whose text has all of it, the first line.
  public var description: String {
    guard isBeneath, let end = message.firstIndex(of: "\n") else { return "MockError.\(code): \(placed)" }
    return "MockError.\(code): \(message[..<end])"
  }

  /// Message and place.
  public var errorDescription: String? { placed }

  private var placed: String {
    guard let location else { return message }
    // What ends a report is there to be pasted.
    return message + (message.contains("\n") ? "\n\n" : " ") + "[\(location)]"
  }
}
