/// Where resolvers, caches and bans get the time from.
///
/// Tests bring one of their own that moves only when it is told to; the app uses ``system``.
public struct HostClock: Sendable {
  /// The time since whenever; it never goes back, and goes on while the machine sleeps.
  public let now: @Sendable () -> Duration
  /// The date, for what outlives the process.
  public let date: @Sendable () -> Date
  /// Waits so long, or throws `CancellationError` as soon as the task is cancelled.
  public let sleep: @Sendable (_ duration: Duration) async throws -> Void

  /// Makes a clock.
  public init(
    now: @escaping @Sendable () -> Duration, date: @escaping @Sendable () -> Date,
    sleep: @escaping @Sendable (_ duration: Duration) async throws -> Void
  ) {
    self.now = now
    self.date = date
    self.sleep = sleep
  }

  /// The machine's clock.
  public static let system: HostClock = {
    let start = ContinuousClock.now
    return HostClock(now: { start.duration(to: .now) }, date: { Date() }, sleep: { try await Task.sleep(for: min($0, .seconds(1e9))) })
  }()
}
