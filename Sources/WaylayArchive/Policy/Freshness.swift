/// Freshness lifetime and initial age of a response (RFC 9111, sections 4.2.1 to 4.2.3).
enum Freshness {
  /// The divisor for the heuristic lifetime: a tenth of the time since `Last-Modified` (section 4.2.2).
  private static let heuristicFraction: Int64 = 10
  /// The maximum heuristic lifetime in seconds.
  private static let heuristicLimit: Int64 = 7 * 86_400

  /// The freshness lifetime of a response in seconds, and its source (section 4.2.1).
  ///
  /// - Parameter now: The arrival of the response.
  static func lifetime(
    _ status: Int, _ fields: HTTPFields, _ directives: ResponseDirectives, date: Int64, now: CacheTime,
    _ override: LifetimeOverride?
  ) -> (seconds: Int64, source: LifetimeSource) {
    if case .forced(let seconds) = override { return (max(0, seconds), .forced) }
    switch directives.maxAge {
    case .absent: break
    case .invalid: return (0, .invalid)
    case .value(let seconds): return (seconds, .maxAge)
    }
    // The first of several lines applies (section 4.2.1).
    if let expires = fields.first(.expires) {
      guard let seconds = HTTPDate.seconds(expires, now: now.seconds) else { return (0, .invalid) }
      return (max(0, seconds.saturating(subtracting: date)), .expires)
    }
    if case .absent(let seconds) = override { return (max(0, seconds), .fallback) }
    guard StatusRules.heuristicallyCacheable.contains(status) || directives.isPublic,
      let modified = fields.first(.lastModified).flatMap({ HTTPDate.seconds($0, now: now.seconds) }), modified < date
    else { return (0, .none) }
    return (min(date.saturating(subtracting: modified) / heuristicFraction, heuristicLimit), .heuristic)
  }

  /// `Date` in seconds; `nil` if it is absent, repeated or invalid (RFC 9110, section 6.6.1).
  static func date(_ fields: HTTPFields, now: CacheTime) -> Int64? {
    var dates = fields.lazy.filter { $0.name == .date }.makeIterator()
    guard let first = dates.next(), dates.next() == nil else { return nil }
    return HTTPDate.seconds(first.value, now: now.seconds)
  }

  /// The age on arrival in milliseconds (section 4.2.3).
  static func initialAge(_ fields: HTTPFields, date: Int64, requestTime: CacheTime, responseTime: CacheTime) -> Int64 {
    let apparent = max(0, responseTime.seconds.saturating(subtracting: date)).saturating(multipliedBy: 1000)
    let delay = responseTime.milliseconds(since: requestTime)
    return max(apparent, age(fields).saturating(multipliedBy: 1000).saturating(adding: delay))
  }

  /// `Age` in seconds: the first member of a list; 0 if it is invalid (section 5.1).
  private static func age(_ fields: HTTPFields) -> Int64 {
    guard let value = fields.first(.age) else { return 0 }
    return FieldBytes.deltaSeconds(Array(value.utf8).prefix { $0 != FieldBytes.comma }.trimmingBlanks) ?? 0
  }
}

/// The source of a freshness lifetime.
enum LifetimeSource: String, Sendable, CustomStringConvertible {
  case maxAge = "max-age"
  /// `Expires` minus `Date`.
  case expires = "Expires"
  /// A tenth of the time since `Last-Modified` (RFC 9111, section 4.2.2).
  case heuristic
  /// No source: the response is never fresh.
  case none = "nothing"
  /// An invalid value: the response is never fresh (RFC 9111, section 4.2.1).
  case invalid = "unreadable"
  /// A rule of the app for responses without a lifetime.
  case fallback = "default rule"
  /// A rule of the app that overrides the response.
  case forced = "forced rule"

  var description: String { rawValue }
}

/// A lifetime set by a rule of the app.
enum LifetimeOverride: Hashable, Sendable {
  /// Seconds for a response without an explicit lifetime, instead of the heuristic of RFC 9111, section 4.2.2.
  case absent(Int64)
  /// Seconds that override the response, including `no-cache`, `private` and `must-revalidate`.
  case forced(Int64)
}
