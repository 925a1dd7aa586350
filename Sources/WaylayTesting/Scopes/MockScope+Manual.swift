public import WaylayMocks

extension MockScope {
  /// Makes a scope that ends and reports in a hook of the test library.
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
  /// The scope does not become ``current``, so `URLSession.mocked` does not find it: use ``session`` or
  /// ``configuration(_:)``. Prefer ``MockTrait`` and `withMock` where they can wrap the test.
  ///
  /// - Parameters:
  ///   - unmatched: What to do with a request that no stub matches. By default, it fails and is reported.
  ///   - clock: The clock that delayed answers wait on.
  ///   - bodyLimit: The maximum number of bytes to read of a request's body; a longer body fails its load.
  ///   - showing: Names whose values reports show although the names sound secret, such as `sort_key` or `pin`.
  ///   - hardWiredSessions: Sessions that the code under test hard-codes, such as `[.shared]`: this mock answers them
  ///     too, until the scope ends. If another scope has such sessions at the time, that is an issue, because this call
  ///     cannot wait.
  ///   - hook: Called once, immediately, with the closure to call when the test ends.
  ///   - stubs: The stubs; later ones take precedence.
  ///   - fileID: The file to report issues at: the caller's.
  ///   - filePath: The path of that file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Throws: Errors of the stubs' closure.
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
