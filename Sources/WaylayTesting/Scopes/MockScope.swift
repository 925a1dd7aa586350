import Testing
public import WaylayMocks

/// The mock of one test, with its registry and its session.
///
/// The trait
/// ``Testing/Trait/mocked(_:intercepting:fileID:filePath:line:column:_:)`` and
/// `withMock` make a scope for the test or closure that they wrap, and end it afterwards. Inside, ``current`` finds it,
/// including in child tasks and unstructured tasks:
///
/// ```swift
/// @Test(.mocked { Stub(.get, "https://api.example.com/users/1", .json(["name": "Ada"])) })
/// func name() async throws {
///   let client = UserClient(session: .mocked)
///   #expect(try await client.name(of: 1) == "Ada")
/// }
/// ```
///
/// Each scope has its own registry: tests that run in parallel with different responses for the same URL do not
/// interfere, whichever tasks and helpers make their sessions.
///
/// Task-local values do not reach `Task.detached`, dispatch queues and threads. Code that runs there uses a session
/// made earlier, or receives the scope:
///
/// ```swift
/// let scope = try #require(MockScope.current)
/// await Task.detached {
///   await MockScope.$current.withValue(scope) { await synchronise(.mocked) }
/// }.value
/// ```
///
/// If nothing can wrap the test, make a scope manually:
/// ``init(_:intercepting:fileID:filePath:line:column:teardown:_:)``.
public final class MockScope: Sendable {
  private struct State {
    var session: URLSession?
    /// The configuration of all sessions, which thereby share cookies and credentials.
    var configuration: URLSessionConfiguration?
    var isEnded = false
    /// Uses of sessions of ended scopes inside this scope, counted by the location of their mock.
    var lateUses: [MockSourceLocation: Int] = [:]
    /// Issues of code outside every scope, most likely started by this test.
    var stray: [String] = []
    /// The first request to `URLSession.shared` that bypassed the mock, and the number of such requests.
    var shared: (first: String, count: Int)?
  }

  /// The innermost scope around the current task; `nil` outside every scope.
  @TaskLocal public static var current: MockScope?

  /// The mock with this scope's stubs and the requests they received.
  public let mock: MockInterceptor
  /// The cassette that plays or records requests that no stub matches; `nil` for a scope without one.
  public let cassette: Cassette?
  /// The chain of the scope's sessions: its mock, then its cassette, and nothing else. Direct loads through the
  /// registry (`registry.data(for:)`) are mocked as well.
  public let registry: InterceptorRegistry
  let hardWired: HardWiredSessions
  private let state = Locked(State())

  init(
    mock: MockInterceptor, registry: InterceptorRegistry, intercepting sessions: [URLSession] = [],
    cassette: Cassette? = nil
  ) {
    self.cassette = cassette
    self.mock = mock
    self.registry = registry
    hardWired = HardWiredSessions(sessions, location: mock.location)
  }

  convenience init(
    _ mock: MockInterceptor, intercepting sessions: [URLSession] = [],
    cassette: Cassette? = MockScope.surrounding?.cassette
  ) {
    let registry = InterceptorRegistry(configuration: .ephemeral)
    // The refusal follows the cassette, which would record from the network.
    let gap = AirGap.current != nil || AirGap.isForAll ? AirGap.Refusal(gap: AirGap.current) : nil
    let faults = FaultRun.current.map { FaultInterceptor(run: $0) }
    let interceptors = ([faults, mock, cassette, gap] as [(any RequestInterceptor)?]).compactMap(\.self)
    // Cover every scheme, and requests of the stubs' own closures: an unanswered request must not reach the network.
    registry.coverOwnRequests()
    registry.register(InterceptorChain(.default, for: .any) { interceptors })
    self.init(mock: mock, registry: registry, intercepting: sessions, cassette: cassette)
    watchForLateUse()
  }

  /// The scope of the current task, unless it has ended.
  static var surrounding: MockScope? { current.flatMap { $0.isEnded ? nil : $0 } }

  deinit {
    close()
  }
}

extension MockScope {
  /// The scope's session. There is only one, made on first use, because each session holds two descriptors on Linux
  /// (platform fact U12).
  ///
  /// Code under test may invalidate the session, for example in a `deinit`: the rest of the test can continue. On Linux
  /// its tasks then finish or are cancelled, and the session stays, because all users share it; on Apple platforms each
  /// use of this property makes a session, with the same cookies and credentials.
  ///
  /// The session has an ephemeral configuration: cookies and credentials belong to the scope. To use a delegate or your
  /// own configuration, make a session from ``configuration(_:)``.
  public var session: URLSession {
    state.withLock { state in
      if let session = state.session { return session }
      guard !state.isEnded else { return Self.outside.session }
      let configuration = state.configuration ?? self.configuration()
      state.configuration = configuration
      let session = ScopeSession.make(configuration)
      if ScopeSession.outlivesInvalidation { state.session = session }
      return session
    }
  }

  /// Returns a copy of a configuration, for sessions that this scope's mock answers.
  ///
  /// ```swift
  /// let configuration = URLSessionConfiguration.ephemeral
  /// configuration.httpAdditionalHeaders = ["Accept-Language": "de"]
  /// let session = URLSession(configuration: scope.configuration(configuration), delegate: delegate, delegateQueue: nil)
  /// ```
  public func configuration(_ base: URLSessionConfiguration = .ephemeral) -> URLSessionConfiguration {
    base.intercepted(by: registry)
  }

  /// Runs an operation inside the scope, then ends the scope. The scope is ``current`` inside, and the closures of its
  /// stubs run with the same task-local values.
  ///
  /// - Parameters:
  ///   - operation: The code under test.
  ///   - printsErrors: Whether the test library receives the thrown error directly.
  ///   - missesAtTest: Whether to report unmatched requests at the test, because the mock's location serves several
  ///     tests.
  ///   - cassette: The cassette that ends with the scope.
  ///   - finish: Called before the scope ends.
  nonisolated(nonsending) func surround<Result>(
    _ operation: () async throws -> Result, printsErrors: Bool = false, missesAtTest: Bool = false,
    cassette: Cassette? = nil,
    finish: () -> Void = {}
  ) async rethrows -> Result {
    await hardWired.waitForPermit()
    do {
      let result = try await Self.$current.withValue(self) {
        begin()
        if ScopeSession.isVerified, !printsErrors { await InterceptionCheck.shared.report(self) }
        return try await XCTestFailure.withoutRemark(operation)
      }
      finish()
      end(missesAtTest: missesAtTest, cassette: cassette)
      await mock.environment.context?.ended()
      return result
    } catch {
      finish()
      end(throwing: error, isPrinted: printsErrors, missesAtTest: missesAtTest, cassette: cassette)
      await mock.environment.context?.ended()
      throw printsErrors ? error : reported(error)
    }
  }

  /// The synchronous variant.
  func surround<Result>(_ operation: () throws -> Result, cassette: Cassette? = nil) rethrows -> Result {
    hardWired.takePermitAtOnce()
    do {
      let result = try Self.$current.withValue(self) {
        begin()
        if ScopeSession.isVerified { InterceptionCheck.shared.reportAtOnce(self) }
        return try XCTestFailure.withoutRemark(operation)
      }
      end(cassette: cassette)
      return result
    } catch {
      end(throwing: error, cassette: cassette)
      throw reported(error)
    }
  }

  /// Starts answering requests, with the task-local values of the current task.
  func begin() {
    OpenScopes.add(self)
    if isEnded { OpenScopes.remove(self) }
    mock.environment.context?.begin()
    hardWired.begin(self)
    SharedSessionWatch.begin()
  }

  /// Notes an issue of code outside every scope.
  func noteStray(_ message: String) {
    state.withLock { if !$0.stray.contains(message) { $0.stray.append(message) } }
  }

  var stray: [String] { state.withLock { $0.stray } }

  /// Notes a request to `URLSession.shared`, unless that is mocked.
  func noteShared(_ request: URLRequest) {
    guard !hardWired.sessions.contains(where: { $0 === URLSession.shared }) else { return }
    let line = "\(request.httpMethod ?? "GET") \(request.url?.redacted ?? "a URL")"
    state.withLock { $0.shared = ($0.shared?.first ?? line, ($0.shared?.count ?? 0) + 1) }
  }

  /// A remark on requests to `URLSession.shared` for the report of an unused stub.
  var sharedRemark: String? {
    state.withLock { $0.shared }.map { first, count in
      """


      URLSession.shared was used \(count == 1 ? "once" : "\(count) times") in this test, first for \(first), and is \
      not mocked. Pass the code a session (`URLSession.mocked`), or name it: `.mocked(intercepting: [.shared])`.
      """
    }
  }

  /// Uses of sessions of ended scopes, counted by the location of their mock.
  var lateUses: [MockSourceLocation: Int] { state.withLock { $0.lateUses } }

  /// Whether the scope has ended: its sessions then fail their loads.
  public var isEnded: Bool { state.withLock { $0.isEnded } }

  /// Ends the scope. Loads that run fail; so do later ones, without the network.
  ///
  /// The session is released rather than invalidated: a task that outlives its test would end the process by using an
  /// invalidated one (platform fact U17).
  func close() {
    let isFirst = state.withLock { state in
      defer { (state.isEnded, state.session) = (true, nil) }
      return !state.isEnded
    }
    guard isFirst else { return }
    OpenScopes.remove(self)
    hardWired.end()
    registry.invalidate()
    mock.environment.context?.end()
  }
}

extension MockScope {
  /// Runs a test case in the scope; its traffic is attached to its first failure.
  func run(
    _ function: @concurrent @Sendable () async throws -> Void, of test: Test, _ testCase: Test.Case?,
    missesAtTest: Bool, cassette: Cassette? = nil, finish: @Sendable () -> Void = {}
  ) async throws {
    try await Traffic.attached(of: self, test, testCase) {
      try await surround(
        {
          if ScopeSession.isVerified { try await InterceptionCheck.shared(self) }
          try await FaultRun.settling(function)
        }, printsErrors: true, missesAtTest: missesAtTest, cassette: cassette, finish: finish)
    }
  }
}

extension MockSourceLocation {
  /// The location of the test, if it is in the same file: the compiler gives a trait in an attribute the location of
  /// the declaration.
  func moved(to test: Test) -> MockSourceLocation {
    guard test.sourceLocation.fileID == fileID.description else { return self }
    return MockSourceLocation(
      fileID: fileID, filePath: filePath, line: UInt(clamping: test.sourceLocation.line),
      column: UInt(clamping: test.sourceLocation.column))
  }
}

/// The settings of a scope's mock.
struct ScopeSettings: Sendable, Changeable {
  /// Called once per scope.
  var options: @Sendable () -> MockInterceptor.Options = { MockInterceptor.Options() }
  var location: MockSourceLocation

  /// A copy with the column of the test's attribute: the compiler gives a trait in an attribute the place of the
  /// declaration.
  func located(at test: Test) -> ScopeSettings {
    with { $0.location = location.moved(to: test) }
  }

  /// A copy for a trait without a location: reports name the test.
  func named(after test: Test) -> ScopeSettings {
    with { $0.location.test = "\(test.sourceLocation.fileID):\(test.sourceLocation.line)" }
  }

  /// Makes a mock inside the current scope's mock, if any: its stubs take precedence.
  func makeMock(_ stubs: [Stub]) -> MockInterceptor {
    let outer = MockScope.surrounding
    var options = options()
    // Unmatched requests go to the cassette, unless the test's options set a response for them.
    if let run = FaultRun.current { options.clock = run.clock(insteadOf: options.clock) }
    if outer?.cassette != nil, options.unmatched == nil { options.unmatched = .passThrough }
    return MockInterceptor(
      options, within: outer?.mock, context: TaskContext(), location: location, stubs: stubs)
  }
}

extension MockScope {
  /// Counts requests of this scope's sessions after its end; the current scope at that time reports them.
  func watchForLateUse() {
    registry.afterInvalidation = { [location = mock.location] _ in
      // Outside a scope, and in code left running by this one, the error of the request suffices.
      guard let current = Self.current, !current.isEnded else { return }
      current.state.withLock { $0.lateUses[location, default: 0] += 1 }
    }
  }

  /// The reports on sessions of scopes that have ended.
  func lateUseReports(_ uses: [MockSourceLocation: Int]) -> [String] {
    uses.sorted { "\($0.key)" < "\($1.key)" }.map { location, count in
      """
      A session of the mock made at \(location) was used \(count == 1 ? "once" : "\(count) times") after its scope \
      ended, so its requests fail. A global, a static or an object that outlives its test holds the session. Create \
      the session in each test, or pass it to the code as a parameter. If a client in a `static let` cannot be \
      changed, create it with its own session, and pass that session to each test with `.mocked(intercepting: …)`.
      """
    }
  }
}
