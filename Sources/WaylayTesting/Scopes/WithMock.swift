public import WaylayMocks

/// Runs an operation with its own mock: inside, the stubs answer `URLSession.mocked`.
///
/// ```swift
/// func testName() async throws {
///   try await withMock {
///     Stub(.get, "https://api.example.com/users/1", .json(["name": "Ada"]))
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
///   - options: The response to unmatched requests, the clock of delays, and other settings of the mock.
///   - sessions: Sessions that the code under test hard-codes, such as `[.shared]`: this mock answers them
///     too. The call waits until no other test has such sessions; see the guide on mocks in large suites.
///   - stubs: The stubs; later ones take precedence.
///   - operation: The code under test. The scope ends when it returns or throws.
///   - fileID: The file to report issues at: the caller's.
///   - filePath: The path of that file.
///   - line: The caller's line.
///   - column: The caller's column.
/// - Returns: The operation's result.
/// - Throws: Errors of the stubs' closure or the operation. In that case, unused stubs are not reported.
@discardableResult
public func withMock<Result>(
  _ options: MockInterceptor.Options = MockInterceptor.Options(), intercepting sessions: [URLSession] = [],
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
  @StubBuilder _ stubs: () throws -> [Stub] = { [] },
  operation: () async throws -> Result
) async rethrows -> Result {
  let location = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
  let settings = ScopeSettings(options: { options }, location: location)
  return try await MockScope(settings.makeMock(try stubs()), intercepting: sessions).surround(operation)
}

/// Runs a synchronous operation with its own mock.
///
/// Use it to mock a whole XCTest case, including `setUp`, asynchronous test methods and `tearDown`:
///
/// ```swift
/// final class UserTests: XCTestCase {
///   override func invokeTest() {
///     withMock {
///       Stub(.get, "https://api.example.com/users/1", .json(["name": "Ada"]))
///     } operation: {
///       super.invokeTest()
///     }
///   }
/// }
/// ```
///
/// - Parameters:
///   - options: The response to unmatched requests, the clock of delays, and other settings of the mock.
///   - sessions: Sessions that the code under test hard-codes, such as `[.shared]`: this mock answers them
///     too. If another test has such sessions at the time, that is an issue, because this call cannot wait. It does not
///     happen in XCTest, which runs one test at a time.
///   - stubs: The stubs; later ones take precedence.
///   - operation: The code under test. The scope ends when it returns or throws.
///   - fileID: The file to report issues at: the caller's.
///   - filePath: The path of that file.
///   - line: The caller's line.
///   - column: The caller's column.
/// - Returns: The operation's result.
/// - Throws: Errors of the stubs' closure or the operation. In that case, unused stubs are not reported.
@discardableResult
public func withMock<Result>(
  _ options: MockInterceptor.Options = MockInterceptor.Options(), intercepting sessions: [URLSession] = [],
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
  @StubBuilder _ stubs: () throws -> [Stub] = { [] },
  operation: () throws -> Result
) rethrows -> Result {
  let location = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
  let settings = ScopeSettings(options: { options }, location: location)
  return try MockScope(settings.makeMock(try stubs()), intercepting: sessions).surround(operation)
}

extension MockScope {
  /// Makes a scope that ends and reports in a hook of the test library.
  ///
  /// ```swift
  /// final class UserTests: XCTestCase {
  ///   private var client: UserClient?
  ///
  ///   override func setUp() {
  ///     let scope = MockScope(teardown: { self.addTeardownBlock($0) }) {
  ///       Stub(.get, "https://api.example.com/users/1", .json(["name": "Ada"]))
  ///     }
  ///     client = UserClient(session: scope.session)
  ///   }
  /// }
  /// ```
  ///
  /// The scope does not become ``current``, so `URLSession.mocked` does not find it: use ``session`` or
  /// ``configuration(_:)``. Prefer ``MockTrait`` and `withMock` where they can wrap the test.
  ///
  /// - Parameters:
  ///   - options: The response to unmatched requests, the clock of delays, and other settings of the mock.
  ///   - sessions: Sessions that the code under test hard-codes, such as `[.shared]`: this mock answers them
  ///     too, until the scope ends. If another scope has such sessions at the time, that is an issue, because this call
  ///     cannot wait.
  ///   - teardown: Called once, immediately, with the closure to call when the test ends.
  ///   - stubs: The stubs; later ones take precedence.
  ///   - fileID: The file to report issues at: the caller's.
  ///   - filePath: The path of that file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Throws: Errors of the stubs' closure.
  public convenience init(
    _ options: MockInterceptor.Options = MockInterceptor.Options(), intercepting sessions: [URLSession] = [],
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    teardown: (@escaping @Sendable () -> Void) -> Void, @StubBuilder _ stubs: () throws -> [Stub] = { [] }
  ) rethrows {
    let location = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let settings = ScopeSettings(options: { options }, location: location)
    self.init(settings.makeMock(try stubs()), intercepting: sessions)
    hardWired.takePermitAtOnce()
    begin()
    if ScopeSession.isVerified { InterceptionCheck.shared.reportAtOnce(self) }
    teardown { self.end() }
  }
}
