import Foundation

/// An error in a mock, with the source location where it was written.
///
/// ```swift
/// do {
///   _ = try await session.data(from: url)
/// } catch let error as URLError {
///   if let cause = error.cause(as: MockError.self) { print(cause.message) }
/// }
/// ```
///
/// A mock never traps on bad input: a status of 99 or a missing file fails the load with this error. To simulate a
/// broken network, a closure returns `MockResponse.error(_:)` instead.
public struct MockError: LoadError, Changeable {
  /// The kind of error.
  public let code: ErrorCode<MockError>
  /// The failure, and how to correct it.
  public let message: String
  /// Where the stub was written, if known.
  public var location: MockSourceLocation?
  /// The underlying error, if there is one.
  public let underlying: (any Error)?
  /// The URL of the failed request, if the error is about one.
  public internal(set) var url: URL?
  /// The load that failed, if the error is about one.
  public internal(set) var requestID: InterceptedRequest.ID?
  /// Whether another error with the same text contains this one.
  private var isBeneath = false

  /// A copy to be put beneath an error with the full text: its description is short.
  var beneath: MockError { with { $0.isBeneath = true } }

  /// Makes an error of the given kind.
  public init(
    _ code: ErrorCode<MockError>, _ message: String, location: MockSourceLocation? = nil, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.location = location
    self.underlying = underlying
  }

  /// A copy with the given location, unless the error already has one.
  package func located(at location: MockSourceLocation) -> MockError {
    with { $0.location = $0.location ?? location }
  }
}

extension ErrorCode where Domain == MockError {
  /// A stub gives a response that cannot be sent, for example with the status 99 or a header field without a name.
  ///
  /// Correct the stub at the location in the message.
  public static var invalidResponse: Self { Self("invalidResponse") }
  /// A delay is negative, or a bandwidth is not a positive number.
  ///
  /// Give a positive `Duration`, and bytes per second above zero.
  public static var invalidTiming: Self { Self("invalidTiming") }
  /// A value could not be encoded, or data that should be JSON is not.
  ///
  /// The message names the location in the JSON, or the value that `Encodable` rejected.
  public static var invalidJSON: Self { Self("invalidJSON") }
  /// A file of a stub or cassette is missing or unreadable.
  ///
  /// Check the path; in a package, add the file to `resources:` of the test target and load it from `Bundle.module`.
  public static var unreadableFile: Self { Self("unreadableFile") }
  /// A cassette cannot be written, or another cassette is writing the same file.
  ///
  /// Give each test its own cassette, and check that the folder is writable.
  public static var unwritableFile: Self { Self("unwritableFile") }
  /// A cassette exceeds its maximum age.
  ///
  /// Record it again: `WAYLAY_RECORD=all swift test`, or raise its maximum age.
  public static var expiredCassette: Self { Self("expiredCassette") }
  /// A URL pattern cannot be parsed.
  ///
  /// Write `/users/:id`, `https://host/path/*` or `**`, as the message shows.
  public static var invalidPattern: Self { Self("invalidPattern") }
  /// A regular expression cannot be compiled.
  ///
  /// Correct the expression; in a string literal, `#"\d+"#` avoids escaping backslashes.
  public static var invalidRegex: Self { Self("invalidRegex") }
  /// A count is not positive.
  ///
  /// Give a count of 1 or more; if the stub must never answer, remove it.
  public static var invalidCount: Self { Self("invalidCount") }
  /// No stub, and no entry of a cassette, matches the request.
  ///
  /// The report shows the closest stub, the differences, and a stub to paste. Add it, or correct the request.
  public static var unmatched: Self { Self("unmatched") }
  /// The matching stubs or cassette entries have answered as often as specified.
  ///
  /// The code sends more requests than the test expects: raise the count, or find the extra request.
  public static var exhausted: Self { Self("exhausted") }
  /// A request's body is longer than the mock's limit.
  ///
  /// Raise `bodyLimit`, or match without inspecting the body.
  public static var bodyTooLarge: Self { Self("bodyTooLarge") }
  /// An expected request did not come.
  ///
  /// Check that the code under test uses the mocked session, and which method and path it requests.
  public static var requestMissing: Self { Self("requestMissing") }
  /// Nothing sleeps on a mock's clock.
  ///
  /// Check that the code under test waits on that clock, and that a stub it requests has a delay.
  public static var sleepersMissing: Self { Self("sleepersMissing") }
  /// The number of requests differs from the count that the test expects.
  ///
  /// The report lists the requests received; correct the expectation or the code.
  public static var requestCount: Self { Self("requestCount") }
  /// A body is not a valid form of the expected type.
  ///
  /// Check the `Content-Type` and the encoding of the form that the code sends.
  public static var invalidForm: Self { Self("invalidForm") }
  /// A stub has a part that cannot be sent to another process, such as a closure.
  ///
  /// Use conditions and listed responses instead, or make the stub in the app.
  public static var notPortable: Self { Self("notPortable") }
  /// The environment variable `WAYLAY_RECORD` has an unknown value.
  ///
  /// Set it to `once`, `newEpisodes`, `all` or `none`, or remove it.
  public static var invalidMode: Self { Self("invalidMode") }
}

extension MockError {
  /// Code, message and location; after a message of several lines, the location is on its own line. Beneath a
  /// `URLError`, which has the full text, the first line only.
  public var description: String {
    guard isBeneath, let end = message.firstIndex(of: "\n") else { return "MockError.\(code): \(placed)" }
    return "MockError.\(code): \(message[..<end])"
  }

  /// Message and location.
  public var errorDescription: String? { placed }

  private var placed: String {
    guard let location else { return message }
    // The report ends with code to paste, so keep the location on its own line.
    return message + (message.contains("\n") ? "\n\n" : " ") + "[\(location)]"
  }
}
