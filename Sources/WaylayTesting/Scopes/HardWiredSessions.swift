import Testing
public import WaylayMocks

/// Intercepts sessions that the code under test hard-codes, for the duration of a scope.
///
/// On Linux, the task of a request determines its scope, and requests of other tests to the same session are not
/// affected. A request from outside any task, for example from a queue, belongs to the scope that holds the permit. On
/// Apple platforms, where the task is unknown, all requests belong to the scope that holds the permit.
final class HardWiredSessions: Sendable {
  private struct State {
    var permit: SessionQueue.Permit?
    var isEnded = false
    var interceptions: [SharedSessionInterception] = []
    var unattributed: InterceptorRegistry?
  }

  /// The sessions of this scope and of outer scopes.
  let sessions: [URLSession]
  private let location: MockSourceLocation
  /// Whether an outer scope holds the permit.
  private let isInside: Bool
  private let test = Test.current?.id
  private let state = Locked(State())

  init(_ own: [URLSession], location: MockSourceLocation) {
    let outer = MockScope.current.flatMap { $0.isEnded ? nil : $0.hardWired }
    var sessions = outer?.sessions ?? []
    for session in own where !sessions.contains(where: { $0 === session }) { sessions.append(session) }
    self.sessions = sessions
    self.location = location
    isInside = outer?.hasPermit ?? false
  }

  /// Whether this scope or an outer one holds the permit.
  private var hasPermit: Bool { isInside || state.withLock { $0.permit != nil } }

  /// Waits until no other scope intercepts hard-coded sessions.
  func waitForPermit() async {
    guard !sessions.isEmpty, !isInside else { return }
    do {
      let permit = try await SessionQueue.shared.take(for: location)
      state.withLock { $0.permit = permit }
    } catch let stuck as SessionQueue.Stuck {
      IssueReport.report(
        """
        This test waited \(stuck.limit) for its turn with the hard-wired sessions, which the mock made at \
        \(stuck.holder.location) still holds. It now runs without its turn. A test must not wait, in a detached task, \
        for another test that needs them.
        """, at: location)
    } catch {
      // Cancelled: the test has ended and reports the reason.
    }
  }

  /// Takes the permit without waiting, for synchronous code.
  func takePermitAtOnce() {
    guard !sessions.isEmpty, !isInside else { return }
    do throws(SessionQueue.Stuck) {
      let permit = try SessionQueue.shared.takeAtOnce(for: location)
      state.withLock { $0.permit = permit }
    } catch {
      IssueReport.report(
        """
        Another test holds the hard-wired sessions: the mock made at \(error.holder.location) has them. Synchronous \
        code cannot wait for its turn. Use the trait `.mocked(intercepting: …)` or \
        `await withMock(intercepting: …)`.
        """, at: location)
    }
  }

  /// Starts intercepting the sessions.
  func begin(_ scope: MockScope) {
    guard !sessions.isEmpty else { return }
    LateRequests.refuse(of: sessions)
    let unattributed = InterceptorRegistry(configuration: .ephemeral)
    unattributed.register(InterceptorChain(.default, for: .any) { UnattributedRequests(mock: scope.mock) })
    let isUnattributed: @Sendable (URLRequest) -> Bool = { [test] _ in
      // Another test's request is not for this mock.
      MockScope.current == nil && (Test.current == nil || Test.current?.id == test)
    }
    let (others, isComplete) = unattributed.intercept(sessions, where: isUnattributed)
    let (own, _) = scope.registry.intercept(sessions) { [weak scope] _ in
      scope.map { MockScope.current === $0 } ?? false
    }
    let isLate = state.withLock { state in
      (state.interceptions, state.unattributed) = ([others, own], unattributed)
      return state.isEnded
    }
    if isLate { end() }
    if !isComplete { IssueReport.report(Self.unreachable, at: location) }
  }

  /// Ends the interception and releases the permit.
  func end() {
    let ended = state.withLock { exchange(&$0, with: State(isEnded: true)) }
    for interception in ended.interceptions.reversed() { interception.end() }
    ended.unattributed?.invalidate()
    if let permit = ended.permit { SessionQueue.shared.release(permit) }
  }

  private static let unreachable = """
    On Apple platforms, a mock cannot intercept an existing session other than URLSession.shared, because the \
    session's configuration is a copy. Inject the session or its configuration into the code, and pass \
    URLSession.mocked or URLSessionConfiguration.mocked.
    """
}

/// Answers requests that come from no task of a test, and mentions that in the report of an unmatched one.
private struct UnattributedRequests: InlineResponding, GuardingInterceptor {
  let mock: MockInterceptor

  var name: String { mock.name }
  var takesPartInNestedRequests: Bool { true }

  func validate(webSocket request: URLRequest) throws { try mock.validate(webSocket: request) }

  func respondInline(_ request: InterceptedRequest) throws -> InlineResponse { mock.respondInline(noted(request)) }

  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    try await mock.startLoading(noted(request), next: next)
  }

  private func noted(_ request: InterceptedRequest) -> InterceptedRequest {
    var request = request
    request[UnmatchedRemark.self] = """
      The request came from a hard-wired session, outside any test's task, so it was attributed to this test, which \
      currently holds such sessions. If a test that runs in parallel made the request, give that test \
      `.mocked(intercepting: …)` as well: the tests then take turns, and each gets its own requests. If this \
      test's code made it, on a queue or in a detached task, add a stub. Best of all, inject the session into the \
      code.
      """
    return request
  }
}

/// Observes requests to `URLSession.shared` inside scopes, without answering them.
enum SharedSessionWatch {
  private static let registry = InterceptorRegistry(configuration: .ephemeral)
  private static let isWatching: Void = {
    _ = registry.intercept([.shared]) { request in
      let open = MockScope.current.map { $0.isEnded ? [] : [$0] } ?? OpenScopes.scopes
      if open.count == 1 { open[0].noteShared(request) }
      return false
    }
  }()

  /// Starts observing, for the rest of the process.
  static func begin() { isWatching }
}

/// Fails requests to hard-coded sessions by code that runs after its scope has ended.
private enum LateRequests {
  private struct Known {
    weak var session: URLSession?
  }

  private static let known = Locked<[ObjectIdentifier: Known]>([:])
  private static let registry: InterceptorRegistry = {
    let registry = InterceptorRegistry(configuration: .ephemeral)
    registry.register(InterceptorChain(.default, for: .any) { Refusal() })
    return registry
  }()

  /// Makes the sessions refuse such requests for the rest of their lifetime.
  static func refuse(of sessions: [URLSession]) {
    let new = known.withLock { known in
      known = known.filter { $0.value.session != nil }
      let new = sessions.filter { known[ObjectIdentifier($0)]?.session !== $0 }
      for session in new { known[ObjectIdentifier(session)] = Known(session: session) }
      return new
    }
    guard !new.isEmpty else { return }
    _ = registry.intercept(new) { request in
      guard let scope = MockScope.current, scope.isEnded, !scope.hardWired.sessions.isEmpty else { return false }
      IssueReport.report(message(request.url))
      return true
    }
  }

  private static func message(_ url: URL?) -> String {
    """
    A hard-wired session received a request for \(url?.redacted ?? "a URL") after the end of its scope: a task or \
    other work that the test left running made it. The request failed; nothing was sent. In the test, wait for the \
    work it starts.
    """
  }

  private struct Refusal: InlineResponding {
    var takesPartInNestedRequests: Bool { true }

    func respondInline(_ request: InterceptedRequest) throws -> InlineResponse {
      throw URLError.outsideMockScope(message(request.url), name, request)
    }
  }
}

extension URLSession {
  /// Returns the sessions in the stored properties of a value, including private and nested ones.
  ///
  /// Use it for the sessions that a client makes itself and does not expose:
  ///
  /// ```swift
  /// @Test(.mocked(intercepting: URLSession.sessions(in: CatalogClient.shared)) { Stub(.get, "/catalog", .json(["items": 3])) })
  /// func catalog() async throws { … }
  /// ```
  ///
  /// A lazy property that was not used yet holds no session, and sessions captured by closures are not found. The
  /// search goes eight levels deep. If it finds no session, that is an issue of the running test.
  ///
  /// - Parameter value: A client, or a value that contains one.
  /// - Returns: Each session once, in the order of the properties.
  public static func sessions(in value: Any) -> [URLSession] {
    var found: [URLSession] = []
    var seen: Set<ObjectIdentifier> = []
    search(value, depth: 0, &found, &seen)
    if found.isEmpty {
      IssueReport.report(
        """
        No session was found in a \(type(of: value)): a lazy property holds none before its first use, and sessions \
        that closures capture are not found.
        """)
    }
    return found
  }

  private static func search(_ value: Any, depth: Int, _ found: inout [URLSession], _ seen: inout Set<ObjectIdentifier>)
  {
    if let session = value as? URLSession {
      if !found.contains(where: { $0 === session }) { found.append(session) }
      return
    }
    guard depth < 8 else { return }
    if type(of: value) is AnyClass {
      guard seen.insert(ObjectIdentifier(value as AnyObject)).inserted else { return }
    }
    var mirror: Mirror? = Mirror(reflecting: value)
    while let level = mirror {
      for child in level.children { search(child.value, depth: depth + 1, &found, &seen) }
      mirror = level.superclassMirror
    }
  }
}
