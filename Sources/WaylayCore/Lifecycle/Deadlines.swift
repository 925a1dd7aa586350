import Foundation

/// The timeouts of all loads of a registry, on one timer.
///
/// A load that makes progress only writes down the time; the timer looks at what is due and sleeps until the next deadline. So
/// arming a timeout costs a dictionary entry, not a timer.
final class Deadlines: Sendable {
  private struct State {
    var loads: [InterceptedRequest.ID: Load] = [:]
    /// When the timer fires next; `.max` when it is not armed.
    var wakeUp = UInt64.max
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "waylay.deadlines")

  func add(_ load: Load) {
    guard let deadline = load.nextDeadline(now: DispatchTime.now().uptimeNanoseconds) else { return load.expire() }
    state.withLock { state in
      state.loads[load.id] = load
      arm(for: deadline, &state)
    }
  }

  func remove(_ load: Load) {
    state.withLock { _ = $0.loads.removeValue(forKey: load.id) }
  }

  private func arm(for deadline: UInt64, _ state: inout State) {
    guard deadline < state.wakeUp else { return }
    state.wakeUp = deadline
    queue.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: deadline)) { [weak self] in self?.wake() }
  }

  private func wake() {
    let now = DispatchTime.now().uptimeNanoseconds
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
