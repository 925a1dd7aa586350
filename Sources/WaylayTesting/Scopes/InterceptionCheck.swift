import Dispatch

/// Whether the loading system asks the mocks of scopes: found out once per process and kind of session.
struct InterceptionCheck: Sendable {
  static let shared = InterceptionCheck()

  private let results = Locked<[Bool: Task<WaylayError?, Never>]>([:])
  var verify: @Sendable (URLSession) async throws -> Void = { try await $0.verifyInterception() }

  /// Throws what is wrong with the sessions of a scope that has begun.
  func callAsFunction(_ scope: MockScope) async throws {
    for session in [scope.session] + scope.hardWired.sessions.filter({ $0 === URLSession.shared }) {
      let task = results.withLock { results in
        let kind = session === URLSession.shared
        if let known = results[kind] { return known }
        // Detached: it is the process's, and not to be cancelled with the first test.
        let task = Task.detached { [verify] () -> WaylayError? in
          do { try await verify(session) } catch { return error as? WaylayError }
          return nil
        }
        results[kind] = task
        return task
      }
      if let problem = await task.value { throw problem }
    }
  }

  /// Reports it in a test that cannot be kept from running.
  func report(_ scope: MockScope) async {
    do { try await self(scope) } catch { IssueReport.report("\(error)", at: scope.mock.location) }
  }

  /// The same for code that cannot wait.
  func reportAtOnce(_ scope: MockScope) {
    let isDone = DispatchSemaphore(value: 0)
    Task.detached {
      await report(scope)
      isDone.signal()
    }
    isDone.wait()
  }
}
