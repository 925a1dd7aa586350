public import WaylayMocks

/// Runs an operation with its own mock: inside, the stubs answer `URLSession.mocked`.
///
/// ```swift
/// func testName() async throws {
///   try await withMock {
///     Stub(.get, "https://api.example.com/users/1") { .json(["name": "Ada"]) }
///   } operation: {
///     let name = try await UserClient(session: .mocked).name(of: 1)
///     XCTAssertEqual(name, "Ada")
///   }
/// }
/// ```
///
/// It reports the same issues as ``MockTrait``, in Swift Testing and in XCTest. Scopes nest: these stubs take
/// precedence over those of the enclosing scope. Sessions made outside are not affected.
///
/// - Parameters:
///   - unmatched: What to do with a request that no stub matches. By default, it fails and is reported.
///   - clock: The clock that delayed answers wait on. With a `MockClock` they take no time.
///   - bodyLimit: The maximum number of bytes to read of a request's body; a longer body fails its load.
///   - showing: Names whose values reports show although the names sound secret, such as `sort_key` or `pin`.
///   - hardWiredSessions: Sessions that the code under test hard-codes, such as `[.shared]`: this mock answers them
///     too. The call waits until no other test has such sessions; see the guide on mocks in large suites.
///   - stubs: The stubs; later ones take precedence.
///   - operation: The code under test. The scope ends when it returns or throws.
///   - fileID: The file to report issues at: the caller's.
///   - filePath: The path of that file.
///   - line: The caller's line.
///   - column: The caller's column.
/// - Returns: What the operation returns.
/// - Throws: Errors of the stubs' closure or the operation. In that case, unused stubs are not reported.
@discardableResult
public func withMock<Result>(
  unmatched: UnmatchedPolicy = .fail, clock: any Clock<Duration> = ContinuousClock(), bodyLimit: Int = 1 << 28,
  showing: Set<String> = [],
  hardWiredSessions: [URLSession] = [],
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
  @StubBuilder _ stubs: () throws -> [Stub] = { [] },
  operation: () async throws -> Result
) async rethrows -> Result {
  let location = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
  let settings = ScopeSettings(
    unmatched: unmatched, clock: { clock }, bodyLimit: bodyLimit, showing: showing, location: location)
  return try await MockScope(settings.makeMock(try stubs()), hardWiredSessions: hardWiredSessions).surround(operation)
}

/// Runs a synchronous operation with its own mock.
///
/// Use it to mock a whole XCTest case, including `setUp`, asynchronous test methods and `tearDown`:
///
/// ```swift
/// final class UserTests: XCTestCase {
///   override func invokeTest() {
///     withMock {
///       Stub(.get, "https://api.example.com/users/1") { .json(["name": "Ada"]) }
///     } operation: {
///       super.invokeTest()
///     }
///   }
/// }
/// ```
///
/// - Parameters:
///   - unmatched: What to do with a request that no stub matches. By default, it fails and is reported.
///   - clock: The clock that delayed answers wait on. With a `MockClock` they take no time.
///   - bodyLimit: The maximum number of bytes to read of a request's body; a longer body fails its load.
///   - showing: Names whose values reports show although the names sound secret, such as `sort_key` or `pin`.
///   - hardWiredSessions: Sessions that the code under test hard-codes, such as `[.shared]`: this mock answers them
///     too. If another test has such sessions at the time, that is an issue, because this call cannot wait. It does not
///     happen in XCTest, which runs one test at a time.
///   - stubs: The stubs; later ones take precedence.
///   - operation: The code under test. The scope ends when it returns or throws.
///   - fileID: The file to report issues at: the caller's.
///   - filePath: The path of that file.
///   - line: The caller's line.
///   - column: The caller's column.
/// - Returns: What the operation returns.
/// - Throws: Errors of the stubs' closure or the operation. In that case, unused stubs are not reported.
@discardableResult
public func withMock<Result>(
  unmatched: UnmatchedPolicy = .fail, clock: any Clock<Duration> = ContinuousClock(), bodyLimit: Int = 1 << 28,
  showing: Set<String> = [],
  hardWiredSessions: [URLSession] = [],
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
  @StubBuilder _ stubs: () throws -> [Stub] = { [] },
  operation: () throws -> Result
) rethrows -> Result {
  let location = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
  let settings = ScopeSettings(
    unmatched: unmatched, clock: { clock }, bodyLimit: bodyLimit, showing: showing, location: location)
  return try MockScope(settings.makeMock(try stubs()), hardWiredSessions: hardWiredSessions).surround(operation)
}
