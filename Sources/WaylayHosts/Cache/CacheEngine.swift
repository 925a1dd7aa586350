/// The lookups of a cache that are in flight, and their callers. The cache and the lookup tasks hold the engine.
final class CacheEngine: Sendable {
  /// A lookup in flight.
  struct Flight {
    let number: Int
    let task: Task<Void, Never>
    var waiters: [ObjectIdentifier: Promise<CachedResolution>] = [:]
    /// Whether the lookup continues after its last waiter was cancelled.
    var isBackground: Bool
  }

  struct State {
    var table: CacheTable
    var flights: [HostAuthority: Flight] = [:]
    var numbers = 0
    var prefetching: Task<Void, Never>?
    var saving: Task<Void, Never>?
    var isStopped = false
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

  func cached(_ query: HostAuthority) -> CachedResolution? {
    let now = clock.time()
    return state.withLock { state in
      guard case .use(let answer, let refresh) = state.table.look(query, at: now) else { return nil }
      if refresh { start(query, isBackground: true, &state) }
      return answer
    }
  }

  func lookUp(_ query: HostAuthority) async throws -> CachedResolution {
    let now = clock.time()
    let known = state.withLock { state in
      let known = state.table.look(query, at: now)
      if case .use(_, refresh: true) = known { start(query, isBackground: true, &state) }
      return known
    }
    switch known {
    case .use(let answer, _): return answer
    case .fail(let error): throw error
    case .ask(fallback: nil): return try await wait(for: query, isBackground: false)
    case .ask(let fallback?): return try await wait(for: query, orUse: fallback)
    }
  }

  /// Waits for a lookup up to `staleDelay`; then uses the stale answer, and the lookup continues in the background.
  private func wait(for query: HostAuthority, orUse stale: CachedResolution) async throws -> CachedResolution {
    let answer = try await clock.value(within: options.staleDelay) {
      try await self.wait(for: query, isBackground: true)
    }
    if let answer { return answer }
    state.withLock { $0.table.usedStale(query, at: clock.time()) }
    return stale
  }

  /// Joins the lookup of a host that is in flight, or starts one.
  private func wait(for query: HostAuthority, isBackground: Bool) async throws -> CachedResolution {
    let promise = Promise<CachedResolution>()
    return try await promise.valueUnlessCancelled {
      let isStopped = state.withLock { state in
        start(query, isBackground: isBackground, &state)
        state.flights[query]?.waiters[ObjectIdentifier(promise)] = promise
        return state.isStopped
      }
      if isStopped { promise.settle(.failure(CancellationError())) }
    } onCancel: {
      giveUp(promise, query)
    }
  }

  /// Removes a cancelled caller; cancels the lookup if no caller is left.
  private func giveUp(_ promise: Promise<CachedResolution>, _ query: HostAuthority) {
    let task = state.withLock { state -> Task<Void, Never>? in
      guard state.flights[query]?.waiters.removeValue(forKey: ObjectIdentifier(promise)) != nil,
        let flight = state.flights[query], flight.waiters.isEmpty, !flight.isBackground
      else { return nil }
      state.flights[query] = nil
      return flight.task
    }
    task?.cancel()
  }

  /// Starts the lookup of a host, unless one is in flight.
  func start(_ query: HostAuthority, isBackground: Bool, _ state: inout State) {
    guard !state.isStopped else { return }
    if isBackground { state.flights[query]?.isBackground = true }
    guard state.flights[query] == nil else { return }
    state.numbers += 1
    state.flights[query] = Flight(
      number: state.numbers, task: begin(query, state.numbers), isBackground: isBackground)
  }

  /// Detached, because a lookup serves many loads: it must not inherit the priority and the task-locals of the first
  /// one. The loads of a resolver are inside that one nevertheless, for as long as the lookup runs: otherwise it
  /// would wait for itself.
  private func begin(_ query: HostAuthority, _ number: Int) -> Task<Void, Never> {
    let (origin, work) = (LoadOrigin(), SharedWork())
    return Task.detached { [self] in
      do {
        let resolution = try await origin.run {
          try await work.run {
            try await resolver.resolve(query) { [options] resolution in
              try resolution.screened(for: query, except: options.privateHosts)
            }
          }
        }
        finish(query, number, .success(resolution))
      } catch {
        finish(query, number, .failure(error))
      }
    }
  }

  private func finish(_ query: HostAuthority, _ number: Int, _ result: Result<HostResolution, any Error>) {
    let now = clock.time()
    let settlement = state.withLock { state -> (Flight, Result<CachedResolution, any Error>)? in
      guard let flight = state.flights[query], flight.number == number else { return nil }
      state.flights[query] = nil
      if case .success = result { saveSoon(&state) }
      return (flight, outcome(of: result, for: query, at: now, &state.table))
    }
    guard let (flight, outcome) = settlement else { return }
    for waiter in flight.waiters.values { waiter.settle(outcome) }
  }

  private func outcome(
    of result: Result<HostResolution, any Error>, for query: HostAuthority, at now: Duration, _ table: inout CacheTable
  ) -> Result<CachedResolution, any Error> {
    do {
      let resolution = try result.get()
      guard !resolution.endpoints.isEmpty else {
        throw HostError(
          .resolverFailed, "\(resolution.source) answered without an address.", host: query.host.description)
      }
      table.store(resolution, for: query, at: now)
      return .success(CachedResolution(resolution: resolution, age: .zero, isStale: false))
    } catch {
      let error =
        error as? HostError
        ?? HostError(
          .resolverFailed, "\(resolver.name) failed: \(error.redacted).", host: query.host.description,
          underlying: error)
      return table.fail(error, for: query, at: now).map { .success($0) } ?? .failure(error)
    }
  }

  func remove(_ query: HostAuthority) {
    state.withLock { state in
      state.table.remove(query)
      saveSoon(&state)
    }
  }

  /// Restarts all lookups in flight: those of the old network may never receive a reply. The waiters are kept.
  func networkChanged() {
    resolver.networkChanged()
    let now = clock.time()
    let old = state.withLock { state -> [Task<Void, Never>] in
      state.table.flush(at: now)
      let flights = exchange(&state.flights, with: [:])
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

  /// Cancels all lookups; their waiters get a `CancellationError`.
  func stop() {
    let (tasks, waiters) = state.withLock { state in
      state.isStopped = true
      let flights = exchange(&state.flights, with: [:]).values
      let others = [state.prefetching.take(), state.saving.take()].compactMap(\.self)
      return (flights.map(\.task) + others, flights.flatMap(\.waiters.values))
    }
    for task in tasks { task.cancel() }
    for waiter in waiters { waiter.settle(.failure(CancellationError())) }
  }
}

extension CacheEngine {
  /// Looks up the hosts now, and refreshes each answer before it expires.
  func prefetch(_ queries: [HostAuthority]) {
    let old = state.withLock { state in
      state.table.pinned = Set(queries)
      return state.prefetching.take()
    }
    old?.cancel()
    guard !queries.isEmpty, startDue() != nil else { return }
    state.withLock { state in
      guard !state.isStopped else { return }
      // Weak while it sleeps: the task must not keep the engine alive.
      state.prefetching = Task.detached { [weak self, clock] in
        while let pause = self?.startDue() {
          guard (try? await clock.sleep(pause)) != nil else { return }
        }
      }
    }
  }

  /// Starts the due lookups. Returns the time until the next one; `nil` if the prefetch list is empty.
  private func startDue() -> Duration? {
    let now = clock.time()
    return state.withLock { state in
      guard !state.isStopped, !state.table.pinned.isEmpty else { return nil }
      var pause = Duration.seconds(60 * 60)
      for query in state.table.pinned {
        var due = state.table.due(query, at: now)
        if due <= now {
          start(query, isBackground: true, &state)
          // The lookup sets the next due time when it ends; until then, check once a second.
          due = now + .seconds(1)
        }
        pause = min(pause, due - now)
      }
      return pause
    }
  }
}

extension CacheEngine {
  /// The content of the file: the version, then each answer with its date.
  private struct Content: Codable {
    var version = 1
    var entries: [Record]

    struct Record: Codable {
      let host: String
      let port: Int
      let source: String
      /// Seconds since 1970.
      let stored: Double
      /// In seconds.
      let lifetime: Double
      /// In the syntax of ``HostEndpoint``.
      let endpoints: [String]
    }
  }

  /// The maximum size of the file in bytes. A cache never writes a larger one.
  private static let maximumSize = 16 << 20

  /// Reads the file. A malformed file is ignored and logged.
  func load() {
    guard let file = options.file else { return }
    do {
      guard let data = try PrivateFile(url: file).read(upTo: Self.maximumSize) else { return }
      let content = try JSONDecoder().decode(Content.self, from: data)
      guard content.version == 1 else { throw HostError(.resolverFailed, "its version is \(content.version)") }
      let (now, date) = (clock.time(), clock.date())
      state.withLock { state in
        for record in content.entries { Self.load(record, into: &state.table, now: now, date: date) }
      }
    } catch {
      options.logger?.warning(
        "the file of cached host addresses is ignored: \(error.redacted)", metadata: ["file": "\(file.path)"])
    }
  }

  private static func load(_ record: Content.Record, into table: inout CacheTable, now: Duration, date: Date) {
    let age = date.timeIntervalSince1970 - record.stored
    // A date in the future means that a clock was wrong: the age of the record is unknown.
    guard let host = try? HostName(record.host), !host.isAddress, record.lifetime > 0, age >= 0, age < 1e9 else {
      return
    }
    let lifetime = Duration.seconds(min(record.lifetime, 1e9)).clamped(to: table.options.timeToLive)
    let endpoints = record.endpoints.compactMap { try? HostEndpoint($0) }
    guard !endpoints.isEmpty, .seconds(age) < lifetime + table.options.maximumStaleness else { return }
    let query = HostAuthority(host, port: record.port)
    let stored = HostResolution(endpoints, timeToLive: lifetime, source: record.source)
    guard let resolution = try? stored.screened(for: query, except: table.options.privateHosts) else { return }
    table.store(resolution, for: query, stored: now - .seconds(age), lifetime: lifetime)
  }

  /// Schedules a write of the file in one second: the answers at launch are written together.
  func saveSoon(_ state: inout State) {
    guard options.file != nil, state.saving == nil, !state.isStopped else { return }
    state.saving = Task.detached { [weak self, clock] in
      guard (try? await clock.sleep(.seconds(1))) != nil else { return }
      self?.saveNow()
    }
  }

  private func saveNow() {
    state.withLock { $0.saving = nil }
    do { try save() } catch {
      options.logger?.warning(
        "host addresses cannot be saved: \(error.redacted)", metadata: ["file": "\(options.file?.path ?? "")"])
    }
  }

  func save() throws {
    guard let file = options.file else { return }
    let (now, date) = (clock.time(), clock.date().timeIntervalSince1970)
    let entries = state.withLock { $0.table.entries }
    let records = entries.map { query, entry in
      Content.Record(
        host: query.host.description, port: query.port, source: entry.resolution.source,
        stored: date - (now - entry.stored).inSeconds,
        lifetime: (entry.expires - entry.stored).inSeconds,
        endpoints: entry.resolution.endpoints.map(\.description))
    }
    try PrivateFile(url: file).write(JSONEncoder().encode(Content(entries: records)))
  }
}
