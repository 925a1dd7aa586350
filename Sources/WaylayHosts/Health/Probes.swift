/// Who tries an address that has not answered yet: one request at a time. The others wait for what comes of it.
///
/// Without this a hundred requests at once would each find out by themselves that an address is bad, and wait for each
/// other's connections meanwhile. Safe from any thread.
package final class Probes: Sendable {
  /// What is tried: an address of a host.
  package struct Target: Hashable, Sendable {
    let authority: HostHealth.Authority
    let address: HostAddress
    let port: Int

    package init(_ candidate: HostCandidate, at authority: HostHealth.Authority) {
      self.authority = authority
      address = candidate.address
      port = candidate.port
    }
  }

  /// What a probe came to.
  package enum Conclusion: Sendable {
    /// The address was connected and verified: the others may go there.
    case connected
    /// It failed, and is not to be tried again now.
    case failed(any Error)
    /// It was not connected in its time; it may only be slow.
    case late
    /// Nobody knows: whoever was trying has gone.
    case abandoned
  }

  /// What a request does about an address.
  package enum Turn: Sendable {
    /// It tries it, for all; it must say what comes of it.
    case first(Probe)
    /// Another has tried it, and this came of it: `connected`, `failed` or `late`.
    case told(Conclusion)
  }

  fileprivate struct Trial {
    var isConnected = false
    var waiters: [UInt64: CheckedContinuation<Turn, Never>] = [:]
    /// In the order in which they came; those that have gone are still in it.
    var order: [UInt64] = []
  }

  private struct State {
    var trials: [Target: Trial] = [:]
    var last: UInt64 = 0
  }

  private let state = Locked(State())

  package init() {}

  /// Takes a turn: at once when nobody tries the address, or it was connected; else when something came of it.
  ///
  /// A task that is cancelled meanwhile is told `abandoned`.
  package func turn(at target: Target) async -> Turn {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let turn: Turn? = state.withLock { state in
          if Task.isCancelled { return .told(.abandoned) }
          guard var trial = state.trials[target] else {
            state.trials[target] = Trial()
            return .first(Probe(self, target))
          }
          if trial.isConnected { return .told(.connected) }
          trial.waiters[number] = continuation
          trial.order.append(number)
          state.trials[target] = trial
          return nil
        }
        if let turn { continuation.resume(returning: turn) }
      }
    } onCancel: {
      state.withLock { $0.trials[target]?.waiters.removeValue(forKey: number) }?.resume(returning: .told(.abandoned))
    }
  }

  /// The connection is open and verified: nobody waits any more, and nobody else begins to.
  fileprivate func connected(_ target: Target) {
    let waiters = state.withLock { state in
      defer {
        state.trials[target]?.isConnected = true
        state.trials[target]?.waiters = [:]
        state.trials[target]?.order = []
      }
      return state.trials[target].map { Array($0.waiters.values) } ?? []
    }
    for waiter in waiters { waiter.resume(returning: .told(.connected)) }
  }

  /// The trial is over. When nobody knows what came of it, the next one tries.
  fileprivate func ended(_ target: Target, _ conclusion: Conclusion) {
    var turn = Turn.told(conclusion)
    let waiters = state.withLock { state -> [CheckedContinuation<Turn, Never>] in
      guard var trial = state.trials.removeValue(forKey: target) else { return [] }
      guard case .abandoned = conclusion else { return Array(trial.waiters.values) }
      guard let next = trial.takeFirst() else { return [] }
      trial.isConnected = false
      state.trials[target] = trial
      turn = .first(Probe(self, target))
      return [next]
    }
    for waiter in waiters { waiter.resume(returning: turn) }
  }

  /// One that tries an address for all. When it is let go without a word, the next one tries.
  package final class Probe: Sendable {
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
    package func connected() {
      guard !isOver.withLock({ $0 }) else { return }
      probes.connected(target)
    }

    /// Says what came of it; only the first word counts.
    package func end(_ conclusion: Conclusion) {
      let isFirst = isOver.withLock { isOver in
        defer { isOver = true }
        return !isOver
      }
      if isFirst { probes.ended(target, conclusion) }
    }
  }
}

extension Probes.Trial {
  /// Who has waited longest.
  fileprivate mutating func takeFirst() -> CheckedContinuation<Probes.Turn, Never>? {
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
