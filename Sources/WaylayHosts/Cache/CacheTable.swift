/// What a cache knows, and what that is worth at a time: a value without I/O.
struct CacheTable: Sendable {
  /// What there is for a query.
  enum Lookup: Sendable {
    /// An answer to use, and whether it is time to look it up again in the background.
    case use(CachedResolution, refresh: Bool)
    /// The lookup failed a moment ago.
    case fail(HostError)
    /// Nothing but, perhaps, an answer whose time is over.
    case ask(fallback: CachedResolution?)
  }

  struct Entry: Sendable {
    var resolution: HostResolution
    var stored: Duration
    var expires: Duration
    /// When to look it up again though it is still good.
    var refreshes: Duration
    /// Until when it is used, though its time is over, without another lookup.
    var usedStaleUntil: Duration?
    var lastUse: UInt64
  }

  private struct Failure: Sendable {
    let error: HostError
    let until: Duration
  }

  let options: ResolutionCache.Options
  private(set) var entries: [HostAuthority: Entry] = [:]
  private var failures: [HostAuthority: Failure] = [:]
  private var uses: UInt64 = 0
  /// What is never dropped for others.
  var pinned: Set<HostAuthority> = []

  init(_ options: ResolutionCache.Options) {
    self.options = options
  }

  mutating func look(_ query: HostAuthority, at now: Duration) -> Lookup {
    if let index = entries.index(forKey: query) {
      uses &+= 1
      entries.values[index].lastUse = uses
      let entry = entries.values[index]
      if now < entry.expires { return .use(entry.answer(at: now), refresh: now >= entry.refreshes) }
      if now < entry.expires + options.maximumStaleness {
        let answer = entry.answer(at: now, isStale: true)
        if let until = entry.usedStaleUntil, now < until { return .use(answer, refresh: false) }
        return .ask(fallback: answer)
      }
      entries[query] = nil
    }
    if let failure = failures[query] {
      if now < failure.until { return .fail(failure.error) }
      failures[query] = nil
    }
    return .ask(fallback: nil)
  }

  mutating func store(_ resolution: HostResolution, for query: HostAuthority, at now: Duration) {
    let lifetime = resolution.timeToLive.clamped(to: options.timeToLive)
    store(resolution, for: query, stored: now, lifetime: lifetime)
  }

  mutating func store(_ resolution: HostResolution, for query: HostAuthority, stored: Duration, lifetime: Duration) {
    failures[query] = nil
    uses &+= 1
    let refreshes = options.refreshFraction.map { stored + lifetime * ($0 >= 0 ? min($0, 1) : 0) } ?? stored + lifetime
    entries[query] = Entry(
      resolution: resolution, stored: stored, expires: stored + lifetime, refreshes: refreshes, usedStaleUntil: nil,
      lastUse: uses)
    if entries.count > options.capacity { evict() }
  }

  /// Notes that a lookup failed. Returns the answer that is to be used in spite of it.
  mutating func fail(_ error: HostError, for query: HostAuthority, at now: Duration) -> CachedResolution? {
    if error.code == .noSuchHost {
      // An answer too: the host is gone, and what was known of it is wrong (RFC 8767, section 4).
      entries[query] = nil
      remember(
        error, for: query, until: now + (error.timeToLive ?? .zero).clamped(to: options.negativeTimeToLive), at: now)
      return nil
    }
    if var entry = entries[query], now < entry.expires + options.maximumStaleness {
      entry.refreshes = now + options.staleTimeToLive
      entry.usedStaleUntil = now + options.staleTimeToLive
      entries[query] = entry
      return entry.answer(at: now, isStale: now >= entry.expires)
    }
    if error.code != .notListed { remember(error, for: query, until: now + options.failureTimeToLive, at: now) }
    return nil
  }

  /// Notes that a stale answer was used because a lookup takes long: the next to ask does not wait again.
  mutating func usedStale(_ query: HostAuthority, at now: Duration) {
    entries[query]?.usedStaleUntil = now + options.staleTimeToLive
  }

  /// Forgets what another network may answer differently.
  mutating func flush(at now: Duration) {
    failures = [:]
    guard options.keepsStaleAcrossNetworks else { return entries = [:] }
    for index in entries.values.indices {
      entries.values[index].expires = min(entries.values[index].expires, now)
      entries.values[index].usedStaleUntil = nil
    }
  }

  mutating func remove(_ query: HostAuthority) {
    entries[query] = nil
    failures[query] = nil
  }

  /// When a pinned query wants to be looked up: now, or later.
  func due(_ query: HostAuthority, at now: Duration) -> Duration {
    if let entry = entries[query] { return entry.refreshes }
    return failures[query]?.until ?? now
  }

  private mutating func remember(_ error: HostError, for query: HostAuthority, until: Duration, at now: Duration) {
    if failures.count >= options.capacity { failures = failures.filter { $0.value.until > now } }
    // Failures cost little to find out again: rather forget them all than keep more of them than answers.
    if failures.count >= options.capacity { failures = [:] }
    failures[query] = Failure(error: error, until: until)
  }

  /// Drops an eighth, so that the next answers find room without another look at all of them.
  private mutating func evict() {
    let goal = options.capacity - options.capacity / 8
    let oldest = entries.filter { !pinned.contains($0.key) }.sorted { $0.value.lastUse < $1.value.lastUse }
    for (query, _) in oldest.prefix(max(1, entries.count - goal)) { entries[query] = nil }
  }
}

extension CacheTable.Entry {
  func answer(at now: Duration, isStale: Bool = false) -> CachedResolution {
    CachedResolution(resolution: resolution, age: now - stored, isStale: isStale, isCached: true)
  }
}

extension Duration {
  func clamped(to range: ClosedRange<Duration>) -> Duration {
    min(max(self, range.lowerBound), range.upperBound)
  }
}
