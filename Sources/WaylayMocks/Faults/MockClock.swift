/// A clock whose time a test advances.
///
/// ```swift
/// let clock = MockClock()
/// let mock = MockInterceptor(.init(clock: clock)) { Stub(.get, "/slow", .text("done").delay(.seconds(30))) }
/// async let answer = session.data(from: url)
/// try await clock.waitForSleepers()
/// clock.advance(by: .seconds(30))
/// let (data, _) = try await answer
/// ```
///
/// A clock made with ``init(isAutomatic:)`` advances by itself, at once, whenever a task sleeps. Use a manual clock
/// to examine the state before a deadline, an automatic one if only the response matters. The clock drives the
/// delays of mocks, not the timeouts of the loading system, which are real.
public final class MockClock: Clock, Sendable {
  /// A point in time of a ``MockClock``.
  public struct Instant: InstantProtocol, CustomStringConvertible {
    /// The time since the clock was made.
    public let offset: Duration

    /// Makes the instant at the given offset from when the clock was made.
    public init(offset: Duration) {
      self.offset = offset
    }

    /// Returns the instant a duration later.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// Returns the time from this instant to another.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Whether the first instant is earlier than the second.
    public static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }

    /// The time since the clock was made.
    public var description: String { "\(offset)" }
  }

  fileprivate struct Sleeper {
    let deadline: Instant
    let promise: Promise<Void>
  }

  fileprivate struct State {
    var now = Instant(offset: .zero)
    var sleepers: [Sleeper] = []
    var waiters: [(count: Int, promise: Promise<Void>)] = []
  }

  private let state = Locked(State())
  private let isAutomatic: Bool

  /// Makes a clock.
  ///
  /// - Parameter isAutomatic: Whether sleeping advances the time by itself.
  public init(isAutomatic: Bool = false) {
    self.isAutomatic = isAutomatic
  }

  /// The current time.
  public var now: Instant { state.withLock { $0.now } }

  /// Zero: all instants are distinguishable.
  public var minimumResolution: Duration { .zero }

  /// The number of sleepers waiting for the time to advance.
  public var sleepers: Int { state.withLock { $0.sleepers.count } }

  /// The earliest deadline of the sleepers.
  package var nextDeadline: Instant? { state.withLock { $0.sleepers.map(\.deadline).min() } }

  /// Sleeps until the deadline.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled, which ends the sleep.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    if isAutomatic {
      state.withLock { $0.now = max($0.now, deadline) }
      return await Task.yield()
    }
    let promise = Promise<Void>()
    try await promise.valueUnlessCancelled {
      let (isOver, waiters) = state.withLock { state -> (Bool, [Promise<Void>]) in
        guard deadline > state.now else { return (true, []) }
        state.sleepers.append(Sleeper(deadline: deadline, promise: promise))
        return (false, state.takeWaiters())
      }
      if isOver { promise.settle(.success(())) }
      for waiter in waiters { waiter.settle(.success(())) }
    } onCancel: {
      state.withLock { state in state.sleepers.removeAll { $0.promise === promise } }
    }
  }

  /// Advances the time, and wakes the sleepers whose deadline has come, the earliest first.
  public func advance(by duration: Duration) {
    let due = state.withLock { state -> [Sleeper] in
      state.now = state.now.advanced(by: max(duration, .zero))
      let now = state.now
      let due = state.sleepers.filter { $0.deadline <= now }
      state.sleepers.removeAll { $0.deadline <= now }
      return due.sorted { $0.deadline < $1.deadline }
    }
    for sleeper in due { sleeper.promise.settle(.success(())) }
  }

  /// Waits until at least the given number of sleepers sleep at the same time, when the delay that a test is about has
  /// begun.
  ///
  /// - Parameters:
  ///   - count: The number of sleepers.
  ///   - timeout: How long to wait, in real time.
  /// - Throws: `MockError.sleepersMissing` after the timeout; `CancellationError` when the task is cancelled, for
  ///   example by a test's time limit.
  public func waitForSleepers(_ count: Int = 1, timeout: Duration = .seconds(60)) async throws {
    guard try await ContinuousClock().value(within: timeout, of: { try await self.sleepersAreThere(count) }) != nil
    else {
      throw MockError(
        .sleepersMissing,
        """
        \(sleepers) of \(count) sleepers slept on the mock's clock within \(timeout). Check that the code was \
        started and waits on this clock, and that the clock is not automatic.
        """)
    }
  }

  private func sleepersAreThere(_ count: Int) async throws {
    let promise = Promise<Void>()
    try await promise.valueUnlessCancelled {
      let isThere = state.withLock { state in
        let isThere = state.sleepers.count >= count
        if !isThere { state.waiters.append((count, promise)) }
        return isThere
      }
      if isThere { promise.settle(.success(())) }
    } onCancel: {
      state.withLock { state in state.waiters.removeAll { $0.promise === promise } }
    }
  }
}

extension MockClock.State {
  /// Removes and returns the waiters whose number of sleepers is reached.
  fileprivate mutating func takeWaiters() -> [Promise<Void>] {
    let count = sleepers.count
    defer { waiters.removeAll { $0.count <= count } }
    return waiters.filter { $0.count <= count }.map(\.promise)
  }
}
