/// The moving part of a cache: lookups that are under way, and who waits for them. Its tasks hold it, the cache holds
/// it, and it ends with the cache.
final class CacheEngine: Sendable {
  /// A lookup that is under way.
  struct Flight {
    let number: Int
    let task: Task<Void, Never>
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    /// Whether it goes on when nobody waits.
    var isBackground: Bool
  }

  struct State {
    var table: CacheTable
    var flights: [HostQuery: Flight] = [:]
    /// What came of a lookup, for waiters that have not woken up yet. Goes through the lock rather than through the
    /// continuation (compare U13).
    var outcomes: [Int: Result<ResolutionCache.Answer, any Error>] = [:]
    var cancelledWaiters: Set<Int> = []
    var numbers = 0
    var prefetching: Task<Void, Never>?
    var saving: Task<Void, Never>?
    var isStopped = false

    mutating func number() -> Int {
      numbers += 1
      return numbers
    }
  }

  let resolver: any HostResolver
  let options: ResolutionCache.Options
  let clock: HostClock
  let state: Locked<State>

  init(_ resolver: any HostResolver, options: ResolutionCache.Options, clock: HostClock) {
    self.resolver = resolver
    self.options = options
    self.clock = clock
    state = Locked(State(table: CacheTable(options)))
  }

  func cached(_ query: HostQuery) -> ResolutionCache.Answer? {
    let now = clock.time()
    return state.withLock { state in
      guard case .use(let answer, let refresh) = state.table.look(query, at: now) else { return nil }
      if refresh { start(query, isBackground: true, &state) }
      return answer
    }
  }

  func answer(_ query: HostQuery) async throws -> ResolutionCache.Answer {
    let now = clock.time()
    let verdict = state.withLock { state in
      let verdict = state.table.look(query, at: now)
      if case .use(_, refresh: true) = verdict { start(query, isBackground: true, &state) }
      return verdict
    }
    switch verdict {
    case .use(let answer, _): return answer
    case .fail(let error): throw error
    case .ask(fallback: nil): return try await wait(for: query, isBackground: false)
    case .ask(let fallback?): return try await wait(for: query, orUse: fallback)
    }
  }

  /// Waits for a lookup, but not for long: then the stale answer is used, and the lookup goes on behind the scenes.
  private func wait(for query: HostQuery, orUse stale: ResolutionCache.Answer) async throws -> ResolutionCache.Answer {
    try await withThrowingTaskGroup(of: ResolutionCache.Answer?.self) { group in
      group.addTask { try await self.wait(for: query, isBackground: true) }
      group.addTask {
        try await self.clock.sleep(self.options.staleDelay)
        return nil
      }
      defer { group.cancelAll() }
      if let answer = try await group.next() ?? nil { return answer }
      state.withLock { $0.table.usedStale(query, at: clock.time()) }
      return stale
    }
  }

  /// Waits for the lookup of a host that is under way, or begins one.
  private func wait(for query: HostQuery, isBackground: Bool) async throws -> ResolutionCache.Answer {
    let waiter = state.withLock { $0.number() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.isStopped || state.cancelledWaiters.remove(waiter) != nil {
            state.outcomes[waiter] = .failure(CancellationError())
            return true
          }
          start(query, isBackground: isBackground, &state)
          state.flights[query]?.waiters[waiter] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      giveUp(waiter, query)
    }
    let outcome = state.withLock { state in
      state.cancelledWaiters.remove(waiter)
      return state.outcomes.removeValue(forKey: waiter)
    }
    guard let outcome else { throw CancellationError() }
    return try outcome.get()
  }

  /// One who waited waits no longer; the last one ends the lookup.
  private func giveUp(_ waiter: Int, _ query: HostQuery) {
    let (continuation, task) = state.withLock { state -> (CheckedContinuation<Void, Never>?, Task<Void, Never>?) in
      guard let continuation = state.flights[query]?.waiters.removeValue(forKey: waiter) else {
        state.cancelledWaiters.insert(waiter)
        return (nil, nil)
      }
      state.outcomes[waiter] = .failure(CancellationError())
      guard let flight = state.flights[query], flight.waiters.isEmpty, !flight.isBackground else {
        return (continuation, nil)
      }
      state.flights[query] = nil
      return (continuation, flight.task)
    }
    task?.cancel()
    continuation?.resume()
  }

  /// Begins the lookup of a host, unless it is under way.
  func start(_ query: HostQuery, isBackground: Bool, _ state: inout State) {
    guard !state.isStopped else { return }
    if isBackground { state.flights[query]?.isBackground = true }
    guard state.flights[query] == nil else { return }
    let number = state.number()
    state.flights[query] = Flight(number: number, task: lookUp(query, number), isBackground: isBackground)
  }

  /// Detached, because a lookup serves many loads: it must not be taken for a part of the one that began it.
  private func lookUp(_ query: HostQuery, _ number: Int) -> Task<Void, Never> {
    Task.detached { [self] in
      do {
        finish(query, number, .success(try await resolver.resolve(query)))
      } catch {
        finish(query, number, .failure(error))
      }
    }
  }

  private func finish(_ query: HostQuery, _ number: Int, _ result: Result<HostResolution, any Error>) {
    let now = clock.time()
    let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      guard let flight = state.flights[query], flight.number == number else { return [] }
      state.flights[query] = nil
      let outcome = outcome(of: result, for: query, at: now, &state.table)
      for waiter in flight.waiters.keys { state.outcomes[waiter] = outcome }
      if case .success = result { saveSoon(&state) }
      return Array(flight.waiters.values)
    }
    for waiter in waiters { waiter.resume() }
  }

  private func outcome(
    of result: Result<HostResolution, any Error>, for query: HostQuery, at now: Duration, _ table: inout CacheTable
  ) -> Result<ResolutionCache.Answer, any Error> {
    do {
      let resolution = try result.get()
      guard !resolution.candidates.isEmpty else {
        throw HostError(
          .resolverFailed, "\(resolution.source) answered without an address.", host: query.host.description)
      }
      table.store(resolution, for: query, at: now)
      return .success(ResolutionCache.Answer(resolution: resolution, age: .zero, isStale: false, isCached: false))
    } catch {
      let error =
        error as? HostError
        ?? HostError(
          .resolverFailed, "\(resolver.name) failed: \(error.redacted).", host: query.host.description,
          underlying: error)
      return table.fail(error, for: query, at: now).map { .success($0) } ?? .failure(error)
    }
  }

  func remove(_ query: HostQuery) {
    state.withLock { state in
      state.table.remove(query)
      saveSoon(&state)
    }
  }

  /// Lookups that began in the old network may wait for what does not come any more: they begin anew, for those who
  /// wait.
  func networkChanged() {
    resolver.networkChanged()
    let now = clock.time()
    let old = state.withLock { state -> [Task<Void, Never>] in
      state.table.flush(at: now)
      let flights = state.flights
      state.flights = [:]
      for (query, flight) in flights {
        start(query, isBackground: flight.isBackground, &state)
        state.flights[query]?.waiters = flight.waiters
      }
      saveSoon(&state)
      return flights.values.map(\.task)
    }
    for task in old { task.cancel() }
    prefetch(Array(state.withLock { $0.table.pinned }))
  }

  /// Ends everything that is under way. Who still waits is told that it was cancelled.
  func stop() {
    let (tasks, waiters) = state.withLock { state in
      state.isStopped = true
      let flights = state.flights.values
      for waiter in flights.flatMap(\.waiters.keys) { state.outcomes[waiter] = .failure(CancellationError()) }
      defer {
        state.flights = [:]
        (state.prefetching, state.saving) = (nil, nil)
      }
      return (
        flights.map(\.task) + [state.prefetching, state.saving].compactMap { $0 }, flights.flatMap(\.waiters.values)
      )
    }
    for task in tasks { task.cancel() }
    for waiter in waiters { waiter.resume() }
  }
}
