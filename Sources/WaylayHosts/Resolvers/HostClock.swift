/// The clock of this module: monotonic time, the date, and sleeping.
///
/// Wraps the app's clock, which has no date: the date advances with its time, from the date at initialization.
struct HostClock: Clock {
  /// Monotonic time since an arbitrary start; it includes the machine's sleep.
  let time: @Sendable () -> Duration
  /// The date, for values that outlive the process.
  let date: @Sendable () -> Date
  private let wait: @Sendable (_ duration: Duration) async throws -> Void

  init(
    now: @escaping @Sendable () -> Duration, date: @escaping @Sendable () -> Date,
    sleep: @escaping @Sendable (_ duration: Duration) async throws -> Void
  ) {
    time = now
    self.date = date
    wait = sleep
  }

  init(_ clock: any Clock<Duration>) {
    switch clock {
    case let clock as HostClock: self = clock
    case is ContinuousClock: self = .system
    default: self.init(following: clock)
    }
  }

  private init<Other: Clock<Duration>>(following clock: Other) {
    let (start, date) = (clock.now, Date())
    self.init(
      now: { start.duration(to: clock.now) },
      date: { date.addingTimeInterval(start.duration(to: clock.now) / .seconds(1)) },
      sleep: { try await clock.sleep(for: $0) })
  }

  /// The machine's clock.
  static let system: HostClock = {
    let start = ContinuousClock.now
    return HostClock(
      now: { start.duration(to: .now) }, date: { Date() }, sleep: { try await Task.sleep(for: min($0, .seconds(1e9))) })
  }()

  /// Sleeps; throws `CancellationError` as soon as the task is cancelled.
  func sleep(_ duration: Duration) async throws { try await wait(duration) }
}

extension HostClock {
  struct Instant: InstantProtocol {
    let offset: Duration

    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
  }

  var now: Instant { Instant(offset: time()) }
  var minimumResolution: Duration { .nanoseconds(1) }
  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try await sleep(deadline.offset - time())
  }
}

/// Runs `work`, and cancels it at the time limit; `work` must respond to cancellation.
func withTimeLimit<Value: Sendable>(
  _ limit: Duration, on clock: HostClock, else error: @autoclosure @Sendable () -> HostError,
  _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  guard let value = try await clock.value(within: limit, of: work) else { throw error() }
  return value
}
