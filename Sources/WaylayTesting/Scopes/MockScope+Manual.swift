public import WaylayMocks

extension MockScope {
  /// Makes a scope that ends, and reports, in a hook of the test library.
  ///
  /// ```swift
  /// final class UserTests: XCTestCase {
  ///   private var client: UserClient?
  ///
  ///   override func setUp() {
  ///     let scope = MockScope(endingWith: { self.addTeardownBlock($0) }) {
  ///       Stub(.get, "https://api.example.com/users/1") { .json(["name": "Ada"]) }
  ///     }
  ///     client = UserClient(session: scope.session)
  ///   }
  /// }
  /// ```
  ///
  /// It is not ``current`` anywhere, so `URLSession.mocked` does not find it: use ``session`` or ``configuration(_:)``. Prefer
  /// ``MockTrait`` and `withMock`, where they can surround the test.
  ///
  /// - Parameters:
  ///   - unmatched: What becomes of a request that no stub matches. Default: it fails, and is reported.
  ///   - clock: What delays of answers wait on.
  ///   - hook: Called once, now, with what is to be called when the test ends.
  ///   - stubs: The stubs; the last one is asked first.
  ///   - fileID: Where it is reported: the caller's file.
  ///   - filePath: The same file, with its path.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Throws: What the stubs' closure throws.
  public convenience init(
    unmatched: UnmatchedPolicy = .fail, clock: any Clock<Duration> = ContinuousClock(),
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    endingWith hook: (@escaping @Sendable () -> Void) -> Void, @StubBuilder _ stubs: () throws -> [Stub] = { [] }
  ) rethrows {
    let location = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let settings = ScopeSettings(unmatched: unmatched, clock: clock, location: location)
    self.init(settings.makeMock(try stubs()))
    mock.environment.context?.begin()
    hook { self.end() }
  }
}
