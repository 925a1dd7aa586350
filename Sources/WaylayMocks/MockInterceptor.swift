/// Answers requests by stubs, without a network, and remembers what was asked.
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
/// The stub with the highest priority is asked first, and of equal ones the newest; in a list the later is the newer,
/// but for several with `.once` or `.times` for the same requests, which answer as they are written. A request that no
/// stub is for fails, and ``issues`` says what came nearest. In tests, the trait of `WaylayTesting` makes a mock for
/// each and reports its issues.
///
/// Each mock has stubs, counts, scenarios and a history of its own: two tests that run at the same time never meet.
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

  /// The name that errors, logs and reports use.
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
  ///   - name: The name that errors, logs and reports use.
  ///   - unmatched: What becomes of a request that no stub is for; it fails unless told otherwise.
  ///   - clock: What delayed answers wait on.
  ///   - seed: The same seed gives the same random delays; `nil` for other ones each time.
  ///   - bodyLimit: The bytes of a request's body that are read at most; a longer one fails its load.
  ///   - showing: The names of query items, fields and JSON members whose values reports show although they sound
  ///     secret: `sort_key` or `pin`, for example. Letter case does not count.
  ///   - stubs: The stubs; the later is asked before the earlier.
  ///   - fileID: Where it is reported: the caller's file.
  ///   - filePath: The same file, with its path.
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

  /// Makes a mock without stubs: `add` brings some later.
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

  /// What delayed answers wait on: the clock the mock was made with. In a test with several cases each has its own.
  public var clock: any Clock<Duration> { environment.clock }
}
