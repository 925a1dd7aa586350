/// The time since an answer began, on whatever clock.
struct Stopwatch: Sendable {
  /// The time that has passed.
  let elapsed: @Sendable () -> Duration
  private let wait: @Sendable (Duration) async throws -> Void

  /// Starts.
  init(_ clock: any Clock<Duration>) {
    self.init(opening: clock)
  }

  private init<C: Clock<Duration>>(opening clock: C) {
    let start = clock.now
    elapsed = { start.duration(to: clock.now) }
    wait = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
  }

  /// Waits until so much time has passed since the start, if it has not yet.
  func sleep(until offset: Duration) async throws {
    try Task.checkCancellation()
    guard offset > elapsed() else { return }
    try await wait(offset)
  }
}
