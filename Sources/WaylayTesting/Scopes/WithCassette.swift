public import WaylayMocks

/// Runs an operation whose requests are played from a cassette, or recorded to it: inside, `URLSession.mocked` goes
/// through it.
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
/// It reports what ``CassetteTrait`` reports, in Swift Testing and in XCTest. When the operation throws, what it has
/// recorded is not kept: the file that was there stays.
///
/// - Parameters:
///   - path: The file, beside the caller's in the folder `Cassettes`; `.har` may be left out.
///   - mode: What is recorded. Nothing, unless `WAYLAY_RECORD` says otherwise.
///   - options: What is compared, redacted, reported, and how old a recording may be.
///   - fileID: Where it is reported: the caller's file.
///   - filePath: The same file, with its path.
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

/// Runs a synchronous operation whose requests are played from a cassette, or recorded to it: a whole case of XCTest,
/// round `super.invokeTest()`.
///
/// - Parameters:
///   - path: The file, beside the caller's in the folder `Cassettes`; `.har` may be left out.
///   - mode: What is recorded. Nothing, unless `WAYLAY_RECORD` says otherwise.
///   - options: What is compared, redacted, reported, and how old a recording may be.
///   - fileID: Where it is reported: the caller's file.
///   - filePath: The same file, with its path.
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
