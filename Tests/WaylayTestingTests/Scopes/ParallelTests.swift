import Foundation
import TestSupport
import Testing
import WaylayTesting

/// Tests that run side by side and ask for one URL, each with an answer of its own.
@Suite("Side by side", .timeLimit(.minutes(10)))
struct ParallelTests {
  /// 200 tests as Swift Testing runs them.
  @Test("200 tests, one URL, 200 answers", .mocked(), arguments: 0..<200)
  func tests(number: Int) async throws {
    let handle = MockInterceptor.current.add {
      Stub(.get, "https://api.example.com/users/1", .text("answer \(number)"))
    }
    try await Self.askEverywhere(for: "answer \(number)")
    #expect(handle.count == Self.asked)
    #expect(MockInterceptor.current.requests.count == Self.asked)
  }

  /// In a process of its own, because 200 sessions hold 400 descriptors (platform fact U12).
  @Test("200 scopes at once, round after round", .exitTest)
  func rounds() async {
    await #expect(processExitsWith: .success) {
      Process.limit()
      var wrong = 0
      for round in 0..<Sizes.of(100, small: 8) {
        let meeting = Meeting(of: 200)
        wrong += await withTaskGroup { group in
          for number in 0..<200 {
            group.addTask {
              await withMock {
                Stub(.get, "https://api.example.com/users/1", .text("\(round).\(number)"))
              } operation: {
                await meeting.arrive()
                do {
                  try await ParallelTests.askEverywhere(for: "\(round).\(number)")
                  return MockInterceptor.current.requests.count == ParallelTests.asked ? 0 : 1
                } catch {
                  return 1
                }
              }
            }
          }
          return await group.reduce(0, +)
        }
      }
      #expect(wrong == 0)
      try #require(wrong == 0)
    }
  }

  /// How often `askEverywhere` asks.
  static let asked = 5

  /// Asks with the session of the scope, in helpers, in child tasks, in an unstructured one, and with a session made
  /// from the configuration.
  static func askEverywhere(for answer: String) async throws {
    try await ask(for: answer)
    async let child: Void = ask(for: answer)
    async let grandchild: Void = withThrowingTaskGroup { group in
      group.addTask { try await ask(for: answer) }
      try await group.waitForAll()
    }
    async let unstructured: Void = Task { try await ask(for: answer) }.value
    let session = URLSession(configuration: .mocked)
    let name = try await UserClient(session: session).name(of: 1)
    try #require(name == answer)
    _ = try await (child, grandchild, unstructured)
  }

  private static func ask(for answer: String) async throws {
    let name = try await UserClient(session: .mocked).name(of: 1)
    try #require(name == answer)
  }
}

/// Holds tasks back until so many have arrived.
final class Meeting: Sendable {
  private struct State {
    var missing: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Locked<State>

  init(of count: Int) {
    state = Locked(State(missing: count))
  }

  func arrive() async {
    await withCheckedContinuation { continuation in
      let released = state.withLock { state in
        state.missing -= 1
        state.waiting.append(continuation)
        guard state.missing <= 0 else { return [CheckedContinuation<Void, Never>]() }
        defer { state.waiting = [] }
        return state.waiting
      }
      for continuation in released { continuation.resume() }
    }
  }
}
