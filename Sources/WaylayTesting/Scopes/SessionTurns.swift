import WaylayMocks

/// The turns of the scopes that have sessions which are one for the process: one scope has them at a time, in the order
/// in which they asked.
///
/// A wait ends with the cancellation of whoever waits, and when nobody has given back for so long that nobody will.
final class SessionTurns: Sendable {
  /// Those of this process.
  static let shared = SessionTurns()

  /// What a scope has, or waits for.
  struct Turn: Sendable, Equatable {
    let number: UInt64
    /// Where its mock was made.
    let location: MockSourceLocation

    static func == (one: Turn, other: Turn) -> Bool { one.number == other.number }
  }

  /// The same scope has had the sessions for too long.
  struct Stuck: Error {
    let holder: Turn
    let limit: Duration
  }

  struct State {
    /// Who has the sessions, and then those who wait.
    var queue: [Turn] = []
    var last: UInt64 = 0
    var waiters = Waiters()
  }

  private let state = Locked(State())
  private let limit: Duration
  private let clock: any Clock<Duration>

  /// - Parameter limit: How long one scope may have the sessions before the others give up waiting for it.
  init(limit: Duration = .seconds(300), clock: any Clock<Duration> = ContinuousClock()) {
    (self.limit, self.clock) = (limit, clock)
  }

  /// Who has the sessions now.
  var holder: Turn? { state.withLock { $0.queue.first } }

  /// How many wait.
  var waiting: Int { state.withLock { max(0, $0.queue.count - 1) } }

  /// Waits for its turn.
  ///
  /// - Throws: `CancellationError`; ``Stuck``.
  func take(for location: MockSourceLocation) async throws -> Turn {
    let turn = enqueue(location)
    guard holder != turn else { return turn }
    do {
      try await withThrowingTaskGroup { group in
        group.addTask { try await self.wait(for: turn) }
        group.addTask { try await self.watch() }
        defer { group.cancelAll() }
        try await group.next()
      }
      return turn
    } catch {
      giveBack(turn)
      throw error
    }
  }

  /// Its turn, if it can be had at once.
  func takeAtOnce(for location: MockSourceLocation) throws(Stuck) -> Turn {
    let turn = enqueue(location)
    guard let holder, holder != turn else { return turn }
    giveBack(turn)
    throw Stuck(holder: holder, limit: .zero)
  }

  /// Ends a turn, or the wait for it. A second call does nothing.
  func giveBack(_ turn: Turn) {
    let waiters = state.withLock { state in
      state.queue.removeAll { $0 == turn }
      return state.waiters.takeAll()
    }
    waiters.wake()
  }

  private func enqueue(_ location: MockSourceLocation) -> Turn {
    state.withLock { state in
      state.last += 1
      let turn = Turn(number: state.last, location: location)
      state.queue.append(turn)
      return turn
    }
  }

  private func wait(for turn: Turn) async throws {
    while holder != turn {
      try Task.checkCancellation()
      await state.wait(at: \.waiters) { $0.queue.first == turn }
    }
    try Task.checkCancellation()
  }

  /// Throws when the same scope has had the sessions for the whole of the limit.
  private func watch() async throws {
    while true {
      let before = holder
      try await clock.sleep(for: limit)
      if let before, holder == before { throw Stuck(holder: before, limit: limit) }
    }
  }
}
