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
  /// It is not ``current`` anywhere, so `URLSession.mocked` does not find it: use ``session`` or ``configuration(_:)``.
  /// Prefer ``MockTrait`` and `withMock`, where they can surround the test.
  ///
  /// - Parameters:
  ///   - unmatched: What becomes of a request that no stub matches. Default: it fails, and is reported.
  ///   - clock: What delays of answers wait on.
  ///   - bodyLimit: The bytes of a request's body that are read at most; a longer one fails its load.
  ///   - showing: The names whose values reports show although they sound secret: `sort_key` or `pin`, for example.
  ///   - hardWiredSessions: Sessions that the code under test takes from nowhere, for example `[.shared]`: this mock
  ///     answers them too, until the scope ends. Another scope that has such sessions then is an issue, because this
  ///     call cannot wait.
  ///   - hook: Called once, now, with what is to be called when the test ends.
  ///   - stubs: The stubs; the last one is asked first.
  ///   - fileID: Where it is reported: the caller's file.
  ///   - filePath: The same file, with its path.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Throws: What the stubs' closure throws.
  public convenience init(
    unmatched: UnmatchedPolicy = .fail, clock: any Clock<Duration> = ContinuousClock(), bodyLimit: Int = 1 << 28,
    showing: Set<String> = [],
    hardWiredSessions: [URLSession] = [],
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    endingWith hook: (@escaping @Sendable () -> Void) -> Void, @StubBuilder _ stubs: () throws -> [Stub] = { [] }
  ) rethrows {
    let location = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let settings = ScopeSettings(
      unmatched: unmatched, clock: { clock }, bodyLimit: bodyLimit, showing: showing, location: location)
    self.init(settings.makeMock(try stubs()), hardWiredSessions: hardWiredSessions)
    hardWired.takeTurnAtOnce()
    begin()
    hook { self.end() }
  }
}
