extension ArchivePolicy {
  /// Forwards a request with conditions from the stored responses (RFC 9111, section 4.3.1), unless the request has its
  /// own.
  func revalidate(
    _ request: CacheRequest, _ records: [CacheRecord], _ selected: Int?, _ method: CacheMethod, _ plan: Plan,
    _ reason: ArchiveReason
  ) -> CacheDecision {
    var decision = forward(request, plan, reason)
    decision.selected = selected
    guard !request.isConditional else { return decision }
    if let selected {
      // A partial response can be validated only for a request that it can answer.
      if Self.form(of: records[selected], for: request, method, isLastResort: false) != nil {
        Self.addConditions(&decision, records, [selected])
      } else {
        return complete(request, records[selected], selected, method, plan, reason)
      }
    } else {
      // Exclude other users' responses: an origin that uses the same tag for all users would confirm them for this one.
      var memo = DigestMemo()
      let offered = records.indices.filter {
        Self.canAnswer(records[$0], method) && records[$0].entityTag != nil
          && Self.form(of: records[$0], for: request, method, isLastResort: false) != nil
          && isForUser(records[$0], request, &memo)
      }
      Self.addConditions(&decision, records, offered)
    }
    return decision
  }

  /// Adds `If-None-Match` with the tags of all records, and `If-Modified-Since` for a single one (RFC 9110, section
  /// 13.1).
  static func addConditions(_ decision: inout CacheDecision, _ records: [CacheRecord], _ indices: [Int]) {
    var tags: [String] = []
    for index in indices {
      guard let tag = records[index].entityTag else { continue }
      decision.validating.append(index)
      if !tags.contains(tag) { tags.append(tag) }
    }
    if !tags.isEmpty { decision.addedFields[values: .ifNoneMatch] = [tags.joined(separator: ", ")] }
    guard indices.count == 1, let only = indices.first, let date = records[only].lastModified else { return }
    decision.addedFields[values: .ifModifiedSince] = [date]
    if tags.isEmpty { decision.validating.append(only) }
  }

  /// Forwards a request for the rest of a stored prefix (RFC 9111, section 3.3), or unchanged.
  func complete(
    _ request: CacheRequest, _ record: CacheRecord, _ selected: Int, _ method: CacheMethod, _ plan: Plan,
    _ reason: ArchiveReason
  ) -> CacheDecision {
    var decision = forward(request, plan, reason)
    decision.selected = selected
    guard method == .get, request.range == nil, !request.isConditional,
      let extent = record.extent, extent.lowerBound == 0, let validator = record.strongValidator
    else { return decision }
    decision.addedFields[values: .range] = ["bytes=\(extent.upperBound)-"]
    decision.addedFields[values: .ifRange] = [validator]
    decision.isCompleting = true
    return decision
  }

  func forward(_ request: CacheRequest, _ plan: Plan, _ reason: ArchiveReason) -> CacheDecision {
    var decision = CacheDecision(.forward, reason)
    if plan.asksPastCaches {
      let own = request.cacheControl.map { "\($0), no-cache" }
      decision.addedFields[values: .cacheControl] = [own ?? "no-cache"]
      decision.addedFields[values: .pragma] = ["no-cache"]
    } else if plan.asksForValidation, request.cacheControl == nil {
      decision.addedFields[values: .cacheControl] = ["max-age=0"]
    }
    return decision
  }
}

extension HTTPField.Name {
  static let pragma = HTTPField.Name("Pragma")!
}

extension ArchivePolicy {
  /// Decides how to use the origin's response to a request that ``decide(_:records:now:options:)`` forwarded.
  ///
  /// - Parameters:
  ///   - records: The stored records, the same list in the same order as for the decision.
  func receive(
    _ response: Response, for request: CacheRequest, _ decision: CacheDecision, records: [CacheRecord],
    options: CacheOptions = CacheOptions()
  ) -> ResponseOutcome {
    if Self.hasUncoveredBody(request, options) {
      return ResponseOutcome(.network, ArchiveReason(.method, "body"))
    }
    let method = options.method(of: request)
    if response.status == 304, !decision.validating.isEmpty {
      return notModified(response, request, method, decision, records, options)
    }
    if decision.isCompleting, response.status == 206 || response.status == 416 {
      return rest(response, request, decision, records, options)
    }
    if StatusRules.isServerFailure(response.status),
      let (reply, reason) = inPlaceOfError(
        request, decision, records, response.responseTime, options, isUnreachable: false)
    {
      return ResponseOutcome(.stored(reply), reason)
    }
    switch (method, response.status) {
    case (.get, 304): return clientsNotModified(response, request, records, options)
    case (.head, 200): return head(response, request, records, options)
    case (.get, 206): return part(response, request, records, options)
    default: return replace(response, request, method, records, options)
    }
  }

  /// The stale reply if the origin cannot be reached; `nil` if the client gets the error (RFC 9111, section 4.2.4).
  func fail(
    for request: CacheRequest, _ decision: CacheDecision, records: [CacheRecord], now: CacheTime,
    options: CacheOptions = CacheOptions()
  ) -> (reply: CacheReply, reason: ArchiveReason)? {
    inPlaceOfError(request, decision, records, now, options, isUnreachable: true)
  }

  private func inPlaceOfError(
    _ request: CacheRequest, _ decision: CacheDecision, _ records: [CacheRecord], _ now: CacheTime,
    _ options: CacheOptions, isUnreachable: Bool
  ) -> (CacheReply, ArchiveReason)? {
    let plan = Plan(request, options)
    guard let index = decision.selected, records.indices.contains(index), plan.mayAnswer, !plan.alwaysValidates,
      !request.directives.isNoCache
    else { return nil }
    let record = records[index]
    let age = record.age(at: now)
    let lifetime = record.lifetime.saturating(multipliedBy: 1000)
    let isOfUnknownAge = record.isOfUnknownAge(at: now)
    guard !record.needsTheOrigin, !isRetriedError(record, request),
      request.directives.maxAge.map({ !isOfUnknownAge && age <= $0.saturating(multipliedBy: 1000) }) ?? true,
      let form = Self.form(of: record, for: request, options.method(of: request), isLastResort: true)
    else { return nil }
    let grace = max(record.directives.staleIfError ?? 0, request.directives.staleIfError ?? 0, staleIfError)
    let isAllowed = isWithin(grace, age, lifetime) && !isOfUnknownAge
    guard isAllowed || isUnreachable && staleWhenUnreachable else { return nil }
    let reason =
      isAllowed
      ? ArchiveReason(.staleIfError, "stale-if-error", about: record, at: now)
      : ArchiveReason(.unreachable, about: record, at: now)
    return (CacheReply(index: index, form: form, isStale: lifetime <= age || isOfUnknownAge), reason)
  }

  /// Handles a response that replaces stored ones, or is only passed on.
  func replace(
    _ response: Response, _ request: CacheRequest, _ method: CacheMethod, _ records: [CacheRecord],
    _ options: CacheOptions
  ) -> ResponseOutcome {
    switch storability(of: response, to: request, options: options) {
    case .refuse(let reason):
      if reason.code == .status, let record = lastResort(response, request, method, records, options) {
        return keep(record, request, records)
      }
      var outcome = ResponseOutcome(.network, reason)
      // The origin has replaced the stored responses by an unstorable one: invalidate them.
      if method == .get,
        (200..<400).contains(response.status) && response.status != 206 || response.status == 410
      {
        outcome.updates = matching(request, records, method).map { .init(index: $0, record: records[$0].invalidated()) }
      }
      return outcome
    case .store(let record):
      let isBelated =
        response.status >= 400 && response.status != 410
        && ![.maxAge, .expires, .forced].contains(record.lifetimeSource)
      if isBelated, matching(request, records, method).contains(where: { records[$0].status < 400 }) {
        // Keep the stored response: offline, it is more useful than an error without an explicit lifetime.
        return ResponseOutcome(.network, ArchiveReason(.status, "\(response.status)"))
      }
      return keep(record, request, records)
    }
  }

  private func keep(_ record: CacheRecord, _ request: CacheRequest, _ records: [CacheRecord]) -> ResponseOutcome {
    var outcome = ResponseOutcome(
      .network, ArchiveReason(.stored, about: record, at: record.responseTime))
    outcome.storing = .new(record)
    supersede(request, records, by: record, &outcome)
    return outcome
  }

  /// A redirect that must not be reused, stored for times when the origin cannot be reached: otherwise the target page
  /// could not be reached offline.
  ///
  /// RFC 9111, section 3, does not provide for this, so such a response is never served while the origin can be
  /// reached. It replaces only responses of its kind: a redirect to a sign-in page or to a captive portal must not
  /// displace a regular response.
  private func lastResort(
    _ response: Response, _ request: CacheRequest, _ method: CacheMethod, _ records: [CacheRecord],
    _ options: CacheOptions
  ) -> CacheRecord? {
    guard method == .get, [302, 303, 307].contains(response.status), response.fields.contains(.location),
      matching(request, records, method).allSatisfy({ records[$0].flags.contains(.lastResort) })
    else { return nil }
    var record = record(of: response, to: request, options)
    record.flags.insert(.lastResort)
    return record
  }

  /// The indices of stored responses that match a request by `Vary` and user.
  func matching(_ request: CacheRequest, _ records: [CacheRecord], _ method: CacheMethod) -> [Int] {
    var memo = DigestMemo()
    return records.indices.filter { Self.canAnswer(records[$0], method) && matches(records[$0], request, &memo) }
  }

  /// Removes the records that a new one replaces, and the oldest ones beyond the limit.
  func supersede(
    _ request: CacheRequest, _ records: [CacheRecord], by new: CacheRecord, _ outcome: inout ResponseOutcome
  ) {
    var memo = DigestMemo()
    for index in records.indices {
      let old = records[index]
      guard old.method == new.method || new.method == .get && old.method == .head else { continue }
      // A response of one user replaces that user's response only.
      if !new.users.isEmpty, !old.users.isEmpty {
        var others = old
        others.users.removeAll(where: new.users.contains)
        if !others.users.isEmpty {
          if others.users != old.users { outcome.updates.append(.init(index: index, record: others)) }
          continue
        }
      }
      guard coversFields(old, of: request, &memo) || old.vary == .anything && new.vary == .anything else { continue }
      var rest = old
      if case .fields = old.vary { rest.requests.removeAll { $0 == memo.value } } else { rest.requests = [] }
      if rest.requests.isEmpty {
        outcome.removals.append(index)
      } else {
        outcome.updates.append(.init(index: index, record: rest))
      }
    }
    let kept = records.indices.filter { !outcome.removals.contains($0) }
    let surplus = kept.count + 1 - max(1, maximumVariants)
    guard surplus > 0 else { return }
    let oldest = kept.sorted { Self.isLater(records[$1], than: records[$0]) }.prefix(surplus)
    outcome.removals += oldest
    outcome.updates.removeAll { oldest.contains($0.index) }
  }

  /// Handles a 206 to the client's own range: stored separately, or joined to a stored part (RFC 9111, sections 3.3 and
  /// 3.4).
  func part(
    _ response: Response, _ request: CacheRequest, _ records: [CacheRecord], _ options: CacheOptions
  ) -> ResponseOutcome {
    let record: CacheRecord
    switch storability(of: response, to: request, options: options) {
    case .refuse(let reason): return ResponseOutcome(.network, reason)
    case .store(let new): record = new
    }
    let matching = matching(request, records, .get)
    if let index = matching.first(where: { isSameRepresentation(records[$0], record) }) {
      return join(record, response, to: index, request, records, options)
    }
    if matching.contains(where: { records[$0].isComplete && !contradicts(record, records[$0]) }) {
      // The part does not prove that the stored whole response is outdated, so keep the whole.
      return ResponseOutcome(.network, ArchiveReason(.unusablePart, "validator"))
    }
    return keep(record, request, records)
  }

  /// RFC 9111, section 3.4: the same strong validator, and no contradicting lengths.
  private func isSameRepresentation(_ stored: CacheRecord, _ new: CacheRecord) -> Bool {
    guard let validator = stored.strongValidator, validator == new.strongValidator, !stored.flags.contains(.decoded)
    else { return false }
    return stored.completeLength == nil || new.completeLength == nil || stored.completeLength == new.completeLength
  }

  private func contradicts(_ new: CacheRecord, _ stored: CacheRecord) -> Bool {
    if let tag = new.entityTag, let old = stored.entityTag { return !EntityTag.areWeaklyEqual(tag, old) }
    if let date = new.lastModified, let old = stored.lastModified { return date != old }
    return false
  }

  private func join(
    _ part: CacheRecord, _ response: Response, to index: Int, _ request: CacheRequest, _ records: [CacheRecord],
    _ options: CacheOptions
  ) -> ResponseOutcome {
    let stored = records[index]
    var fresh = freshen(stored, by: response, for: request, options: options)
    fresh.completeLength = stored.completeLength ?? part.completeLength
    var outcome = ResponseOutcome(.network, ArchiveReason(.combined, "206"))
    guard let old = stored.extent, let new = part.extent,
      !(old.lowerBound <= new.lowerBound && new.upperBound <= old.upperBound)
    else {
      // The new part is already stored.
      outcome.updates = [.init(index: index, record: fresh)]
      return outcome
    }
    if old.lowerBound <= new.lowerBound, new.lowerBound <= old.upperBound {
      fresh.extent = old.lowerBound..<new.upperBound
      outcome.storing = .join(index: index, offset: new.lowerBound - old.lowerBound, fresh)
    } else {
      // With a gap, or before the stored part: keep the newer part.
      outcome.reason.code = .stored
      outcome.storing = .new(part)
      supersede(request, records, by: part, &outcome)
    }
    return outcome
  }

  /// Handles the response to a request for the rest of a stored prefix.
  func rest(
    _ response: Response, _ request: CacheRequest, _ decision: CacheDecision, _ records: [CacheRecord],
    _ options: CacheOptions
  ) -> ResponseOutcome {
    guard let index = decision.selected, records.indices.contains(index) else {
      return ResponseOutcome(.again, ArchiveReason(.unusablePart))
    }
    guard response.status == 206, let old = records[index].extent,
      let part = response.fields.first(.contentRange).flatMap({ ContentRange($0) }),
      part.bytes.lowerBound <= old.upperBound, part.bytes.lowerBound >= old.lowerBound,
      part.bytes.upperBound > old.upperBound, isRest(part, response.fields, of: records[index])
    else {
      var outcome = ResponseOutcome(.again, ArchiveReason(.unusablePart, "Content-Range"))
      outcome.removals = [index]
      return outcome
    }
    var fresh = freshen(records[index], by: response, for: request, options: options)
    fresh.completeLength = part.completeLength
    fresh.extent = old.lowerBound..<part.bytes.upperBound
    var outcome = ResponseOutcome(.joined, ArchiveReason(.combined, "206"))
    outcome.storing = .join(index: index, offset: part.bytes.lowerBound - old.lowerBound, fresh)
    return outcome
  }

  /// Whether a part continues to the end of the representation whose prefix is stored.
  private func isRest(_ part: ContentRange, _ fields: HTTPFields, of record: CacheRecord) -> Bool {
    guard let length = part.completeLength, part.bytes.upperBound == length, isPlain(part, fields),
      record.completeLength == nil || record.completeLength == length
    else { return false }
    // The response is a part, so `If-Range` matched: a contradicting validator is an error of the origin, a missing one
    // is not.
    if let tag = fields.first(.eTag) {
      return record.entityTag.map { EntityTag.areStronglyEqual($0, tag) } ?? false
    }
    guard let date = fields.first(.lastModified) else { return true }
    return record.lastModified.map { $0 == date } ?? (record.entityTag != nil)
  }

  /// Whether the message contains exactly the bytes of the range: no other length, and no content coding that the
  /// transport has removed.
  private func isPlain(_ part: ContentRange, _ fields: HTTPFields) -> Bool {
    if fields.hasCoding { return false }
    guard !fields.contains(.transferEncoding), let text = fields.first(.contentLength),
      let length = FieldBytes.number(Array(text.utf8)[...])
    else { return true }
    return length == part.bytes.upperBound - part.bytes.lowerBound
  }
}
