public import WaylayMocks

/// The mock of one test, with the registry and the session that are bound to it.
///
/// The trait
/// ``Testing/Trait/mocked(unmatched:clock:bodyLimit:showing:hardWiredSessions:fileID:filePath:line:column:_:)`` and
/// `withMock` make one for the test or the closure they surround, and end it afterwards. Inside, ``current`` finds it,
/// in child tasks and in unstructured tasks too:
///
/// ```swift
/// @Test(.mocked { Stub(.get, "https://api.example.com/users/1") { .json(["name": "Ada"]) } })
/// func name() async throws {
///   let client = UserClient(session: .mocked)
///   #expect(try await client.name(of: 1) == "Ada")
/// }
/// ```
///
/// A scope has a registry of its own, so two tests that run in parallel with different answers for one URL do not meet,
/// whichever tasks and helpers make their sessions.
///
/// Task-locals end at `Task.detached`, at dispatch queues and at threads. Code that runs there uses a session that was
/// made before, or is given the scope:
///
/// ```swift
/// let scope = try #require(MockScope.current)
/// await Task.detached {
///   await MockScope.$current.withValue(scope) { await synchronise(.mocked) }
/// }.value
/// ```
///
/// Where nothing can surround the test, make a scope by hand:
/// ``init(unmatched:clock:bodyLimit:showing:hardWiredSessions:fileID:filePath:line:column:endingWith:_:)``.
public final class MockScope: Sendable {
  private struct State {
    var session: URLSession?
    /// What the sessions are made from: those of one configuration share its cookies and credentials.
    var configuration: URLSessionConfiguration?
    var isEnded = false
    /// Its number among those that are open.
    var number: UInt64?
    /// How often sessions of scopes that have ended were used in this one, by the place of their mock.
    var lateUses: [MockSourceLocation: Int] = [:]
  }

  /// The innermost scope round the current task; `nil` outside of every scope.
  @TaskLocal public static var current: MockScope?

  /// The stubs of this scope, and what they were asked.
  public let mock: MockInterceptor
  /// What requests are played from that no stub is for, or recorded to; `nil` for a scope without one.
  public let cassette: Cassette?
  /// What the scope's sessions run through: its mock, then its cassette, and nothing else. Its direct loads
  /// (`registry.data(for:)`) are mocked as well.
  public let registry: InterceptorRegistry
  /// The sessions that the code takes from nowhere.
  let hardWired: HardWiredSessions
  private let state = Locked(State())

  init(
    mock: MockInterceptor, registry: InterceptorRegistry, hardWiredSessions: [URLSession] = [],
    cassette: Cassette? = nil
  ) {
    self.cassette = cassette
    self.mock = mock
    self.registry = registry
    hardWired = HardWiredSessions(hardWiredSessions, location: mock.location)
  }

  /// - Parameter cassette: The cassette of this scope, or of the one round it.
  convenience init(
    _ mock: MockInterceptor, hardWiredSessions: [URLSession] = [], cassette: Cassette? = MockScope.surrounding?.cassette
  ) {
    let registry = InterceptorRegistry(configuration: .ephemeral)
    let links: [any RequestInterceptor] = [mock] + (cassette.map { [$0] } ?? [])
    // Whatever the scheme, and whoever asks, the stubs' own closures too: what is not answered here must not leave.
    registry.coverOwnRequests()
    registry.register(InterceptorChain(.default, for: .any) { links })
    self.init(mock: mock, registry: registry, hardWiredSessions: hardWiredSessions, cassette: cassette)
    watchForLateUse()
  }

  /// The scope round the current task, while it lasts.
  static var surrounding: MockScope? { current.flatMap { $0.isEnded ? nil : $0 } }

  deinit {
    close()
  }
}

extension MockScope {
  /// The scope's session. There is one, made when it is first asked for, because each holds two descriptors on Linux
  /// (platform fact U12).
  ///
  /// Code under test may invalidate it, in a `deinit` for example: the rest of the test's code can go on. On Linux the
  /// tasks then finish or are cancelled, and the session stays, because all share it; on Apple platforms each use of
  /// this property makes a session, with the cookies and credentials of the others.
  ///
  /// It has an ephemeral configuration: cookies and credentials are the scope's own. A session with a delegate, or with
  /// a configuration of one's own, is made from ``configuration(_:)``.
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

  /// A copy of a configuration, for sessions that this scope's mock answers.
  ///
  /// ```swift
  /// let configuration = URLSessionConfiguration.ephemeral
  /// configuration.httpAdditionalHeaders = ["Accept-Language": "de"]
  /// let session = URLSession(configuration: scope.configuration(configuration), delegate: delegate, delegateQueue: nil)
  /// ```
  public func configuration(_ base: URLSessionConfiguration = .ephemeral) -> URLSessionConfiguration {
    base.intercepted(by: registry)
  }

  /// Runs what the scope surrounds, and ends the scope: inside, the scope is ``current``, and the closures of its stubs
  /// run as if they were there.
  ///
  /// - Parameters:
  ///   - operation: The code under test.
  ///   - printsErrors: Whether what the operation throws goes straight to the test library.
  ///   - missesAtTest: Whether the mock was made for more than this test, and its place would say nothing about it.
  ///   - cassette: The cassette that ends with the scope.
  ///   - finish: Called before the scope ends.
  nonisolated(nonsending) func surround<Result>(
    _ operation: () async throws -> Result, printsErrors: Bool = false, missesAtTest: Bool = false,
    cassette: Cassette? = nil,
    finish: () -> Void = {}
  ) async rethrows -> Result {
    await hardWired.waitForTurn()
    do {
      let result = try await Self.$current.withValue(self) {
        begin()
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

  /// The same for what is not asynchronous.
  func surround<Result>(_ operation: () throws -> Result, cassette: Cassette? = nil) rethrows -> Result {
    hardWired.takeTurnAtOnce()
    do {
      let result = try Self.$current.withValue(self) {
        begin()
        return try XCTestFailure.withoutRemark(operation)
      }
      end(cassette: cassette)
      return result
    } catch {
      end(throwing: error, cassette: cassette)
      throw reported(error)
    }
  }

  /// Has the scope answer, in the tasks that begin here.
  func begin() {
    let number = OpenScopes.add(mock.location)
    let isLate = state.withLock { state in
      if !state.isEnded { state.number = number }
      return state.isEnded
    }
    if isLate { OpenScopes.remove(number) }
    mock.environment.context?.begin()
    hardWired.begin(self)
  }

  /// Counts a use of a session of a scope that has ended.
  func noteLateUse(of location: MockSourceLocation) { state.withLock { $0.lateUses[location, default: 0] += 1 } }

  /// How often such sessions were used, by the place of their mock.
  var lateUses: [MockSourceLocation: Int] { state.withLock { $0.lateUses } }

  /// Whether the scope is over: its sessions fail their loads.
  public var isEnded: Bool { state.withLock { $0.isEnded } }

  /// Ends what the scope holds. Loads that run fail; so do later ones, without the network.
  ///
  /// The session is let go rather than invalidated: a task that outlives its test would end the process by using an
  /// invalidated one (platform fact U17).
  func close() {
    let (isFirst, number) = state.withLock { state in
      defer {
        state.isEnded = true
        state.session = nil
        state.number = nil
      }
      return (!state.isEnded, state.number)
    }
    guard isFirst else { return }
    if let number { OpenScopes.remove(number) }
    hardWired.end()
    registry.invalidate()
    mock.environment.context?.end()
  }
}
