/// A clock that calls back; tests bring one of their own.
package struct TimerClock: Sendable {
  /// Nanoseconds since whenever.
  package let now: @Sendable () -> UInt64
  /// The same moment on the continuous clock.
  package let instant: @Sendable () -> ContinuousClock.Instant
  /// Calls back at the given time, or a little later.
  package let schedule: @Sendable (_ deadline: UInt64, _ wake: @escaping @Sendable () -> Void) -> Void

  package init(
    now: @escaping @Sendable () -> UInt64, instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    schedule: @escaping @Sendable (_ deadline: UInt64, _ wake: @escaping @Sendable () -> Void) -> Void
  ) {
    self.now = now
    self.instant = instant
    self.schedule = schedule
  }

  /// The machine's clock.
  package static let system: TimerClock = {
    let queue = DispatchQueue(label: "waylay.timers")
    return TimerClock(now: { DispatchTime.now().uptimeNanoseconds }) { deadline, wake in
      queue.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: deadline), execute: wake)
    }
  }()
}

/// The time since it was made, on any clock.
package struct Stopwatch: Sendable {
  /// The time that has passed.
  package let elapsed: @Sendable () -> Duration
  private let wait: @Sendable (Duration) async throws -> Void

  /// Starts.
  package init(_ clock: some Clock<Duration>) {
    let start = clock.now
    elapsed = { start.duration(to: clock.now) }
    wait = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
  }

  /// Waits until so much time has passed since the start, if it has not yet.
  package func sleep(until offset: Duration) async throws {
    try Task.checkCancellation()
    guard offset > elapsed() else { return }
    try await wait(offset)
  }
}
