extension MockInterceptor {
  /// The stub that a request was matched with.
  struct Match {
    let entry: StubEntry
    let parameters: [String: String]
    /// The number of the stub's use, from 0.
    let use: Int
  }

  /// The stubs that may be for a request.
  func candidates(for facts: RequestFacts) -> [StubEntry] {
    state.withLock { $0.index.candidates(for: facts) }
  }

  /// Takes a use of the first stub that is for a request.
  ///
  /// - Parameter spent: Stubs that are for the request and do not answer any more, or not yet.
  func claim(_ candidates: [StubEntry], _ facts: RequestFacts, _ spent: inout [Spent]) -> Match? {
    for entry in candidates {
      var parameters: [String: String] = [:]
      guard entry.matches(facts, &parameters) else { continue }
      switch claim(entry, facts, parameters) {
      case .success(let use): return Match(entry: entry, parameters: parameters, use: use)
      case .failure(let reason): spent.append(reason)
      }
    }
    return nil
  }

  /// The same, with predicates of the stubs' author in the context of the mock's scope.
  func claimInContext(_ candidates: [StubEntry], _ facts: RequestFacts, _ spent: inout [Spent]) async throws -> Match? {
    guard let context = environment.context, candidates.contains(where: \.stub.pattern.runsForeignCode) else {
      return claim(candidates, facts, &spent)
    }
    // This task does nothing else with them until the other one has ended.
    nonisolated(unsafe) let facts = facts
    let (match, more) = try await context.run { () -> (Match?, [Spent]) in
      var spent: [Spent] = []
      let match = self.claim(candidates, facts, &spent)
      return (match, spent)
    }
    spent += more
    return match
  }

  /// Takes one use of a stub and writes the call down, in one step: of two requests that want the last use one gets it.
  private func claim(_ entry: StubEntry, _ facts: RequestFacts, _ parameters: [String: String]) -> Result<Int, Spent> {
    let (result, waiters) = state.withLock { state -> (Result<Int, Spent>, [CheckedContinuation<Void, Never>]) in
      let outcome = state.take(entry, facts.request)
      guard case .success = outcome else { return (outcome, []) }
      return (outcome, state.append(recorded(facts, entry, isOwn: true, parameters)))
    }
    waiters.wake()
    return result
  }

  /// What is written down of a request.
  func recorded(_ facts: RequestFacts, _ entry: StubEntry?, isOwn: Bool, _ parameters: [String: String]) -> RecordedCall
  {
    RecordedCall(facts, entry, isOwn: isOwn, parameters, showing: shownNames)
  }

  /// Writes a call down.
  func record(_ call: RecordedCall) {
    let waiters = state.withLock { $0.append(call) }
    waiters.wake()
  }
}

extension MockInterceptor.State {
  /// Takes one use of a stub, and moves its scenario on.
  fileprivate mutating func take(_ entry: StubEntry, _ request: InterceptedRequest) -> Result<Int, Spent> {
    if entry.isRemoved { return .failure(Spent(entry, .removed)) }
    if let use = entry.continuedUse(by: request) { return .success(use) }
    if entry.isUsedUp { return .failure(Spent(entry, .usedUp)) }
    if let transition = entry.stub.life.scenario {
      let name = transition.scenario.name
      let current = scenarios[name] ?? transition.scenario.states.first ?? ""
      if let required = transition.required, required != current { return .failure(Spent(entry, .otherState(current))) }
      if let next = transition.next { scenarios[name] = next }
    }
    return .success(entry.use(for: request))
  }

  /// - Returns: Who waits for calls, and is to be woken.
  fileprivate mutating func append(_ call: RecordedCall) -> [CheckedContinuation<Void, Never>] {
    calls.append(call)
    return waiters.takeAll()
  }
}
