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
        let part = ContentRange(value),
        !record.flags.contains(.decoded)
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
    // Recording for replay takes everything that can be played back.
    if options.mode == .record, method != .post { return nil }
    guard !StatusRules.mustNotBeStored(status) else { return ArchiveReason(.status, ruling: "\(status)") }
    let isForced = if case .forced = options.lifetime { status < 500 } else { false }
    if request.directives.isNoStore { return ArchiveReason(.noStore, ruling: "request no-store") }
    if !isForced {
      if directives.isMustUnderstand {
        // Section 5.2.2.3: whoever understands the status disregards a no-store beside it.
        guard StatusRules.isUnderstood(status) else { return ArchiveReason(.status, ruling: "must-understand") }
      } else if directives.isNoStore {
        return ArchiveReason(.noStore, ruling: "no-store")
      }
      if makesItsUser(response, directives, request) {
        return ArchiveReason(.privateResponse, ruling: "private and Set-Cookie")
      }
      if isShared, let refusal = sharedRefusal(directives, request) { return refusal }
    }
    let isExplicit = hasExplicitLifetime(response.fields, directives)
    if method == .post {
      guard isExplicit, isContentLocation(of: response, sameAs: request) else {
        return ArchiveReason(.method, ruling: "POST")
      }
    }
    if isForced || isExplicit || directives.isPublic || !isShared && directives.isPrivate { return nil }
    return StatusRules.isHeuristicallyCacheable(status) ? nil : ArchiveReason(.status, ruling: "\(status)")
  }

  private func sharedRefusal(_ directives: ResponseDirectives, _ request: CacheRequest) -> ArchiveReason? {
    if directives.isPrivate { return ArchiveReason(.privateResponse, ruling: "private") }
    let isAllowed = directives.isMustRevalidate || directives.isPublic || directives.sharedMaxAge != .absent
    return request.hasAuthorization && !isAllowed ? ArchiveReason(.authorization, ruling: "Authorization") : nil
  }

  private func hasExplicitLifetime(_ fields: HTTPFields, _ directives: ResponseDirectives) -> Bool {
    directives.maxAge != .absent || isShared && directives.sharedMaxAge != .absent || fields.contains(.expires)
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
    var fields = FieldRules.stored(response.fields, directives, isShared: isShared)
    if !hasDate { fields[values: .date] = [HTTPDate.text(seconds: date)] }
    let lifetime = lifetime(
      status: response.status, response.fields, directives, date: date, now: response.responseTime,
      override: options.lifetime)
    var record = CacheRecord(
      method: .get, status: response.status, fields: fields, requestTime: response.requestTime,
      responseTime: response.responseTime,
      date: date, lifetime: lifetime)
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
      let isSharedDemand = isShared && (directives.isProxyRevalidate || directives.sharedMaxAge != .absent)
      if directives.isMustRevalidate || isSharedDemand { flags.insert(.mustRevalidate) }
    }
    if let coding = fields[.contentEncoding], !FieldBytes.equal(coding, "identity"), !coding.isEmpty {
      flags.insert(.decoded)
    }
    if let text = fields.first(where: { $0.name == .lastModified })?.value,
      let modified = HTTPDate.seconds(text, now: now),
      date.subtractingSaturating(modified) >= 1
    {
      flags.insert(.strongLastModified)
    }
    return flags
  }
}
