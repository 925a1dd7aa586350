/// Lets one request at a time try an unproven address; the other requests wait for the outcome.
///
/// Otherwise a hundred concurrent requests would each find out that an address is bad, and compete for its connections
/// meanwhile. Thread-safe.
final class Probes: Sendable {
  /// The target of a probe: an address of a host.
  struct Target: Hashable, Sendable {
    let authority: HostAuthority
    let endpoint: HostEndpoint
  }

  /// The outcome of a probe.
  enum Conclusion: Sendable {
    /// The address was connected and verified: waiting requests may use it.
    case connected
    /// The address failed, and must not be tried again now.
    case failed(any Error)
    /// The address missed its deadline; it may only be slow.
    case late
    /// Unknown: the probing request was cancelled.
    case abandoned
  }

  /// The permission for a request to use an address.
  enum Permit: Sendable {
    /// Probe the address, and report the outcome to all waiting requests.
    case granted(Probe)
    /// Another request has probed the address, with the outcome `connected`, `failed` or `late`.
    case settled(Conclusion)
  }

  fileprivate struct Trial {
    var isConnected = false
    var waiters: [ObjectIdentifier: Promise<Permit>] = [:]
    /// The waiters in FIFO order; cancelled waiters stay in it.
    var order: [ObjectIdentifier] = []
  }

  private let trials = Locked<[Target: Trial]>([:])

  /// Returns at once if the address is not being probed, or was connected; otherwise once the outcome is known.
  ///
  /// Returns `abandoned` to a cancelled task.
  func permit(for target: Target) async -> Permit {
    let promise = Promise<Permit>()
    let permit = try? await promise.valueUnlessCancelled {
      let permit: Permit? = trials.withLock { trials in
        guard let isConnected = trials[target]?.isConnected else {
          trials[target] = Trial()
          return .granted(Probe(self, target))
        }
        if isConnected { return .settled(.connected) }
        trials[target]?.waiters[ObjectIdentifier(promise)] = promise
        trials[target]?.order.append(ObjectIdentifier(promise))
        return nil
      }
      if let permit { promise.settle(.success(permit)) }
    } onCancel: {
      trials.withLock { _ = $0[target]?.waiters.removeValue(forKey: ObjectIdentifier(promise)) }
    }
    return permit ?? .settled(.abandoned)
  }

  /// The connection is open and verified: resumes all waiters.
  fileprivate func connected(_ target: Target) {
    let waiters = trials.withLock { trials -> [Promise<Permit>] in
      guard let trial = trials[target] else { return [] }
      trials[target] = Trial(isConnected: true)
      return Array(trial.waiters.values)
    }
    for waiter in waiters { waiter.settle(.success(.settled(.connected))) }
  }

  /// Ends the probe. If its outcome is unknown, the first waiter probes next.
  fileprivate func ended(_ target: Target, _ conclusion: Conclusion) {
    var permit = Permit.settled(conclusion)
    let waiters = trials.withLock { trials -> [Promise<Permit>] in
      guard var trial = trials.removeValue(forKey: target) else { return [] }
      guard case .abandoned = conclusion else { return Array(trial.waiters.values) }
      guard let next = trial.takeFirst() else { return [] }
      trial.isConnected = false
      trials[target] = trial
      permit = .granted(Probe(self, target))
      return [next]
    }
    for waiter in waiters { waiter.settle(.success(permit)) }
  }

  /// The exclusive right to probe an address. If it is released without a conclusion, the next request probes.
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
      let isFirst = isOver.withLock { !exchange(&$0, with: true) }
      if isFirst { probes.ended(target, conclusion) }
    }
  }
}

extension Probes.Trial {
  /// Removes and returns the request that has waited longest.
  fileprivate mutating func takeFirst() -> Promise<Probes.Permit>? {
    // Visits each number once, including those of cancelled waiters.
    var index = 0
    defer { order.removeFirst(index) }
    while index < order.count {
      defer { index += 1 }
      if let waiter = waiters.removeValue(forKey: order[index]) { return waiter }
    }
    return nil
  }
}
