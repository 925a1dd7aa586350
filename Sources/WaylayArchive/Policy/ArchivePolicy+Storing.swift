extension ArchivePolicy {
  /// A response's head, with the times of its request and its arrival.
  struct Response: Sendable {
    var status: Int
    var fields: HTTPFields
    var requestTime: CacheTime
    var responseTime: CacheTime
  }

  /// The decision whether to store a response (RFC 9111, section 3).
  enum Storability: Sendable {
    case store(CacheRecord)
    case refuse(ArchiveReason)
  }

  /// Decides whether `response` may be stored. The record of a part (206) has an extent.
  func storability(
    of response: Response, to request: CacheRequest, options: CacheOptions = CacheOptions()
  ) -> Storability {
    let directives = ResponseDirectives(response.fields)
    if let refusal = refusal(of: response, directives, to: request, options) { return .refuse(refusal) }
    var record = record(of: response, to: request, options)
    record.method = options.method(of: request) == .head ? .head : .get
    if response.status == 206 {
      guard let part = response.fields.first(.contentRange).flatMap({ ContentRange($0) }),
        !record.flags.contains(.decoded)
      else { return .refuse(ArchiveReason(.unusablePart, "Content-Range")) }
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
      return ArchiveReason(.status, "\(status)")
    }
    let method = options.method(of: request)
    guard method == .get || method == .head || method == .post else { return ArchiveReason(.method) }
    guard !StatusRules.unstorable.contains(status) else { return ArchiveReason(.status, "\(status)") }
    let isForced = if case .forced = options.lifetime { status < 500 } else { false }
    if request.directives.isNoStore { return ArchiveReason(.noStore, "request no-store") }
    if directives.isMustUnderstand {
      // Section 5.2.2.3: a cache that understands the status ignores `no-store`.
      guard StatusRules.isUnderstood(status) else { return ArchiveReason(.status, "must-understand") }
    } else if directives.isNoStore {
      return ArchiveReason(.noStore, "no-store")
    }
    if !isForced, makesItsUser(response, directives, request) {
      return ArchiveReason(.privateResponse, "private and Set-Cookie")
    }
    let isExplicit = directives.maxAge != .absent || response.fields.contains(.expires)
    if method == .post, !isExplicit || !isContentLocation(of: response, sameAs: request) {
      return ArchiveReason(.method, "POST")
    }
    if isForced || isExplicit || directives.isPublic || directives.isPrivate { return nil }
    return StatusRules.heuristicallyCacheable.contains(status) ? nil : ArchiveReason(.status, "\(status)")
  }

  /// RFC 9110, section 9.3.3: a response to `POST` with this `Content-Location` is a representation of the target.
  private func isContentLocation(of response: Response, sameAs request: CacheRequest) -> Bool {
    guard let url = request.url, let text = response.fields[.contentLocation] else { return false }
    return URL(string: text, relativeTo: url)?.absoluteString == url.absoluteString
  }

  /// The record of a response, whether or not it may be stored.
  func record(of response: Response, to request: CacheRequest, _ options: CacheOptions) -> CacheRecord {
    let date = Freshness.date(response.fields, now: response.responseTime)
    var fields = FieldRules.stored(response.fields, ResponseDirectives(response.fields))
    if date == nil { fields[values: .date] = [HTTPDate.text(seconds: response.responseTime.seconds)] }
    let initialAge = Freshness.initialAge(
      response.fields, date: date ?? response.responseTime.seconds, requestTime: response.requestTime,
      responseTime: response.responseTime)
    var record = CacheRecord(
      method: .get, status: response.status, fields: fields, requestTime: response.requestTime,
      responseTime: response.responseTime, initialAge: initialAge, override: options.lifetime)
    if fields.hasCoding { record.flags.insert(.decoded) }
    if let user = user(of: request), isPersonal(record, response, hasUser: user != .allAbsent) { record.users = [user] }
    if case .fields(let names) = record.vary { record.requests = [request.digest(of: names, digest)] }
    // With both fields, the transfer coding determines the length (RFC 9112, section 6.3).
    if !record.flags.contains(.decoded), !response.fields.contains(.transferEncoding),
      let length = fields.first(.contentLength)
    {
      record.completeLength = FieldBytes.number(Array(length.utf8)[...])
    }
    return record
  }
}

/// Separates users by their cookies.
///
/// RFC 9111 assumes one user per private cache. An archive may be shared by sessions with different cookies, and by
/// users who take turns. A stored response for one user is therefore treated like a variant that does not match
/// (section 4.1) for all other users: it is never served to another user without validation, and a successful
/// validation adds that user to it.
extension ArchivePolicy {
  /// Whether a response is for one user only: `private`, or, for a request with user cookies, any response that
  /// requires validation before reuse, or whose lifetime is a guess.
  private func isPersonal(_ record: CacheRecord, _ response: Response, hasUser: Bool) -> Bool {
    if record.directives.isPrivate { return true }
    if Self.isForEverybody(record.directives) || !hasUser { return false }
    if record.directives.isNoCache || record.directives.isNoStore { return true }
    switch record.lifetimeSource {
    case .maxAge, .expires: return record.lifetime == 0 || response.fields.contains { $0.name.setsCookie }
    default: return true
    }
  }

  /// Whether the origin allows shared caches to reuse a response.
  static func isForEverybody(_ directives: ResponseDirectives) -> Bool {
    guard !directives.isPrivate else { return false }
    if directives.isPublic { return true }
    guard case .value(let seconds) = directives.sharedMaxAge else { return false }
    return seconds > 0
  }

  /// Whether a `private` response sets the user's cookies for a request without any: it must not be stored, because the
  /// requests of other new users look the same.
  func makesItsUser(_ response: Response, _ directives: ResponseDirectives, _ request: CacheRequest) -> Bool {
    guard directives.isPrivate, let rule = request.userCookies, rule.isSet(by: response.fields) else { return false }
    return user(of: request) == .allAbsent
  }

  /// The URLs to invalidate after `response` to `request` (RFC 9111, section 4.4): the target, and `Location` and
  /// `Content-Location` on the same origin. Empty for a safe method or an error.
  func invalidations(
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
