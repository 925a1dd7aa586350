extension ArchivePolicy {
  /// Whether a stored response may be given as it is, and why.
  struct Verdict {
    var isUsable: Bool
    var isStale = false
    var revalidatesInBackground = false
    var reason: ArchiveReason
  }

  /// Freshness against what response, request, mode and cache policy say (RFC 9111, sections 4.2, 4.2.4 and 5.2.1; RFC
  /// 5861; RFC 8246).
  func verdict(on record: CacheRecord, _ request: CacheRequest, _ plan: Plan, _ now: CacheTime) -> Verdict {
    let age = record.age(at: now)
    let lifetime = record.lifetime.multipliedSaturating(by: 1000)
    let isOfUnknownAge = record.isOfUnknownAge(at: now)
    let isFresh = lifetime > age && !isOfUnknownAge
    func reason(_ code: ArchiveReason.Code, _ ruling: String? = nil) -> ArchiveReason {
      ArchiveReason(
        code, age: age / 1000, lifetime: record.lifetime, lifetimeSource: record.lifetimeSource, ruling: ruling)
    }
    if record.flags.contains(.lastResort), plan.mayLoad { return Verdict(isUsable: false, reason: reason(.stale)) }
    let isInvalid = record.flags.contains(.invalidated)
    if plan.anyAge {
      let isStale = !isFresh || isInvalid
      return Verdict(isUsable: true, isStale: isStale, reason: isStale ? reason(.anyAge, plan.ruling) : reason(.fresh))
    }
    if isInvalid { return Verdict(isUsable: false, reason: reason(.needsValidation, "invalidation")) }
    // RFC 9111, section 4.2.3, counts ages from when a response came: a moment that is still to come is none of those.
    if isOfUnknownAge { return Verdict(isUsable: false, reason: reason(.stale, "clock")) }
    if record.flags.contains(.noCache) { return Verdict(isUsable: false, reason: reason(.needsValidation, "no-cache")) }
    if request.directives.isNoCache { return Verdict(isUsable: false, reason: reason(.request, "no-cache")) }
    // RFC 8246, section 2: what never changes while it is fresh is not asked about when it is reloaded.
    if plan.alwaysValidates, !(isFresh && record.flags.contains(.immutable)) {
      return Verdict(isUsable: false, reason: reason(.request, plan.ruling))
    }
    if let minFresh = request.directives.minFresh,
      lifetime.subtractingSaturating(age) < minFresh.multipliedSaturating(by: 1000)
    {
      return Verdict(isUsable: false, reason: reason(isFresh ? .request : .stale, "min-fresh"))
    }
    // How far past what both sides ask for.
    let asked = request.directives.maxAge.map { min(lifetime, $0.multipliedSaturating(by: 1000)) } ?? lifetime
    if isFresh, age <= asked { return Verdict(isUsable: true, reason: reason(.fresh)) }
    if !isFresh, record.flags.contains(.mustRevalidate) {
      return Verdict(isUsable: false, reason: reason(.stale, "must-revalidate"))
    }
    if let maxStale = request.directives.maxStale,
      age.subtractingSaturating(asked) <= maxStale.multipliedSaturating(by: 1000)
    {
      return Verdict(isUsable: true, isStale: !isFresh, reason: reason(isFresh ? .fresh : .staleAllowed, "max-stale"))
    }
    if asked < lifetime { return Verdict(isUsable: false, reason: reason(.request, "max-age")) }
    if isWithin(record.staleWhileRevalidate, age, lifetime) {
      return Verdict(
        isUsable: true, isStale: true, revalidatesInBackground: true,
        reason: reason(.staleWhileRevalidate, "stale-while-revalidate"))
    }
    return Verdict(isUsable: false, reason: reason(.stale))
  }

  /// Whether a response that is stale is so by no more than `seconds`; 0 stands for a directive that is not there.
  func isWithin(_ seconds: Int64, _ age: Int64, _ lifetime: Int64) -> Bool {
    seconds > 0 && age.subtractingSaturating(lifetime) <= seconds.multipliedSaturating(by: 1000)
  }
}
