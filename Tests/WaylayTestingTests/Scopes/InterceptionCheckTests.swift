import Foundation
import TestSupport
import Testing
import WaylayCore

@testable import WaylayTesting

@Suite("Mocked scopes find out whether the loading system asks them", .timeLimit(.minutes(10)))
struct InterceptionCheckTests {
  @Test("once per kind of session, however many scopes and tests at once")
  func once() async throws {
    let sessions = Locked<[Bool]>([])
    let check = InterceptionCheck(verify: { session in sessions.withLock { $0.append(session === URLSession.shared) } })
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask {
          let scope = MockScope(MockInterceptor())
          await #expect(throws: Never.self) { try await check(scope) }
        }
      }
    }
    let scope = MockScope(MockInterceptor(), intercepting: [.shared])
    await #expect(throws: Never.self) { try await check(scope) }
    #expect(sessions.withLock { $0 } == [false, true])
  }

  @Test("a failure is that of each test, and is found out once")
  func failure() async throws {
    let count = Locked(0)
    let check = InterceptionCheck(verify: { _ in
      count.withLock { $0 += 1 }
      throw WaylayError(.notIntercepted, "deaf")
    })
    for _ in 0..<3 {
      let error = await #expect(throws: WaylayError.self) { try await check(MockScope(MockInterceptor())) }
      #expect(error?.code == .notIntercepted)
    }
    #expect(count.withLock { $0 } == 1)
  }

  @Test("the session of a scope passes, and its mock knows nothing of the probe")
  func real() async throws {
    let scope = MockScope(MockInterceptor())
    try await InterceptionCheck()(scope)
    #expect(scope.mock.requests.isEmpty)
    scope.close()
  }

  @Test("on Linux no scope asks", .enabled(if: Platform.isLinux, "Apple platforms may have another loader"))
  func free() {
    #expect(!ScopeSession.isVerified)
  }
}
