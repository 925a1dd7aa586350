import Dispatch

/// Verifies that scopes intercept their sessions, once per process and kind of session.
struct InterceptionCheck: Sendable {
  static let shared = InterceptionCheck()

  private let results = Locked<[Bool: Task<Void, any Error>]>([:])
  var verify: @Sendable (URLSession) async throws -> Void = { try await $0.verifyInterception() }

  /// Throws if a session of a scope that has begun is not intercepted.
  func callAsFunction(_ scope: MockScope) async throws {
    for session in [scope.session] + scope.hardWired.sessions.filter({ $0 === URLSession.shared }) {
      let isShared = session === URLSession.shared
      let task = results.withLock { results in
        // Detached: the first test must not cancel the task, which is for all tests of the process.
        let task = results[isShared] ?? Task.detached { [verify] in try await verify(session) }
        results[isShared] = task
        return task
      }
      try await task.value
    }
  }

  /// Reports the failure in a test that cannot be prevented from running.
  func report(_ scope: MockScope) async {
    do { try await self(scope) } catch { IssueReport.report("\(error)", at: scope.mock.location) }
  }

  /// Reports the failure, for synchronous code.
  func reportAtOnce(_ scope: MockScope) {
    let isDone = DispatchSemaphore(value: 0)
    Task.detached {
      await report(scope)
      isDone.signal()
    }
    isDone.wait()
  }
}
