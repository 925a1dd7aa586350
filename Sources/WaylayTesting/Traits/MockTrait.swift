public import Testing
public import WaylayMocks

/// A trait that gives each test a mock of its own.
///
/// ```swift
/// @Test(.mocked { Stub(.get, "https://api.example.com/users/1") { .json(["name": "Ada"]) } })
/// func name() async throws {
///   #expect(try await UserClient(session: .mocked).name(of: 1) == "Ada")
/// }
/// ```
///
/// On a suite it holds for every test in it, nested suites included. Each test, and each case of a test with arguments,
/// gets stubs made anew, so counts and sequences begin again. Scopes nest inside out: a test's own stubs are asked
/// before its suite's, and those before the stubs of the suite round it.
///
/// When the test is over, requests that no stub matched, and required stubs that no request used, are reported as
/// issues of that test, even when the code under test swallowed the error. A stub of a suite that says neither
/// `.required` nor `.optional` may stay unused in one test or another; when no test of a run of the suite used it, the
/// suite gets a warning.
///
/// Tests with this trait run in parallel with all others; those with `hardWiredSessions` take turns among themselves.
/// Use `withMock` in tests of XCTest, and for stubs that hold for a part of a test.
public struct MockTrait: TestTrait, SuiteTrait, TestScoping {
  /// Which trait this is: a suite's trait is copied to every test in the suite.
  final class Identity: Sendable {}

  let identity = Identity()
  let settings: ScopeSettings
  let hardWiredSessions: @Sendable () -> [URLSession]
  let stubs: @Sendable () throws -> [Stub]
  /// Whether ``settings`` say where it was written.
  var isPlaced = true

  /// `true`: each test of a suite has its own mock.
  public var isRecursive: Bool { true }

  /// The trait itself, for each case of a test and once for a suite.
  public func scopeProvider(for test: Test, testCase: Test.Case?) -> MockTrait? {
    test.isSuite || testCase != nil ? self : nil
  }

  /// Runs a case of a test in a scope of its own, and reports at its end; or runs a suite, and looks which of its stubs
  /// were of use.
  @concurrent public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await SuiteLedger.open(for: identity, performing: function) }
    let ledger = SuiteLedger.current(of: identity)
    let isOfTest =
      isPlaced && ledger == nil && test.sourceLocation.fileID == settings.location.fileID.description
    let stubs = AttributeSource(of: settings.location).locate(try stubs())
    let settings = isPlaced ? isOfTest ? settings.located(at: test) : settings : settings.named(after: test)
    let scope = MockScope(settings.makeMock(ledger == nil ? stubs : []), hardWiredSessions: hardWiredSessions())
    let note = ledger?.enter(stubs, into: scope.mock)
    try await scope.surround({ try await function() }, printsErrors: true, missesAtTest: !isOfTest) { note?() }
  }
}

extension Trait where Self == MockTrait {
  /// A mock without stubs, for the test or for each test of the suite: every request fails and is reported, unless the
  /// test adds stubs to `MockInterceptor.current`.
  ///
  /// ```swift
  /// @Test(.mocked) func startsWithoutTheNetwork() { … }
  /// ```
  public static var mocked: MockTrait {
    var trait = MockTrait.mocked()
    trait.isPlaced = false
    return trait
  }

  /// A mock for the test, or for each test of the suite.
  ///
  /// ```swift
  /// @Suite(.mocked { Stub(.get, "https://api.example.com/session") { .json(["user": 1]) } })
  /// struct UserTests {
  ///   @Test(.mocked { Stub(.get, "https://api.example.com/users/1") { .json(["name": "Ada"]) } })
  ///   func name() async throws { … }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - unmatched: What becomes of a request that no stub matches. Default: it fails, and is reported.
  ///   - clock: What delays of answers wait on. A `MockClock` makes them take no time. Evaluated anew for each test,
  ///     and for each case of one with arguments; to have one clock for several, name one that is there already.
  ///   - bodyLimit: The bytes of a request's body that are read at most; a longer one fails its load.
  ///   - showing: The names whose values reports show although they sound secret: `sort_key` or `pin`, for example.
  ///   - hardWiredSessions: Sessions that the code under test takes from nowhere, for example `[.shared]`: this mock
  ///     answers them too. Tests that say so take turns, and what they wait counts for their time limits; see
  ///     the guide on mocks in large suites. Evaluated for each test.
  ///   - stubs: The stubs; the last one is asked first. Run anew for each test. None: the test adds them to
  ///     `MockInterceptor.current`.
  ///   - fileID: Where it is reported: the caller's file.
  ///   - filePath: The same file, with its path.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  public static func mocked(
    unmatched: UnmatchedPolicy = .fail,
    clock: @autoclosure @escaping @Sendable () -> any Clock<Duration> = ContinuousClock(),
    bodyLimit: Int = 1 << 28, showing: Set<String> = [],
    hardWiredSessions: @autoclosure @escaping @Sendable () -> [URLSession] = [],
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    @StubBuilder _ stubs: @escaping @Sendable () throws -> [Stub] = { [] }
  ) -> MockTrait {
    MockTrait(
      settings: ScopeSettings(
        unmatched: unmatched, clock: clock, bodyLimit: bodyLimit, showing: showing,
        location: MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)),
      hardWiredSessions: hardWiredSessions, stubs: stubs)
  }
}
