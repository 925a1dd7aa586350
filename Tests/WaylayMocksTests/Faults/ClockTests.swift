import Foundation
import TestSupport
import Testing
import WaylayCore
import WaylayMocks

@Suite("A clock for tests", .timeLimit(.minutes(5))) struct ClockTests {
  @Test("sleepers wake when the time has come, the earliest first")
  func order() async throws {
    let clock = MockClock()
    async let late: Void = clock.sleep(for: .seconds(3))
    async let early: Void = clock.sleep(for: .seconds(1))
    try await clock.waitForSleepers(2)
    clock.advance(by: .seconds(1))
    try await early
    #expect(clock.now == MockClock.Instant(offset: .seconds(1)))
    #expect(clock.sleepers == 1)
    clock.advance(by: .milliseconds(1999))
    #expect(clock.sleepers == 1)
    clock.advance(by: .milliseconds(1))
    try await late
    #expect(clock.sleepers == 0)
    #expect(clock.now.offset == .seconds(3))
  }

  @Test("a sleep that is cancelled ends at once and leaves nothing")
  func cancelled() async throws {
    let clock = MockClock()
    let task = Task { try await clock.sleep(for: .seconds(1)) }
    try await clock.waitForSleepers()
    task.cancel()
    #expect(clock.sleepers == 0)
    await #expect(throws: CancellationError.self) { try await task.value }
    let waiter = Task { try await clock.waitForSleepers(5) }
    waiter.cancel()
    await #expect(throws: CancellationError.self) { try await waiter.value }
  }

  @Test("a sleep until a time that is over does not wait, nor does one on an automatic clock")
  func noWait() async throws {
    let clock = MockClock()
    clock.advance(by: .seconds(5))
    clock.advance(by: .seconds(-5))
    try await clock.sleep(until: MockClock.Instant(offset: .seconds(5)))
    let automatic = MockClock(isAutomatic: true)
    try await automatic.sleep(for: .seconds(1 << 20))
    #expect(automatic.now.offset == .seconds(1 << 20))
    try await automatic.sleep(until: MockClock.Instant(offset: .zero))
    #expect(automatic.now.offset == .seconds(1 << 20))
  }

  @Test("many sleepers, cancelled and woken at once, all end")
  func crossing() async throws {
    let clock = MockClock()
    let tasks = (1...200).map { number in Task { try await clock.sleep(for: .seconds(number % 7 + 1)) } }
    try await clock.waitForSleepers(200)
    await withTaskGroup { group in
      group.addTask { for _ in 0..<7 { clock.advance(by: .seconds(1)) } }
      group.addTask { for task in tasks where Bool.random() { task.cancel() } }
    }
    for task in tasks { _ = await task.result }
    #expect(clock.sleepers == 0)
  }

  @Test("Waiting for sleepers ends, and says what to look for")
  func missingSleepers() async throws {
    let clock = MockClock()
    let error = await failure { try await clock.waitForSleepers(2, timeout: .milliseconds(20)) } as? MockError
    #expect(error?.code == .sleepersMissing)
    #expect(error?.message.contains("0 of 2 sleepers") == true)
  }
}
