public import WaylayMocks

/// Runs an operation whose requests are played from a cassette or recorded to it: inside, `URLSession.mocked` uses the
/// cassette.
///
/// ```swift
/// func testLogin() async throws {
///   try await withCassette("login") {
///     let user = try await UserClient(session: .mocked).logIn("ada", password: "…")
///     XCTAssertEqual(user.name, "Ada")
///   }
/// }
/// ```
///
/// It reports the same issues as ``CassetteTrait``, in Swift Testing and in XCTest. If the operation throws, its
/// recording is discarded: an existing file stays.
///
/// - Parameters:
///   - path: The file, in the folder `Cassettes` next to the caller's; the extension `.har` is optional.
///   - mode: What to record. Nothing by default, unless `WAYLAY_RECORD` says otherwise.
///   - options: What to compare, redact and report, and the maximum age of a recording.
///   - fileID: The file to report issues at: the caller's.
///   - filePath: The path of that file.
///   - line: The caller's line.
///   - column: The caller's column.
///   - operation: The code under test.
/// - Returns: What the operation returns.
/// - Throws: What the operation throws.
@discardableResult
public func withCassette<Result>(
  _ path: String, mode: Cassette.Mode = .environment, options: Cassette.Options = Cassette.Options(),
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
  operation: () async throws -> Result
) async rethrows -> Result {
  let location = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
  let cassette = Cassette(path, mode: mode, options: options, location: location)
  return try await MockScope(playing: cassette).surround(operation, cassette: cassette)
}

/// Runs a synchronous operation whose requests are played from a cassette or recorded to it, such as a whole XCTest
/// case, around `super.invokeTest()`.
///
/// - Parameters:
///   - path: The file, in the folder `Cassettes` next to the caller's; the extension `.har` is optional.
///   - mode: What to record. Nothing by default, unless `WAYLAY_RECORD` says otherwise.
///   - options: What to compare, redact and report, and the maximum age of a recording.
///   - fileID: The file to report issues at: the caller's.
///   - filePath: The path of that file.
///   - line: The caller's line.
///   - column: The caller's column.
///   - operation: The code under test.
/// - Returns: What the operation returns.
/// - Throws: What the operation throws.
@discardableResult
public func withCassette<Result>(
  _ path: String, mode: Cassette.Mode = .environment, options: Cassette.Options = Cassette.Options(),
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
  operation: () throws -> Result
) rethrows -> Result {
  let location = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
  let cassette = Cassette(path, mode: mode, options: options, location: location)
  return try MockScope(playing: cassette).surround(operation, cassette: cassette)
}

extension MockScope {
  /// A scope without stubs of its own, whose requests go to a cassette.
  convenience init(playing cassette: Cassette) {
    let settings = ScopeSettings(
      unmatched: .passThrough, clock: { ContinuousClock() }, bodyLimit: 1 << 28, showing: [],
      location: cassette.location)
    self.init(settings.makeMock([]), cassette: cassette)
  }
}
