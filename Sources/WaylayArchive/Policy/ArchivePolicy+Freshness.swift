extension ArchivePolicy {
  /// A freshness lifetime, in seconds, and where it came from.
  struct Lifetime: Equatable {
    var seconds: Int64
    var source: ArchiveReason.LifetimeSource
  }

  /// The freshness lifetime of a response (RFC 9111, section 4.2.1).
  func lifetime(
    status: Int, _ fields: HTTPFields, _ directives: ResponseDirectives, date: Int64, now: CacheTime,
    override: LifetimeOverride?
  ) -> Lifetime {
    if case .forced(let seconds) = override { return Lifetime(seconds: max(0, seconds), source: .forced) }
    if isShared, directives.sharedMaxAge != .absent { return explicit(directives.sharedMaxAge, .sharedMaxAge) }
    if directives.maxAge != .absent { return explicit(directives.maxAge, .maxAge) }
    // Of several lines, the first counts (section 4.2.1).
    if let expires = fields.first(where: { $0.name == .expires })?.value {
      guard let seconds = HTTPDate.seconds(expires, now: now) else { return Lifetime(seconds: 0, source: .invalid) }
      return Lifetime(seconds: max(0, seconds.subtractingSaturating(date)), source: .expires)
    }
    if case .absent(let seconds) = override { return Lifetime(seconds: max(0, seconds), source: .fallback) }
    guard StatusRules.isHeuristicallyCacheable(status) || directives.isPublic else {
      return Lifetime(seconds: 0, source: .none)
    }
    return heuristic(fields, date: date, now: now)
  }

  private func explicit(_ seconds: ResponseDirectives.Seconds, _ source: ArchiveReason.LifetimeSource) -> Lifetime {
    guard case .value(let seconds) = seconds else { return Lifetime(seconds: 0, source: .invalid) }
    return Lifetime(seconds: seconds, source: source)
  }

  /// A part of the time since the last change (RFC 9111, section 4.2.2).
  private func heuristic(_ fields: HTTPFields, date: Int64, now: CacheTime) -> Lifetime {
    guard let text = fields.first(where: { $0.name == .lastModified })?.value,
      let modified = HTTPDate.seconds(text, now: now),
      modified < date
    else { return Lifetime(seconds: 0, source: .none) }
    let fraction = heuristicFraction.isFinite ? min(max(heuristicFraction, 0), 1) : 0
    // No date is further back than 10 000 years: the product is far from what an Int64 can hold.
    let guess = Int64(Double(min(date.subtractingSaturating(modified), FieldBytes.maximumDelta * 1000)) * fraction)
    return Lifetime(seconds: min(guess, max(0, heuristicLimit)), source: .heuristic)
  }

  /// `Date`, in seconds; the time of the response where there is none, several, or something that is none (RFC 9110,
  /// section 6.6.1).
  static func date(_ fields: HTTPFields, responseTime: CacheTime) -> (seconds: Int64, isFromField: Bool) {
    var dates = fields.lazy.filter { $0.name == .date }.makeIterator()
    guard let first = dates.next(), dates.next() == nil, let seconds = HTTPDate.seconds(first.value, now: responseTime)
    else {
      return (responseTime.seconds, false)
    }
    return (seconds, true)
  }

  /// The age that a response came with, in milliseconds (RFC 9111, section 4.2.3).
  static func initialAge(_ fields: HTTPFields, date: Int64, requestTime: CacheTime, responseTime: CacheTime) -> Int64 {
    let apparent = max(0, responseTime.seconds.subtractingSaturating(date)).multipliedSaturating(by: 1000)
    let delay = responseTime.milliseconds(since: requestTime)
    return max(apparent, (ageValue(fields) ?? 0).multipliedSaturating(by: 1000).addingSaturating(delay))
  }

  /// `Age`, in seconds: the first member of a list; `nil` when it cannot be read (RFC 9111, section 5.1).
  static func ageValue(_ fields: HTTPFields) -> Int64? {
    guard let value = fields.first(where: { $0.name.canonicalName == "age" })?.value else { return nil }
    return FieldBytes.deltaSeconds(FieldBytes.trimmed(Array(value.utf8).prefix { $0 != FieldBytes.comma }))
  }
}
