/// Lets one request at a time try an address that has not answered yet; the others wait for the outcome.
///
/// Without this a hundred requests at once would each find out by themselves that an address is bad, and wait for each
/// other's connections meanwhile. Safe from any thread.
final class Probes: Sendable {
  /// What is tried: an address of a host.
  struct Target: Hashable, Sendable {
    let authority: HostAuthority
    let endpoint: HostEndpoint
  }

  /// What a probe came to.
  enum Conclusion: Sendable {
    /// The address was connected and verified: the others may go there.
    case connected
    /// It failed, and is not to be tried again now.
    case failed(any Error)
    /// It was not connected in its time; it may only be slow.
    case late
    /// It is unknown: the request that was trying has ended.
    case abandoned
  }

  /// What a request may do at an address.
  enum Permit: Sendable {
    /// Try it, and report the outcome for all.
    case granted(Probe)
    /// Another request has tried it, with this outcome: `connected`, `failed` or `late`.
    case settled(Conclusion)
  }

  fileprivate struct Trial {
    var isConnected = false
    var waiters: [UInt64: Promise<Permit>] = [:]
    /// In the order in which they came; those that have gone are still in it.
    var order: [UInt64] = []
  }

  private struct State {
    var trials: [Target: Trial] = [:]
    var last: UInt64 = 0
  }

  private let state = Locked(State())

  /// Returns at once when no request is trying the address, or it was connected; otherwise when the outcome is known.
  ///
  /// A task that is cancelled meanwhile gets `abandoned`.
  func permit(for target: Target) async -> Permit {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    let promise = Promise<Permit>()
    let permit = try? await promise.valueUnlessCancelled {
      let permit: Permit? = state.withLock { state in
        guard var trial = state.trials[target] else {
          state.trials[target] = Trial()
          return .granted(Probe(self, target))
        }
        if trial.isConnected { return .settled(.connected) }
        trial.waiters[number] = promise
        trial.order.append(number)
        state.trials[target] = trial
        return nil
      }
      if let permit { promise.settle(.success(permit)) }
    } onCancel: {
      state.withLock { _ = $0.trials[target]?.waiters.removeValue(forKey: number) }
    }
    return permit ?? .settled(.abandoned)
  }

  /// The connection is open and verified: no request waits any more.
  fileprivate func connected(_ target: Target) {
    let waiters = state.withLock { state in
      defer {
        state.trials[target]?.isConnected = true
        state.trials[target]?.waiters = [:]
        state.trials[target]?.order = []
      }
      return state.trials[target].map { Array($0.waiters.values) } ?? []
    }
    for waiter in waiters { waiter.settle(.success(.settled(.connected))) }
  }

  /// The trial is over. When its outcome is unknown, the next request tries.
  fileprivate func ended(_ target: Target, _ conclusion: Conclusion) {
    var permit = Permit.settled(conclusion)
    let waiters = state.withLock { state -> [Promise<Permit>] in
      guard var trial = state.trials.removeValue(forKey: target) else { return [] }
      guard case .abandoned = conclusion else { return Array(trial.waiters.values) }
      guard let next = trial.takeFirst() else { return [] }
      trial.isConnected = false
      state.trials[target] = trial
      permit = .granted(Probe(self, target))
      return [next]
    }
    for waiter in waiters { waiter.settle(.success(permit)) }
  }

  /// The attempt at an address for all. When it is released without a conclusion, the next request tries.
  final class Probe: Sendable {
    private let probes: Probes
    private let target: Target
    private let isOver = Locked(false)

    fileprivate init(_ probes: Probes, _ target: Target) {
      self.probes = probes
      self.target = target
    }

    deinit {
      end(.abandoned)
    }

    /// The connection is open and verified.
    func connected() {
      guard !isOver.withLock({ $0 }) else { return }
      probes.connected(target)
    }

    /// Reports the outcome; only the first report counts.
    func end(_ conclusion: Conclusion) {
      let isFirst = isOver.withLock { isOver in
        defer { isOver = true }
        return !isOver
      }
      if isFirst { probes.ended(target, conclusion) }
    }
  }
}

extension Probes.Trial {
  /// The request that has waited longest.
  fileprivate mutating func takeFirst() -> Promise<Probes.Permit>? {
    // Each number is looked at once, whether its waiter is still there or not.
    var index = 0
    defer { order.removeFirst(index) }
    while index < order.count {
      defer { index += 1 }
      if let waiter = waiters.removeValue(forKey: order[index]) { return waiter }
    }
    return nil
  }
}
