import Testing
import WaylayMocks

/// The sessions that the code under test takes from nowhere, while one scope answers their requests.
///
/// Whose a request is, the platform tells where the request is made in the task of a test: then it is answered by the
/// mock of that test's scope, and what another test asks of the session goes its own way. What comes from no task, from
/// a queue for example, belongs to the scope whose turn it is. Where the platform tells nothing, on Apple platforms,
/// that holds for all requests.
final class HardWiredSessions: Sendable {
  private struct State {
    var turn: SessionTurns.Turn?
    var isEnded = false
    var interceptions: [SharedSessionInterception] = []
    var registries: [InterceptorRegistry] = []
  }

  /// The scope's own, and those of the scopes round it.
  let sessions: [URLSession]
  private let location: MockSourceLocation
  /// Whether a scope round this one has the turn.
  private let isInside: Bool
  private let test = Test.current?.id
  private let state = Locked(State())

  init(_ own: [URLSession], location: MockSourceLocation) {
    let outer = MockScope.current.flatMap { $0.isEnded ? nil : $0.hardWired }
    var sessions = outer?.sessions ?? []
    for session in own where !sessions.contains(where: { $0 === session }) { sessions.append(session) }
    self.sessions = sessions
    self.location = location
    isInside = outer?.hasTurn ?? false
  }

  /// Whether this scope or one round it has its turn.
  private var hasTurn: Bool { isInside || state.withLock { $0.turn != nil } }

  /// Waits until no other scope has such sessions.
  func waitForTurn() async {
    guard !sessions.isEmpty, !isInside else { return }
    do {
      let turn = try await SessionTurns.shared.take(for: location)
      state.withLock { $0.turn = turn }
    } catch let stuck as SessionTurns.Stuck {
      IssueReport.report(
        """
        This test waited \(stuck.limit) for its turn with the hard-wired sessions, which the mock made at \
        \(stuck.holder.location) still holds. It now runs without its turn. A test must not wait, in a detached task, \
        for another test that needs them.
        """, at: location)
    } catch {
      // Cancelled: whoever did it has said why.
    }
  }

  /// The same for code that cannot wait.
  func takeTurnAtOnce() {
    guard !sessions.isEmpty, !isInside else { return }
    do throws(SessionTurns.Stuck) {
      let turn = try SessionTurns.shared.takeAtOnce(for: location)
      state.withLock { $0.turn = turn }
    } catch {
      IssueReport.report(
        """
        Another test holds the hard-wired sessions: the mock made at \(error.holder.location) has them. Synchronous \
        code cannot wait for its turn. Use the trait `.mocked(hardWiredSessions: …)` or \
        `await withMock(hardWiredSessions: …)`.
        """, at: location)
    }
  }

  /// Has the scope answer its sessions.
  func begin(_ scope: MockScope) {
    guard !sessions.isEmpty else { return }
    intercept(sessions, for: scope)
  }

  /// Has the scope answer these sessions too, until it ends.
  func intercept(_ sessions: [URLSession], for scope: MockScope) {
    LateRequests.refuse(of: sessions)
    let strays = InterceptorRegistry(configuration: .ephemeral)
    strays.register(InterceptorChain(.default, for: .any) { StrayAnswers(mock: scope.mock) })
    let isStray: @Sendable (URLRequest) -> Bool = { [test] _ in
      // What another test asks is none of this one's business.
      MockScope.current == nil && (Test.current == nil || Test.current?.id == test)
    }
    let (ofNobody, isComplete) = strays.intercept(sessions, where: isStray)
    let (own, _) = scope.registry.intercept(sessions) { [weak scope] _ in
      scope.map { MockScope.current === $0 } ?? false
    }
    let isLate = state.withLock { state in
      guard !state.isEnded else { return true }
      state.interceptions += [ofNobody, own]
      state.registries.append(strays)
      return false
    }
    if isLate {
      for interception in [ofNobody, own] { interception.end() }
      strays.invalidate()
    }
    if !isComplete { IssueReport.report(Self.unreachable, at: location) }
  }

  /// Gives the sessions back as they were.
  func end() {
    let ended = state.withLock { state in
      state.isEnded = true
      defer { (state.turn, state.interceptions, state.registries) = (nil, [], []) }
      return state
    }
    for interception in ended.interceptions.reversed() { interception.end() }
    for registry in ended.registries { registry.invalidate() }
    if let turn = ended.turn { SessionTurns.shared.giveBack(turn) }
  }

  private static let unreachable = """
    On Apple platforms, a mock cannot intercept an existing session other than URLSession.shared, because the \
    session's configuration is a copy. Inject the session or its configuration into the code, and pass \
    URLSession.mocked or URLSessionConfiguration.mocked.
    """
}

/// Answers what came from no task of a test, and says so where no stub is for it.
private struct StrayAnswers: InlineAnswering, WebSocketValidating {
  let mock: MockInterceptor

  var name: String { mock.name }

  func validate(webSocket request: URLRequest) throws { try mock.validate(webSocket: request) }

  func answerInline(_ request: InterceptedRequest) throws -> InlineAnswer { mock.answerInline(noted(request)) }

  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    try await mock.startLoading(noted(request), next: next)
  }

  private func noted(_ request: InterceptedRequest) -> InterceptedRequest {
    var request = request
    request[MissRemark.self] = """
      The request came from a hard-wired session, outside any test's task, so it was attributed to this test, which \
      currently holds such sessions. If a test that runs in parallel made the request, give that test \
      `.mocked(hardWiredSessions: …)` as well: the tests then take turns, and each gets its own requests. If this \
      test's code made it, on a queue or in a detached task, add a stub. Best of all, inject the session into the \
      code.
      """
    return request
  }
}

/// Requests of hard-wired sessions by code that was left running by a scope that has ended: they fail.
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

  /// Has the sessions refuse such requests, for as long as they live: the code may go on for as long.
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

  private struct Refusal: InlineAnswering {
    func answerInline(_ request: InterceptedRequest) throws -> InlineAnswer {
      let cause = WaylayError(
        .outsideMockScope, message(request.url), interceptor: name, url: request.url, requestID: request.id)
      throw URLError(
        .resourceUnavailable, userInfo: [NSUnderlyingErrorKey: cause, NSLocalizedDescriptionKey: cause.message])
    }
  }
}
