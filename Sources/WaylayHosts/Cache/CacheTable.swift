/// The cached answers and failures, with their freshness at a given time. A value without I/O.
struct CacheTable: Sendable {
  /// The result of a cache lookup.
  enum Lookup: Sendable {
    /// A usable answer, and whether to refresh it in the background.
    case use(CachedResolution, refresh: Bool)
    /// The lookup failed recently.
    case fail(HostError)
    /// No fresh answer: look the host up; the fallback is an expired answer.
    case ask(fallback: CachedResolution?)
  }

  struct Entry: Sendable {
    var resolution: HostResolution
    var stored: Duration
    var expires: Duration
    /// When a fresh answer is due for a refresh.
    var refreshes: Duration
    /// Until when the expired answer is used without another lookup.
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
  /// The prefetched hosts: never evicted.
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

  /// Records a failed lookup. Returns the expired answer to use instead, if any.
  mutating func fail(_ error: HostError, for query: HostAuthority, at now: Duration) -> CachedResolution? {
    if error.code == .noSuchHost {
      // A negative answer: the host does not exist, which overrides the cached answer (RFC 8767, section 4).
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

  /// Records that a stale answer was used because a lookup is slow: later callers use it at once.
  mutating func usedStale(_ query: HostAuthority, at now: Duration) {
    entries[query]?.usedStaleUntil = now + options.staleTimeToLive
  }

  /// Removes the answers that may differ in another network.
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

  /// When to refresh a pinned query: now, or later.
  func due(_ query: HostAuthority, at now: Duration) -> Duration {
    if let entry = entries[query] { return entry.refreshes }
    return failures[query]?.until ?? now
  }

  private mutating func remember(_ error: HostError, for query: HostAuthority, until: Duration, at now: Duration) {
    if failures.count >= options.capacity { failures = failures.filter { $0.value.until > now } }
    // Failures are cheap to find again: clear them all rather than keep more failures than answers.
    if failures.count >= options.capacity { failures = [:] }
    failures[query] = Failure(error: error, until: until)
  }

  /// Evicts an eighth of the entries, so that not every insertion scans the table.
  private mutating func evict() {
    let goal = options.capacity - options.capacity / 8
    let oldest = entries.filter { !pinned.contains($0.key) }.sorted { $0.value.lastUse < $1.value.lastUse }
    for (query, _) in oldest.prefix(max(1, entries.count - goal)) { entries[query] = nil }
  }
}

extension CacheTable.Entry {
  func answer(at now: Duration, isStale: Bool = false) -> CachedResolution {
    CachedResolution(resolution: resolution, age: now - stored, isStale: isStale)
  }
}

extension Duration {
  func clamped(to range: ClosedRange<Duration>) -> Duration {
    min(max(self, range.lowerBound), range.upperBound)
  }
}
