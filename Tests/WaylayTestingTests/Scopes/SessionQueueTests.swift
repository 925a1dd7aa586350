import Testing
import WaylayMocks

@testable import WaylayTesting

@Suite("The queue for sessions of the whole process", .timeLimit(.minutes(5)))
struct SessionQueueTests {
  private static let place = MockSourceLocation(fileID: #fileID, filePath: #filePath, line: 1, column: 1)

  @Test("one at a time, in the order in which they asked")
  func order() async throws {
    let queue = SessionQueue()
    var last = try await queue.take(for: Self.place)
    let order = Locked<[Int]>([])
    let tasks = (0..<5).map { number in
      Task {
        let permit = try await queue.take(for: Self.place)
        order.withLock { $0.append(number) }
        queue.release(permit)
      }
    }
    while queue.waiting < 5 { await Task.yield() }
    queue.release(last)
    for task in tasks { try await task.value }
    #expect(order.withLock { Set($0) } == Set(0..<5))
    last = try queue.takeAtOnce(for: Self.place)
    queue.release(last)
    #expect(queue.holder == nil)
  }

  @Test("a wait ends with its task, and leaves nothing behind")
  func cancelled() async throws {
    let queue = SessionQueue()
    let held = try await queue.take(for: Self.place)
    let waiter = Task { try await queue.take(for: Self.place) }
    while queue.waiting == 0 { await Task.yield() }
    waiter.cancel()
    await #expect(throws: CancellationError.self) { _ = try await waiter.value }
    #expect(queue.waiting == 0)
    queue.release(held)
    #expect(queue.holder == nil)
  }

  @Test("a wait ends when the same one has had the sessions for too long, and names it")
  func stuck() async throws {
    let clock = MockClock()
    let queue = SessionQueue(limit: .seconds(300), clock: clock)
    let held = try await queue.take(for: Self.place)
    let waiter = Task { try await queue.take(for: Self.place) }
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(300))
    let error = await #expect(throws: SessionQueue.Stuck.self) { _ = try await waiter.value }
    #expect(error?.holder == held)
  }

  @Test("a long queue whose members come and go is not stuck")
  func moving() async throws {
    let clock = MockClock()
    let queue = SessionQueue(limit: .seconds(300), clock: clock)
    let first = try await queue.take(for: Self.place)
    let second = Task { try await queue.take(for: Self.place) }
    while queue.waiting < 1 { await Task.yield() }
    let third = Task { try await queue.take(for: Self.place) }
    try await clock.waitForSleepers(2)
    queue.release(first)
    let held = try await second.value
    clock.advance(by: .seconds(300))
    try await clock.waitForSleepers()
    queue.release(held)
    let last = try await third.value
    queue.release(last)
  }
}
