/// Answers requests with stubs, without a network, and records the requests.
///
/// ```swift
/// let mock = MockInterceptor {
///   Stub(.get, "https://api.example.com/users/:id") { .json(["id": 42]) }
///   Stub(.post, "/orders") { .status(201) }.body(.jsonSubset(["paid": true])).once
/// }
/// let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { mock }))
/// let (data, _) = try await session.data(from: URL(string: "https://api.example.com/users/42")!)
/// #expect(mock.calls(to: .get, "/users/:id").count == 1)
/// ```
///
/// The stub with the highest priority is asked first; among stubs of equal priority, the newest is. In a list, later
/// stubs are newer, except that several stubs with `.once` or `.times` for the same requests answer in the order they
/// are written. A request that no stub matches fails, and ``issues`` names the closest stub. In tests, the trait of
/// `WaylayTesting` makes a mock for each test and reports its issues.
///
/// Each mock has its own stubs, counts, scenarios and history: tests that run in parallel do not interfere.
public final class MockInterceptor: InlineAnswering {
  struct State {
    var index = StubIndex()
    /// All that are there, oldest first.
    var entries: [StubEntry] = []
    var nextNumber = 0
    var scenarios: [String: String] = [:]
    var calls: [RecordedCall] = []
    var issues: [MockIssue] = []
    var waiters = Waiters()
  }

  /// The name in errors, logs and reports.
  public let name: String
  /// Where the mock was made.
  public let location: MockSourceLocation
  let unmatched: UnmatchedPolicy
  package let environment: MockEnvironment
  let bodyLimit: Int
  /// The names whose values reports show although they sound secret, in lower case.
  let shownNames: Set<String>
  /// The mock that is asked for what no stub of this one is for.
  let outer: MockInterceptor?
  let state = Locked(State())

  /// Makes a mock.
  ///
  /// - Parameters:
  ///   - name: The name in errors, logs and reports.
  ///   - unmatched: What to do with a request that no stub matches; it fails by default.
  ///   - clock: The clock that delayed answers wait on.
  ///   - seed: The same seed gives the same random delays; `nil` gives different ones each time.
  ///   - bodyLimit: The maximum number of bytes to read of a request's body; a longer body fails its load.
  ///   - showing: Names of query items, fields and JSON members whose values reports show although the names sound
  ///     secret, such as `sort_key` or `pin`. The names are case-insensitive.
  ///   - stubs: The stubs; later ones take precedence.
  ///   - fileID: The file to report issues at: the caller's.
  ///   - filePath: The path of that file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  public convenience init(
    _ name: String = "MockInterceptor", unmatched: UnmatchedPolicy = .fail,
    clock: any Clock<Duration> = ContinuousClock(),
    seed: UInt64? = nil, bodyLimit: Int = 1 << 28, showing: Set<String> = [], fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    @StubBuilder _ stubs: () throws -> [Stub]
  ) rethrows {
    self.init(
      name, within: nil, unmatched: unmatched, environment: MockEnvironment(clock: clock, seed: seed),
      bodyLimit: bodyLimit,
      showing: showing, location: MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column),
      stubs: try stubs())
  }

  /// Makes a mock without stubs: `add` some later.
  public convenience init(
    _ name: String = "MockInterceptor", unmatched: UnmatchedPolicy = .fail,
    clock: any Clock<Duration> = ContinuousClock(),
    seed: UInt64? = nil, bodyLimit: Int = 1 << 28, showing: Set<String> = [], fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    self.init(
      name, unmatched: unmatched, clock: clock, seed: seed, bodyLimit: bodyLimit, showing: showing, fileID: fileID,
      filePath: filePath,
      line: line, column: column
    ) {}
  }

  /// Makes a mock inside another, which is asked for what no stub of this one is for.
  package init(
    _ name: String = "MockInterceptor", within outer: MockInterceptor?, unmatched: UnmatchedPolicy = .fail,
    environment: MockEnvironment = MockEnvironment(), bodyLimit: Int = 1 << 28, showing: Set<String> = [],
    location: MockSourceLocation,
    stubs: [Stub]
  ) {
    shownNames = Set(showing.map { $0.lowercased() }).union(outer?.shownNames ?? [])
    self.name = name
    self.outer = outer
    self.unmatched = unmatched
    self.environment = environment
    self.bodyLimit = bodyLimit
    self.location = location
    add(stubs)
  }

  /// The clock that delayed answers wait on, as passed to the initializer. In a parameterized test, each case has its
  /// own.
  public var clock: any Clock<Duration> { environment.clock }
}
