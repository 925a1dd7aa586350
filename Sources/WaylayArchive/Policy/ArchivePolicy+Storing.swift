extension ArchivePolicy {
  /// A response's head, and when it was asked for and came.
  package struct Response: Sendable {
    package var status: Int
    package var fields: HTTPFields
    package var requestTime: CacheTime
    package var responseTime: CacheTime

    package init(status: Int, fields: HTTPFields, requestTime: CacheTime, responseTime: CacheTime) {
      self.status = status
      self.fields = fields
      self.requestTime = requestTime
      self.responseTime = responseTime
    }
  }

  /// Whether a response may be stored, and with what record (RFC 9111, section 3).
  package enum Storability: Sendable {
    case store(CacheRecord)
    case refuse(ArchiveReason)
  }

  /// Whether `response` may be stored, and with what record. A part (206) comes with its extent.
  package func storability(
    of response: Response, to request: CacheRequest, options: CacheOptions = CacheOptions()
  ) -> Storability {
    let directives = ResponseDirectives(response.fields)
    if let refusal = refusal(of: response, directives, to: request, options) { return .refuse(refusal) }
    var record = record(of: response, directives, to: request, options)
    record.method = request.method == .head && !options.isKeyedByBody ? .head : .get
    if response.status == 206 {
      guard let value = response.fields.first(where: { $0.name == .contentRange })?.value,
        let part = ContentRange(value), !record.flags.contains(.decoded)
      else { return .refuse(ArchiveReason(.unusablePart, ruling: "Content-Range")) }
      record.extent = part.bytes
      record.completeLength = part.completeLength
    }
    return .store(record)
  }

  private func refusal(
    of response: Response, _ directives: ResponseDirectives, to request: CacheRequest, _ options: CacheOptions
  ) -> ArchiveReason? {
    let status = response.status
    guard status >= 200, status != 304, !StatusRules.isAboutRequest(status) else {
      return ArchiveReason(.status, ruling: "\(status)")
    }
    let method = options.isKeyedByBody ? .get : request.method
    guard method == .get || method == .head || method == .post else { return ArchiveReason(.method) }
    guard !StatusRules.mustNotBeStored(status) else { return ArchiveReason(.status, ruling: "\(status)") }
    let isForced = if case .forced = options.lifetime { status < 500 } else { false }
    if request.directives.isNoStore { return ArchiveReason(.noStore, ruling: "request no-store") }
    if !isForced {
      if directives.isMustUnderstand {
        // Section 5.2.2.3: a cache that understands the status disregards a no-store beside it.
        guard StatusRules.isUnderstood(status) else { return ArchiveReason(.status, ruling: "must-understand") }
      } else if directives.isNoStore {
        return ArchiveReason(.noStore, ruling: "no-store")
      }
      if makesItsUser(response, directives, request) {
        return ArchiveReason(.privateResponse, ruling: "private and Set-Cookie")
      }
    }
    let isExplicit = hasExplicitLifetime(response.fields, directives)
    if method == .post {
      guard isExplicit, isContentLocation(of: response, sameAs: request) else {
        return ArchiveReason(.method, ruling: "POST")
      }
    }
    if isForced || isExplicit || directives.isPublic || directives.isPrivate { return nil }
    return StatusRules.isHeuristicallyCacheable(status) ? nil : ArchiveReason(.status, ruling: "\(status)")
  }

  private func hasExplicitLifetime(_ fields: HTTPFields, _ directives: ResponseDirectives) -> Bool {
    directives.maxAge != .absent || fields.contains(.expires)
  }

  /// RFC 9110, section 9.3.3: the response to a `POST` is a representation of the target when it says so.
  private func isContentLocation(of response: Response, sameAs request: CacheRequest) -> Bool {
    guard let url = request.url, let text = response.fields[.contentLocation],
      let location = URL(string: text, relativeTo: url)
    else {
      return false
    }
    return location.absoluteString == url.absoluteString
  }

  /// What is kept of a response beside its body, whether or not it may be.
  func record(
    of response: Response, _ directives: ResponseDirectives, to request: CacheRequest, _ options: CacheOptions
  ) -> CacheRecord {
    let (date, hasDate) = Self.date(response.fields, responseTime: response.responseTime)
    var fields = FieldRules.stored(response.fields, directives)
    if !hasDate { fields[values: .date] = [HTTPDate.text(seconds: date)] }
    let lifetime = lifetime(
      status: response.status, response.fields, directives, date: date, now: response.responseTime,
      override: options.lifetime)
    var record = CacheRecord(
      method: .get, status: response.status, fields: fields, requestTime: response.requestTime,
      responseTime: response.responseTime, date: date, lifetime: lifetime)
    record.initialAge = Self.initialAge(
      response.fields, date: date, requestTime: response.requestTime, responseTime: response.responseTime)
    record.flags = flags(directives, fields, date: date, now: response.responseTime, lifetime.source)
    record.staleWhileRevalidate = directives.staleWhileRevalidate ?? 0
    record.staleIfError = directives.staleIfError ?? 0
    record.entityTag = fields.first { $0.name == .eTag }.map(\.value).flatMap { $0.isEmpty ? nil : $0 }
    record.lastModified = fields.first { $0.name == .lastModified }.map(\.value).flatMap { $0.isEmpty ? nil : $0 }
    record.users = users(of: response, directives, lifetime, request)
    record.vary = Vary(fields)
    if case .fields(let names) = record.vary { record.requests = [request.digest(of: names, digest)] }
    // Where both are there, the coding of the transfer counts (RFC 9112, section 6.3).
    if !record.flags.contains(.decoded), !response.fields.contains(.transferEncoding),
      let length = fields.first(where: { $0.name == .contentLength })?.value
    {
      record.completeLength = FieldBytes.number(Array(length.utf8)[...])
    }
    return record
  }

  private func flags(
    _ directives: ResponseDirectives, _ fields: HTTPFields, date: Int64, now: CacheTime,
    _ source: ArchiveReason.LifetimeSource
  ) -> CacheRecord.Flags {
    var flags: CacheRecord.Flags = []
    if directives.isImmutable { flags.insert(.immutable) }
    if source != .forced {
      if directives.isNoCache { flags.insert(.noCache) }
      if directives.isMustRevalidate { flags.insert(.mustRevalidate) }
    }
    if let coding = fields[.contentEncoding], !FieldBytes.equal(coding, "identity"), !coding.isEmpty {
      flags.insert(.decoded)
    }
    if let text = fields.first(where: { $0.name == .lastModified })?.value,
      let modified = HTTPDate.seconds(text, now: now), date.subtractingSaturating(modified) >= 1
    {
      flags.insert(.strongLastModified)
    }
    return flags
  }

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
    switch directives.maxAge {
    case .absent: break
    case .invalid: return Lifetime(seconds: 0, source: .invalid)
    case .value(let seconds): return Lifetime(seconds: seconds, source: .maxAge)
    }
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

  /// A part of the time since the last change (RFC 9111, section 4.2.2).
  private func heuristic(_ fields: HTTPFields, date: Int64, now: CacheTime) -> Lifetime {
    guard let text = fields.first(where: { $0.name == .lastModified })?.value,
      let modified = HTTPDate.seconds(text, now: now), modified < date
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

/// Whose a stored response is, where users are told apart by their cookies.
///
/// RFC 9111 has one user to a private cache. An archive may be shared by sessions with different cookies, and its
/// sessions by users who take turns: a stored response that is one user's is to another request what a variant is that
/// does not match (section 4.1). It may be validated for it, and then is its user's too, and is never given unasked.
extension ArchivePolicy {
  /// Those whose a response is; empty for everybody's.
  func users(
    of response: Response, _ directives: ResponseDirectives, _ lifetime: Lifetime, _ request: CacheRequest
  ) -> [RequestDigest] {
    guard let user = user(of: request), isPersonal(response, directives, lifetime, hasUser: user != .allAbsent) else {
      return []
    }
    return [user]
  }

  /// Whether a response is one user's: `private`, and, where the request says who asks, whatever the origin does not
  /// let anybody reuse without a word from it.
  private func isPersonal(
    _ response: Response, _ directives: ResponseDirectives, _ lifetime: Lifetime, hasUser: Bool
  ) -> Bool {
    if directives.isPrivate { return true }
    if Self.isForEverybody(directives) || !hasUser { return false }
    if directives.isNoCache || directives.isNoStore { return true }
    switch lifetime.source {
    case .maxAge, .expires, .heuristic: return lifetime.seconds == 0 || response.fields.contains { $0.name.setsCookie }
    default: return true
    }
  }

  /// Whether the origin says that caches of many users may reuse a response.
  static func isForEverybody(_ directives: ResponseDirectives) -> Bool {
    guard !directives.isPrivate else { return false }
    if directives.isPublic { return true }
    guard case .value(let seconds) = directives.sharedMaxAge else { return false }
    return seconds > 0
  }

  /// Whether a response must not be kept at all: it makes its user, and nothing in the request tells him from the next
  /// one.
  func makesItsUser(_ response: Response, _ directives: ResponseDirectives, _ request: CacheRequest) -> Bool {
    guard directives.isPrivate, let rule = request.userCookies, rule.isSet(by: response.fields) else { return false }
    return user(of: request) == .allAbsent
  }

  /// The URLs whose stored responses no longer hold after `response` to `request` (RFC 9111, section 4.4): the
  /// target's, and those that `Location` and `Content-Location` name at the same origin. None for a safe method, and
  /// none for an error.
  package func invalidations(
    status: Int, fields: HTTPFields, for request: CacheRequest, options: CacheOptions = CacheOptions()
  ) -> [URL] {
    guard !options.isKeyedByBody, !request.method.isSafe, (200..<400).contains(status), let target = request.url else {
      return []
    }
    var urls = [target]
    for name in [HTTPField.Name.location, .contentLocation] {
      guard let text = fields[name], let url = URL(string: text, relativeTo: target)?.absoluteURL,
        url.hasSameOrigin(as: target)
      else {
        continue
      }
      if !urls.contains(url) { urls.append(url) }
    }
    return urls
  }
}
