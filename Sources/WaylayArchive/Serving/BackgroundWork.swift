import Foundation

/// What goes on in the background of answers that were given: at most one task for a key, all of them owned and
/// cancelled here.
final class BackgroundWork<Key: Hashable & Sendable>: Sendable {
  private struct State {
    var tasks: [Key: Task<Void, Never>] = [:]
    var running: Set<Key> = []
    var isClosed = false
  }

  private let state = Locked(State())

  /// Starts `work`, unless some goes on for that key; says whether it did.
  ///
  /// - Parameters:
  ///   - seconds: After how long the work is cancelled, where nobody else watches over it.
  ///   - clock: By whose time.
  @discardableResult
  func start(
    _ key: Key, giveUpAfter seconds: TimeInterval = .infinity, on clock: LoadClock = .system,
    _ work: @escaping @Sendable () async -> Void
  ) -> Bool {
    let isFirst = state.withLock { state in !state.isClosed && state.running.insert(key).inserted }
    guard isFirst else { return false }
    let task = Task {
      await work()
      self.state.withLock { state in
        state.running.remove(key)
        state.tasks[key] = nil
      }
    }
    let isClosed = state.withLock { state in
      if state.running.contains(key) { state.tasks[key] = task }
      return state.isClosed
    }
    if isClosed { task.cancel() }
    if seconds < 1e9 { clock.schedule(clock.now() &+ UInt64(max(0, seconds) * 1e9)) { task.cancel() } }
    return true
  }

  /// Cancels everything, and starts nothing more.
  func close() {
    let tasks = state.withLock { state in
      state.isClosed = true
      defer { state.tasks = [:] }
      return Array(state.tasks.values)
    }
    for task in tasks { task.cancel() }
  }

  /// Waits until nothing goes on.
  func idle() async {
    while let task = state.withLock({ $0.tasks.values.first }) { await task.value }
  }
}
