/// Wakes requests that wait for an address: at a deadline, or when another request finds an address silent.
///
/// One timer serves all requests of a rewriter: a request that gets its response in time costs one entry in a table.
final class Alarms: Sendable {
  /// A sleeper that an alarm wakes.
  protocol Sleeper: AnyObject, Sendable {
    func wake()
  }

  private struct State {
    /// The sleepers and their deadlines; `nil` for a sleeper that waits for ``wakeAll()`` alone.
    var sleepers: [ObjectIdentifier: (sleeper: any Sleeper, time: Duration?)] = [:]
    /// The task that sleeps until the earliest deadline.
    var timer: (task: Task<Void, Never>, time: Duration)?
  }

  private let clock: HostClock
  private let state = Locked(State())

  init(clock: HostClock) {
    self.clock = clock
  }

  deinit {
    state.withLock { $0.timer }?.task.cancel()
  }

  /// Registers a sleeper for ``wakeAll()`` and, optionally, a deadline, until it is removed. An earlier deadline stays.
  func set(_ sleeper: any Sleeper, at time: Duration?) {
    state.withLock { state in
      let known = state.sleepers[ObjectIdentifier(sleeper)]?.time
      state.sleepers[ObjectIdentifier(sleeper)] = (sleeper, [known, time].compactMap(\.self).min())
      if let time { arm(for: time, &state) }
    }
  }

  func remove(_ sleeper: any Sleeper) {
    state.withLock { _ = $0.sleepers.removeValue(forKey: ObjectIdentifier(sleeper)) }
  }

  /// Wakes all sleepers, so that they check the health records again.
  func wakeAll() {
    for entry in state.withLock({ Array($0.sleepers.values) }) { entry.sleeper.wake() }
  }

  private func arm(for time: Duration, _ state: inout State) {
    guard state.timer.map({ time < $0.time }) ?? true else { return }
    state.timer?.task.cancel()
    // Weak while it sleeps. Detached with high priority, because it serves many loads.
    let task = Task.detached(priority: .high) { [weak self, clock] in
      try? await clock.sleep(time - clock.time())
      self?.ring(for: time)
    }
    state.timer = (task, time)
  }

  private func ring(for time: Duration) {
    let now = clock.time()
    let due = state.withLock { state -> [(sleeper: any Sleeper, time: Duration?)] in
      // A timer with an earlier deadline may have replaced this one.
      guard state.timer?.time == time else { return [] }
      state.timer = nil
      let due = state.sleepers.filter { $0.value.time.map { $0 <= now } ?? false }
      for (key, entry) in due { state.sleepers[key] = (entry.sleeper, nil) }
      if let next = state.sleepers.values.compactMap(\.time).min() { arm(for: next, &state) }
      return Array(due.values)
    }
    for entry in due { entry.sleeper.wake() }
  }
}
