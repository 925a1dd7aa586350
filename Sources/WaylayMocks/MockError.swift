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

    /// A stub gives an answer that cannot be sent, for example with the status 99 or a header field without a name.
    ///
    /// Correct the stub at the place that the message names.
    public static let invalidResponse = Code("invalidResponse")
    /// A delay below zero, or a bandwidth that is not a positive number.
    ///
    /// Give a positive `Duration`, and bytes per second above zero.
    public static let invalidTiming = Code("invalidTiming")
    /// A value could not be encoded, or data are not the JSON they should be.
    ///
    /// The message names the place in the JSON, or the value that `Encodable` refused.
    public static let invalidJSON = Code("invalidJSON")
    /// A file of a stub or fixture is missing or cannot be read.
    ///
    /// Check the path; in a package, add the file to `resources:` of the test target and load it from `Bundle.module`.
    public static let unreadableFile = Code("unreadableFile")
    /// A cassette cannot be written, or another cassette is writing the same file.
    ///
    /// Give each test a cassette of its own, and check that the folder can be written.
    public static let unwritableFile = Code("unwritableFile")
    /// A cassette is older than it may be.
    ///
    /// Record it again: `WAYLAY_RECORD=all swift test`, or raise its maximum age.
    public static let expiredCassette = Code("expiredCassette")
    /// A template has an unknown placeholder, or one whose value the request does not have.
    ///
    /// The message lists the placeholders that exist; correct the name, or send the value.
    public static let invalidTemplate = Code("invalidTemplate")
    /// A URL pattern cannot be parsed.
    ///
    /// Write `/users/:id`, `https://host/path/*` or `**`, as the message shows.
    public static let invalidPattern = Code("invalidPattern")
    /// A regular expression cannot be compiled.
    ///
    /// Correct it; in a string literal, `#"\d+"#` saves escaping backslashes.
    public static let invalidRegex = Code("invalidRegex")
    /// A count is not positive.
    ///
    /// Give a count of 1 or more; leave the stub out if it must never answer.
    public static let invalidCount = Code("invalidCount")
    /// A stub names a state that its scenario does not have.
    ///
    /// Correct the spelling; the message lists the states.
    public static let unknownState = Code("unknownState")
    /// No stub, and no entry of a cassette, matches the request.
    ///
    /// The report shows the closest stub, what differs, and a stub to paste. Add it, or correct the request.
    public static let unmatched = Code("unmatched")
    /// The stubs or cassette entries for the request have answered as often as they were to.
    ///
    /// The code asks more often than the test expects: raise the count, or find the extra request.
    public static let usedUp = Code("usedUp")
    /// A request's body is longer than the mock reads.
    ///
    /// Raise `bodyLimit`, or match without looking at the body.
    public static let bodyTooLarge = Code("bodyTooLarge")
    /// A call that the test waited for did not come.
    ///
    /// Check that the code under test uses the mocked session, and the method and path it asks for.
    public static let callMissing = Code("callMissing")
    /// There was another number of calls than the test expects.
    ///
    /// The report lists the calls that came; correct the expectation or the code.
    public static let callCount = Code("callCount")
    /// A body is not the form it should be.
    ///
    /// Check the `Content-Type` and the encoding of the form that the code sends.
    public static let invalidForm = Code("invalidForm")
    /// A fixture cannot be understood.
    ///
    /// The message names the file and the place; compare with the format of the tool it comes from.
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
