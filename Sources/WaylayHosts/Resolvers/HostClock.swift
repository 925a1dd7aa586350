/// A clock as this module uses it: the time since some start, the date, and waiting.
///
/// Made of the clock that an app gives, which knows no date: the date goes with the time, from that of the making on.
struct HostClock: Clock {
  /// The time since some start; it never goes back, and goes on while the machine sleeps.
  let time: @Sendable () -> Duration
  /// The date, for what outlives the process.
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

  /// Waits so long, or throws `CancellationError` as soon as the task is cancelled.
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

/// Runs `work` for so long at most, and cancels it then; `work` has to heed that.
func withTimeLimit<Value: Sendable>(
  _ limit: Duration, on clock: HostClock, else error: @autoclosure @Sendable () -> HostError,
  _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  guard let value = try await clock.value(within: limit, of: work) else { throw error() }
  return value
}
