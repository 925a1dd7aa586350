extension ArchivePolicy {
  /// A response's head, and when it was asked for and came.
  struct Response: Sendable {
    var status: Int
    var fields: HTTPFields
    var requestTime: CacheTime
    var responseTime: CacheTime
  }

  /// Whether a response may be stored, and with what record (RFC 9111, section 3).
  enum Storability: Sendable {
    case store(CacheRecord)
    case refuse(ArchiveReason)
  }

  /// Whether `response` may be stored, and with what record. A part (206) comes with its extent.
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
    if !isForced {
      if directives.isMustUnderstand {
        // Section 5.2.2.3: a cache that understands the status disregards a no-store beside it.
        guard StatusRules.isUnderstood(status) else { return ArchiveReason(.status, "must-understand") }
      } else if directives.isNoStore {
        return ArchiveReason(.noStore, "no-store")
      }
      if makesItsUser(response, directives, request) {
        return ArchiveReason(.privateResponse, "private and Set-Cookie")
      }
    }
    let isExplicit = directives.maxAge != .absent || response.fields.contains(.expires)
    if method == .post, !isExplicit || !isContentLocation(of: response, sameAs: request) {
      return ArchiveReason(.method, "POST")
    }
    if isForced || isExplicit || directives.isPublic || directives.isPrivate { return nil }
    return StatusRules.heuristicallyCacheable.contains(status) ? nil : ArchiveReason(.status, "\(status)")
  }

  /// RFC 9110, section 9.3.3: the response to a `POST` is a representation of the target when it says so.
  private func isContentLocation(of response: Response, sameAs request: CacheRequest) -> Bool {
    guard let url = request.url, let text = response.fields[.contentLocation] else { return false }
    return URL(string: text, relativeTo: url)?.absoluteString == url.absoluteString
  }

  /// What is kept of a response beside its body, whether or not it may be.
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
    // Where both are there, the coding of the transfer counts (RFC 9112, section 6.3).
    if !record.flags.contains(.decoded), !response.fields.contains(.transferEncoding),
      let length = fields.first(.contentLength)
    {
      record.completeLength = FieldBytes.number(Array(length.utf8)[...])
    }
    return record
  }
}

/// Whose a stored response is, where users are told apart by their cookies.
///
/// RFC 9111 has one user to a private cache. An archive may be shared by sessions with different cookies, and its
/// sessions by users who take turns: a stored response that is one user's is to another request what a variant is that
/// does not match (section 4.1). It may be validated for it, and then is its user's too, and is never given unasked.
extension ArchivePolicy {
  /// Whether a response is one user's: `private`, and, where the request says who asks, whatever the origin does not
  /// let anybody reuse without a word from it.
  private func isPersonal(_ record: CacheRecord, _ response: Response, hasUser: Bool) -> Bool {
    if record.directives.isPrivate { return true }
    if Self.isForEverybody(record.directives) || !hasUser { return false }
    if record.directives.isNoCache || record.directives.isNoStore { return true }
    switch record.lifetimeSource {
    case .maxAge, .expires, .heuristic: return record.lifetime == 0 || response.fields.contains { $0.name.setsCookie }
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
