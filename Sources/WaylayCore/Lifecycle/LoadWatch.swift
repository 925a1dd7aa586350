import Foundation

/// The loads of a registry that are under way, with the timeouts of all of them on one timer.
///
/// A load that makes progress only writes down the time; the timer looks at what is due and sleeps until the next
/// deadline. So arming a timeout costs a dictionary entry, not a timer.
final class LoadWatch: Sendable {
  private struct State {
    var loads: [InterceptedRequest.ID: Load] = [:]
    /// When the timer fires next; `.max` when it is not armed.
    var wakeUp = UInt64.max
    var isClosed = false
  }

  private let state = Locked(State())
  private let clock: LoadClock

  init(clock: LoadClock) {
    self.clock = clock
  }

  /// Starts watching. `false` when the registry has been invalidated.
  func add(_ load: Load) -> Bool {
    let deadline = load.nextDeadline(now: clock.now())
    let isAccepted = state.withLock { state in
      guard !state.isClosed else { return false }
      guard let deadline else { return true }
      state.loads[load.id] = load
      arm(for: deadline, &state)
      return true
    }
    if isAccepted, deadline == nil { load.expire() }
    return isAccepted
  }

  func remove(_ load: Load) {
    state.withLock { _ = $0.loads.removeValue(forKey: load.id) }
  }

  /// Fails all loads, and accepts no others.
  func close() {
    let loads = state.withLock { state in
      state.isClosed = true
      defer { state.loads = [:] }
      return state.loads.values
    }
    for load in loads { load.fail(InterceptorRegistry.invalidatedError(url: load.url)) }
  }

  private func arm(for deadline: UInt64, _ state: inout State) {
    guard deadline < state.wakeUp else { return }
    state.wakeUp = deadline
    clock.schedule(deadline) { [weak self] in self?.wake() }
  }

  private func wake() {
    let now = clock.now()
    let loads = state.withLock { state -> [Load] in
      // An earlier deadline may have been armed after this one: then that one has looked already.
      guard state.wakeUp <= now else { return [] }
      state.wakeUp = .max
      return Array(state.loads.values)
    }
    for load in loads {
      guard let deadline = load.nextDeadline(now: now) else {
        remove(load)
        load.expire()
        continue
      }
      state.withLock { state in
        guard state.loads[load.id] != nil else { return }
        arm(for: deadline, &state)
      }
    }
  }
}
