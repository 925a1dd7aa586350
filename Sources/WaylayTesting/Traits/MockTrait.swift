import IssueReporting
public import Testing
public import WaylayMocks

/// A trait that gives each test its own mock.
///
/// ```swift
/// @Test(.mocked { Stub(.get, "https://api.example.com/users/1", .json(["name": "Ada"])) })
/// func name() async throws {
///   #expect(try await UserClient(session: .mocked).name(of: 1) == "Ada")
/// }
/// ```
///
/// On a suite, the trait applies to every test in it, including nested suites. Each test, and each case of a
/// parameterized test, gets new stubs, so that counts and sequences start over. Scopes nest inside out: a test's own
/// stubs take precedence over its suite's, and those over the stubs of the enclosing suite.
///
/// At the end of a test, requests that no stub matched, and required stubs that no request used, are reported as issues
/// of that test, even if the code under test swallowed the error. A suite's stub that is neither `.required` nor
/// `.optional` may stay unused in individual tests; if no test in a run of the suite used it, the suite gets a warning.
///
/// Tests with this trait run in parallel with all other tests; those with `intercepting` take turns among themselves.
/// Use `withMock` in XCTest, and for stubs that apply to a part of a test.
public struct MockTrait: TestTrait, SuiteTrait, TestScoping, Changeable {
  /// The identity of a trait: a suite's trait is copied to every test in the suite.
  final class Identity: Sendable {}

  let identity = Identity()
  let settings: ScopeSettings
  let sessions: @Sendable () -> [URLSession]
  let stubs: @Sendable () throws -> [Stub]
  /// Whether ``settings`` have the source location of the trait.
  var isPlaced = true
  var role = Role.mock

  /// The kind of trait.
  enum Role: Sendable {
    case mock
    case airGap
    case exploration(limit: Int, seed: UInt64?, realTime: Duration, safe: [RequestPattern])
  }

  /// `true`: each test of a suite has its own mock.
  public var isRecursive: Bool { true }

  /// Returns the trait itself, for each case of a test and once for a suite.
  public func scopeProvider(for test: Test, testCase: Test.Case?) -> MockTrait? {
    test.isSuite || testCase != nil ? self : nil
  }

  /// Runs a test case in its own scope, and reports at its end; or runs a suite, and checks which of its stubs were
  /// used.
  @concurrent public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else {
      guard case .mock = role else { return try await function() }
      return try await SuiteLedger.open(for: identity, performing: function)
    }
    if let outermost = Self.outermost(of: test) {
      let function = escaping(function)
      return try await outermost.surround(test, testCase) {
        try await provideScope(for: test, testCase: testCase, performing: function)
      }
    }
    guard case .mock = role else { return try await function() }
    let ledger = SuiteLedger.current(of: identity)
    let isOfTest =
      isPlaced && ledger == nil && test.sourceLocation.fileID == settings.location.fileID.description
    let stubs = AttributeSource(of: settings.location).locate(try stubs())
    let settings = isPlaced ? isOfTest ? settings.located(at: test) : settings : settings.named(after: test)
    let scope = MockScope(settings.makeMock(ledger == nil ? stubs : []), intercepting: sessions())
    let note = ledger?.enter(stubs, into: scope.mock)
    try await scope.run(function, of: test, testCase, missesAtTest: !isOfTest) { note?() }
  }

  /// The first trait of a test that wraps all scopes (fault exploration or air gap) and is not active yet.
  static func outermost(of test: Test) -> MockTrait? {
    for trait in test.traits.compactMap({ $0 as? MockTrait }) {
      switch trait.role {
      case .exploration where FaultRun.current == nil, .airGap where AirGap.current == nil: return trait
      default: continue
      }
    }
    return AirGap.isForAll && AirGap.current == nil ? .airgapped : nil
  }

  /// Runs a function inside a trait that wraps all scopes.
  func surround(
    _ test: Test, _ testCase: Test.Case?, _ function: @concurrent @Sendable @escaping () async throws -> Void
  ) async throws {
    switch role {
    case .mock: try await function()
    case .airGap: try await AirGap.around(function)
    case .exploration(let limit, let seed, let realTime, let safe):
      try await FaultExploration(
        limit: limit, seed: seed, realTime: realTime, safe: safe, test: test, testCase: testCase, body: function
      ).explore()
    }
  }
}

extension Trait where Self == MockTrait {
  /// A mock without stubs, for the test or for each test in the suite: every request fails and is reported, unless the
  /// test adds stubs to `MockInterceptor.current`.
  ///
  /// ```swift
  /// @Test(.mocked) func startsWithoutTheNetwork() { … }
  /// ```
  public static var mocked: MockTrait { MockTrait.mocked().with { $0.isPlaced = false } }

  /// A mock for the test, or for each test in the suite.
  ///
  /// ```swift
  /// @Suite(.mocked { Stub(.get, "https://api.example.com/session", .json(["user": 1])) })
  /// struct UserTests {
  ///   @Test(.mocked { Stub(.get, "https://api.example.com/users/1", .json(["name": "Ada"])) })
  ///   func name() async throws { … }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - options: The response to unmatched requests, the clock of delays, and other settings of the mock. Evaluated
  ///     anew for each test, and for each case of a parameterized test; to share one clock, pass an existing one.
  ///   - sessions: Sessions that the code under test hard-codes, such as `[.shared]`: this mock answers them
  ///     too. Tests with such sessions take turns, and their waiting time counts toward their time limits; see the
  ///     guide on mocks in large suites. Evaluated for each test.
  ///   - stubs: The stubs; later ones take precedence. Run anew for each test. If there are none, the test adds them to
  ///     `MockInterceptor.current`.
  ///   - fileID: The file to report issues at: the caller's.
  ///   - filePath: The path of that file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  public static func mocked(
    _ options: @autoclosure @escaping @Sendable () -> MockInterceptor.Options = MockInterceptor.Options(),
    intercepting sessions: @autoclosure @escaping @Sendable () -> [URLSession] = [],
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    @StubBuilder _ stubs: @escaping @Sendable () throws -> [Stub] = { [] }
  ) -> MockTrait {
    MockTrait(
      settings: ScopeSettings(
        options: options, location: MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)),
      sessions: sessions, stubs: stubs)
  }
}

extension Trait where Self == MockTrait {
  /// No request of the test, or of the tests in the suite, goes to the network: one that no mock answers fails, and
  /// fails the test that made it, even without an injected session.
  ///
  /// ```swift
  /// @Suite(.airgapped) struct CheckoutTests { … }
  /// ```
  ///
  /// It sees requests to `URLSession.shared` and to all sessions of mocks, also where stubs let requests pass. It does
  /// not see a session that code makes from its own configuration, because on both platforms such requests bypass all
  /// interceptors (platform fact P11): inject a session into such code. Cassettes may record.
  /// `WAYLAY_AIRGAPPED=1 swift test` does the same for every test with a mock or a cassette.
  public static var airgapped: MockTrait { MockTrait.mocked().with { $0.role = .airGap } }

  /// Runs the test twice, and again with each fault at each of its exchanges, until one breaks an invariant.
  ///
  /// ```swift
  /// @Test(.mocked { Stub(.post, "/orders", .status(201)) }, .exploringFaults(limit: 200))
  /// func orders() async throws {
  ///   let client = OrderClient(session: .mocked, clock: MockInterceptor.current.clock)
  ///   try await client.order("tea")
  /// }
  /// ```
  ///
  /// The invariants: the test ends; no request that is not idempotent is sent twice; `Retry-After` is obeyed; a
  /// cancellation ends the test; no load and no body outlives it. A truncated response is not treated as complete, a
  /// stream that reconnects loses and repeats nothing (the mock honors `Last-Event-ID`), and the sizes of the chunks make
  /// no difference. Otherwise the test's own expectations may fail in these runs, and are not reported. The report has
  /// the fault as a stub, and a seed that repeats it. A warning lists the exchanges that no fault has reached.
  ///
  /// An exchange is its method, path segments, query items and GraphQL operation, as far as the two runs without a fault
  /// agree on them, and its number among equal ones: neither its host nor its body. Sent twice is what is sent more than
  /// once, and more often than without a fault; a request that is not made without a fault, such as a failure's report,
  /// may follow each failure once. Repeated are not: one `Idempotency-Key`, GraphQL without a mutation, and `safe`
  /// requests, such as JSON-RPC calls that only read.
  ///
  /// Time is virtual: code that waits takes the clock of `MockInterceptor.current`; `realTime` is for code that cannot.
  /// A test without a mock, in which there is nothing to explore, fails. State that outlives the test, such as a
  /// `static`, remains from run to run.
  ///
  /// Experimental: the faults and the invariants may change in any version.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of runs with and without faults. With fewer than there are faults, the runs are
  ///     spread over all kinds, and a warning names the number of faults.
  ///   - seed: The number in a report: runs the test unchanged, and then with that fault only.
  ///   - realTime: How long a run may make no progress in real time before it counts as never ending.
  ///   - safe: Requests that may be sent again although their method is not idempotent.
  public static func exploringFaults(
    limit: Int = 200, seed: UInt64? = nil, realTime: Duration = .seconds(3), safe: RequestPattern...
  ) -> MockTrait {
    MockTrait.mocked().with { $0.role = .exploration(limit: limit, seed: seed, realTime: realTime, safe: safe) }
  }
}

/// Counts the uses of a suite's stubs over all tests of one run of the suite.
final class SuiteLedger: Sendable {
  /// Identifies a stub by its location and iteration, because a loop makes several stubs on one line.
  private struct Key: Hashable {
    var location: MockSourceLocation
    var description: String
  }

  /// The ledgers of the suites around the current task, by trait.
  @TaskLocal private static var ledgers: [ObjectIdentifier: SuiteLedger] = [:]

  private let uses = Locked<[Key: Int]>([:])

  /// The ledger of a suite's trait; `nil` for a trait on a test itself.
  static func current(of trait: MockTrait.Identity) -> SuiteLedger? { ledgers[ObjectIdentifier(trait)] }

  /// Runs the tests of a suite, and warns of stubs that no test used.
  static func open(
    for trait: MockTrait.Identity, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    // A nested suite inherits the trait: its tests count for the suite that declares the trait.
    guard current(of: trait) == nil else { return try await function() }
    let ledger = SuiteLedger()
    var open = ledgers
    open[ObjectIdentifier(trait)] = ledger
    try await $ledgers.withValue(open) { try await function() }
    ledger.report()
  }

  /// Adds the stubs to one test's mock. Stubs without `.required` or `.optional` are optional for the test, and checked
  /// for the suite.
  ///
  /// - Returns: A closure that adds up their uses at the end of the test.
  func enter(_ stubs: [Stub], into mock: MockInterceptor) -> @Sendable () -> Void {
    let handles = stubs.compactMap { stub -> (Key, StubHandle)? in
      guard stub.requirement == nil else {
        mock.add(stub)
        return nil
      }
      return (Key(location: stub.location, description: stub.description), mock.add(stub.optional))
    }
    return {
      self.uses.withLock { uses in
        for (key, handle) in handles { uses[key, default: 0] += handle.isReported ? 1 : handle.count }
      }
    }
  }

  private func report() {
    for (stub, count) in uses.withLock({ $0 }) where count == 0 {
      IssueReport.report(
        """
        No test of this suite used the stub \(stub.description) in this run. Remove the stub, or mark it .optional. If \
        every test must use it, mark it .required.
        """, severity: .warning, at: stub.location)
    }
  }
}
