import WaylayMocks

/// A FIFO queue for hard-wired sessions, which are shared by the process: one scope at a time holds the permit.
///
/// A wait ends when its task is cancelled, or when the same scope holds the permit for longer than the limit.
final class SessionQueue: Sendable {
  /// The queue of this process.
  static let shared = SessionQueue()

  /// The right to intercept hard-wired sessions, granted or queued.
  struct Permit: Sendable, Equatable {
    let number: UInt64
    /// The location of the scope's mock.
    let location: MockSourceLocation
  }

  /// A scope has held the permit for too long.
  struct Stuck: Error {
    let holder: Permit
    let limit: Duration
  }

  struct State {
    /// The permit in use, followed by the queued ones.
    var queue: [Permit] = []
    var last: UInt64 = 0
    var waiters = Waiters()
  }

  private let state = Locked(State())
  private let limit: Duration
  private let clock: any Clock<Duration>

  /// - Parameter limit: How long a scope may hold the permit before the waits of other scopes fail.
  init(limit: Duration = .seconds(300), clock: any Clock<Duration> = ContinuousClock()) {
    (self.limit, self.clock) = (limit, clock)
  }

  var holder: Permit? { state.withLock { $0.queue.first } }

  /// The number of scopes that wait.
  var waiting: Int { state.withLock { max(0, $0.queue.count - 1) } }

  /// Waits for a permit.
  ///
  /// - Throws: `CancellationError`; ``Stuck``.
  func take(for location: MockSourceLocation) async throws -> Permit {
    let permit = enqueue(location)
    guard holder != permit else { return permit }
    do {
      try await withThrowingTaskGroup { group in
        group.addTask { try await self.wait(for: permit) }
        group.addTask { try await self.watch() }
        defer { group.cancelAll() }
        try await group.next()
      }
      return permit
    } catch {
      release(permit)
      throw error
    }
  }

  /// Takes the permit if it is free.
  func takeAtOnce(for location: MockSourceLocation) throws(Stuck) -> Permit {
    let permit = enqueue(location)
    guard let holder, holder != permit else { return permit }
    release(permit)
    throw Stuck(holder: holder, limit: .zero)
  }

  /// Releases a permit, or ends the wait for it. A second call does nothing.
  func release(_ permit: Permit) {
    state.change(waking: \.waiters) { $0.queue.removeAll { $0 == permit } }
  }

  private func enqueue(_ location: MockSourceLocation) -> Permit {
    state.withLock { state in
      state.last += 1
      let permit = Permit(number: state.last, location: location)
      state.queue.append(permit)
      return permit
    }
  }

  private func wait(for permit: Permit) async throws {
    while holder != permit {
      try Task.checkCancellation()
      await state.wait(at: \.waiters) { $0.queue.first == permit }
    }
    try Task.checkCancellation()
  }

  /// Throws if the same scope holds the permit for the whole limit.
  private func watch() async throws {
    while true {
      let before = holder
      try await clock.sleep(for: limit)
      if let before, holder == before { throw Stuck(holder: before, limit: limit) }
    }
  }
}
