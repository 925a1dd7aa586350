import Testing
import WaylayMocks

@testable import WaylayTesting

@Suite("Turns for sessions of the whole process", .timeLimit(.minutes(5)))
struct SessionTurnsTests {
  private static let place = MockSourceLocation(fileID: #fileID, filePath: #filePath, line: 1, column: 1)

  @Test("one at a time, in the order in which they asked")
  func order() async throws {
    let turns = SessionTurns()
    var last = try await turns.take(for: Self.place)
    let order = Locked<[Int]>([])
    let tasks = (0..<5).map { number in
      Task {
        let turn = try await turns.take(for: Self.place)
        order.withLock { $0.append(number) }
        turns.giveBack(turn)
      }
    }
    while turns.waiting < 5 { await Task.yield() }
    turns.giveBack(last)
    for task in tasks { try await task.value }
    #expect(order.withLock { Set($0) } == Set(0..<5))
    last = try turns.takeAtOnce(for: Self.place)
    turns.giveBack(last)
    #expect(turns.holder == nil)
  }

  @Test("a wait ends with its task, and leaves nothing behind")
  func cancelled() async throws {
    let turns = SessionTurns()
    let held = try await turns.take(for: Self.place)
    let waiter = Task { try await turns.take(for: Self.place) }
    while turns.waiting == 0 { await Task.yield() }
    waiter.cancel()
    await #expect(throws: CancellationError.self) { _ = try await waiter.value }
    #expect(turns.waiting == 0)
    turns.giveBack(held)
    #expect(turns.holder == nil)
  }

  @Test("a wait ends when the same one has had the sessions for too long, and names it")
  func stuck() async throws {
    let clock = MockClock()
    let turns = SessionTurns(limit: .seconds(300), clock: clock)
    let held = try await turns.take(for: Self.place)
    let waiter = Task { try await turns.take(for: Self.place) }
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(300))
    let error = await #expect(throws: SessionTurns.Stuck.self) { _ = try await waiter.value }
    #expect(error?.holder == held)
  }

  @Test("a long queue whose members come and go is not stuck")
  func moving() async throws {
    let clock = MockClock()
    let turns = SessionTurns(limit: .seconds(300), clock: clock)
    let first = try await turns.take(for: Self.place)
    let second = Task { try await turns.take(for: Self.place) }
    while turns.waiting < 1 { await Task.yield() }
    let third = Task { try await turns.take(for: Self.place) }
    try await clock.waitForSleepers(2)
    turns.giveBack(first)
    let held = try await second.value
    clock.advance(by: .seconds(300))
    try await clock.waitForSleepers()
    turns.giveBack(held)
    let last = try await third.value
    turns.giveBack(last)
  }
}
