/// A monotonic clock with timers; tests inject a fake.
package struct TimerClock: Sendable {
  /// Monotonic nanoseconds.
  package let now: @Sendable () -> UInt64
  /// The current time of the continuous clock.
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

  /// Calls back after some seconds, or a little later.
  package func after(seconds: UInt64, _ wake: @escaping @Sendable () -> Void) {
    schedule(now().saturating(adding: seconds * 1_000_000_000), wake)
  }

  /// The machine's clock.
  package static let system: TimerClock = {
    let queue = DispatchQueue(label: "waylay.timers")
    return TimerClock(now: { DispatchTime.now().uptimeNanoseconds }) { deadline, wake in
      queue.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: deadline), execute: wake)
    }
  }()
}

/// Measures the time since its creation, on any clock.
package struct Stopwatch: Sendable {
  /// The time since the start.
  package let elapsed: @Sendable () -> Duration
  private let wait: @Sendable (Duration) async throws -> Void

  /// Starts measuring.
  package init(_ clock: some Clock<Duration>) {
    let start = clock.now
    elapsed = { start.duration(to: clock.now) }
    wait = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
  }

  /// Sleeps until `offset` after the start; returns at once if that time has passed.
  package func sleep(until offset: Duration) async throws {
    try Task.checkCancellation()
    guard offset > elapsed() else { return }
    try await wait(offset)
  }
}

extension Duration {
  private static var year: Duration { .seconds(365 * 24 * 60 * 60) }

  /// The duration, limited to between zero and a year: longer ones overflow in the system's clocks.
  package var upToAYear: Duration { max(.zero, min(self, Self.year)) }

  package var inSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }

  /// A duration in seconds, limited to a year; NaN counts as a year.
  package static func ofSeconds(_ seconds: Double) -> Duration {
    guard seconds < year.inSeconds else { return year }
    return .seconds(max(0, seconds))
  }
}
