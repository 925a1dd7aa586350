public import WaylayMocks

/// Runs an operation with a mock of its own: inside, `URLSession.mocked` is answered by the stubs.
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
/// It reports what ``MockTrait`` reports, in Swift Testing and in XCTest. Scopes nest: these stubs are asked before
/// those of the scope round it. A session that was made outside is not affected.
///
/// - Parameters:
///   - unmatched: What becomes of a request that no stub matches. Default: it fails, and is reported.
///   - clock: What delays of answers wait on. A `MockClock` makes them take no time.
///   - bodyLimit: The bytes of a request's body that are read at most; a longer one fails its load.
///   - showing: The names whose values reports show although they sound secret: `sort_key` or `pin`, for example.
///   - hardWiredSessions: Sessions that the code under test takes from nowhere, for example `[.shared]`: this mock
///     answers them too. Waits until no other test has such sessions; see the guide on mocks in large suites.
///   - stubs: The stubs; the last one is asked first.
///   - operation: The code under test. The scope ends when it returns or throws.
///   - fileID: Where it is reported: the caller's file.
///   - filePath: The same file, with its path.
///   - line: The caller's line.
///   - column: The caller's column.
/// - Returns: What the operation returns.
/// - Throws: What the stubs' closure or the operation throws. Stubs that stay unused are then not reported.
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

/// Runs a synchronous operation with a mock of its own.
///
/// With it a whole XCTest case is mocked, `setUp`, asynchronous test methods and `tearDown` included:
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
///   - unmatched: What becomes of a request that no stub matches. Default: it fails, and is reported.
///   - clock: What delays of answers wait on. A `MockClock` makes them take no time.
///   - bodyLimit: The bytes of a request's body that are read at most; a longer one fails its load.
///   - showing: The names whose values reports show although they sound secret: `sort_key` or `pin`, for example.
///   - hardWiredSessions: Sessions that the code under test takes from nowhere, for example `[.shared]`: this mock
///     answers them too. That another test has such sessions at the time is an issue, because this call cannot wait:
///     XCTest runs one test at a time, so there it does not happen.
///   - stubs: The stubs; the last one is asked first.
///   - operation: The code under test. The scope ends when it returns or throws.
///   - fileID: Where it is reported: the caller's file.
///   - filePath: The same file, with its path.
///   - line: The caller's line.
///   - column: The caller's column.
/// - Returns: What the operation returns.
/// - Throws: What the stubs' closure or the operation throws. Stubs that stay unused are then not reported.
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
