extension ArchivePolicy {
  /// Updates a stored record from a 304 or a `HEAD` response (RFC 9111, sections 3.2, 4.3.4 and 4.3.5).
  func freshen(
    _ record: CacheRecord, by response: Response, for request: CacheRequest, options: CacheOptions = CacheOptions()
  ) -> CacheRecord {
    let directives = ResponseDirectives(response.fields)
    let new = FieldRules.stored(response.fields, directives)
    var merged = FieldRules.updated(record.fields, by: new)
    // Age and Date come from the new response only; without Date, the age counts from its arrival.
    merged[values: .date] = new[values: .date]
    var options = options
    if let revision = options.revise?(record.status, merged) {
      merged = revision.fields
      options.lifetime = revision.lifetime ?? options.lifetime
    }
    var aged = merged
    aged.append(contentsOf: response.fields.filter { $0.name == .age })
    var fresh = self.record(
      of: Response(
        status: record.status, fields: aged, requestTime: response.requestTime, responseTime: response.responseTime),
      to: request, options)
    fresh.method = record.method
    fresh.extent = record.extent
    fresh.completeLength = record.completeLength
    // The stored bytes are unchanged, so keep their flags.
    fresh.flags.remove(.decoded)
    fresh.flags.formUnion(record.flags.intersection([.decoded, .hadCookies]))
    if request.userCookies == nil || !record.users.isEmpty && !Self.isForEverybody(fresh.directives) {
      fresh.users = record.users
    }
    if fresh.vary == record.vary { fresh.requests = Self.adding(fresh.requests, to: record.requests) }
    return fresh
  }

  /// The requests that a stored response is known to answer: newest last, at most 16.
  private static func adding(_ new: [RequestDigest], to old: [RequestDigest]) -> [RequestDigest] {
    Array((old.filter { !new.contains($0) } + new).suffix(16))
  }

  /// Handles a 304 to conditions added by the archive.
  func notModified(
    _ response: Response, _ request: CacheRequest, _ method: CacheMethod, _ decision: CacheDecision,
    _ records: [CacheRecord], _ options: CacheOptions
  ) -> ResponseOutcome {
    let validating = decision.validating.filter(records.indices.contains)
    var identified = identified(by: response.fields, records, among: validating)
    // The conditions came from a single stored response, so a 304 without validators refers to it.
    if identified.isEmpty, validating.count == 1, !Self.hasValidator(response.fields) { identified = validating }
    if identified.isEmpty,
      let index = validating.first, validating.count == 1, isWeaklyNamed(records[index], by: response.fields),
      let form = Self.form(of: records[index], for: request, method, isLastResort: true)
    {
      // The origin compared weakly, as required, but answered with a strong tag, like servers that compress on the fly:
      // the stored response may be used, but section 4.3.4 forbids updating it.
      var outcome = ResponseOutcome(
        .stored(CacheReply(index: index, form: form, isStale: false)), ArchiveReason(.validated, "304"))
      outcome.replyRecord = records[index]
      return outcome
    }
    guard let index = decision.selected.flatMap({ identified.contains($0) ? $0 : nil }) ?? latest(identified, records),
      let form = Self.form(of: records[index], for: request, method, isLastResort: true)
    else {
      var outcome = ResponseOutcome(.again, ArchiveReason(.validatorUnknown, "ETag"))
      outcome.updates = validating.map { .init(index: $0, record: records[$0].invalidated()) }
      return outcome
    }
    var outcome = ResponseOutcome(
      .stored(CacheReply(index: index, form: form, isStale: false)), ArchiveReason(.validated, "304"))
    for position in identified {
      freshen(position, records, by: response, request, options, isServed: position == index, &outcome)
    }
    if let fresh = outcome.updates.first(where: { $0.index == index })?.record {
      outcome.replyRecord = fresh
      outcome.reason = ArchiveReason(.validated, "304", about: fresh, at: response.responseTime)
    }
    // RFC 9111, section 5.2.1.5: with `no-store` in the request, no part of the response may be stored, not even its
    // head.
    if request.directives.isNoStore { outcome.updates = [] }
    return outcome
  }

  /// Whether the tags differ only in that the stored one is weak.
  private func isWeaklyNamed(_ record: CacheRecord, by fields: HTTPFields) -> Bool {
    guard let stored = record.entityTag, let tag = fields.first(.eTag) else { return false }
    return EntityTag.isWeak(stored) && EntityTag.areWeaklyEqual(stored, tag)
  }

  private func freshen(
    _ index: Int, _ records: [CacheRecord], by response: Response, _ request: CacheRequest, _ options: CacheOptions,
    isServed: Bool, _ outcome: inout ResponseOutcome
  ) {
    var fresh = freshen(records[index], by: response, for: request, options: options)
    // Another variant of the same representation keeps its requests.
    if !isServed, fresh.vary == records[index].vary { fresh.requests = records[index].requests }
    outcome.updates.append(.init(index: index, record: fresh))
    let isForbidden = fresh.directives.isNoStore && !fresh.directives.isMustUnderstand
    if isForbidden { outcome.removals.append(index) }
  }

  /// Handles a 304 to the client's own conditions: passes it on, and freshens the stored responses it identifies.
  func clientsNotModified(
    _ response: Response, _ request: CacheRequest, _ records: [CacheRecord], _ options: CacheOptions
  ) -> ResponseOutcome {
    var outcome = ResponseOutcome(.network, ArchiveReason(.request, "condition"))
    guard !request.directives.isNoStore else { return outcome }
    for index in identified(by: response.fields, records, among: matching(request, records, .get)) {
      freshen(index, records, by: response, request, options, isServed: true, &outcome)
    }
    return outcome
  }

  /// The stored responses that a 304 identifies (RFC 9111, section 4.3.4).
  func identified(by fields: HTTPFields, _ records: [CacheRecord], among indices: [Int]) -> [Int] {
    let modified = fields.first(.lastModified)
    func hasSameDate(_ index: Int) -> Bool { modified != nil && records[index].lastModified == modified }
    guard let tag = fields.first(.eTag) else {
      return latest(indices.filter(hasSameDate), records).map { [$0] } ?? []
    }
    guard EntityTag.isWeak(tag) else {
      return indices.filter { index in
        guard let stored = records[index].entityTag else {
          return hasSameDate(index) && records[index].isLastModifiedStrong
        }
        return EntityTag.areStronglyEqual(stored, tag)
      }
    }
    let weak = indices.filter { index in
      records[index].entityTag.map { EntityTag.areWeaklyEqual($0, tag) } ?? hasSameDate(index)
    }
    return latest(weak, records).map { [$0] } ?? []
  }

  private static func hasValidator(_ fields: HTTPFields) -> Bool {
    fields.contains { $0.name == .eTag || $0.name == .lastModified }
  }

  private func latest(_ indices: [Int], _ records: [CacheRecord]) -> Int? {
    indices.max { Self.isLater(records[$1], than: records[$0]) && records[$0] != records[$1] }
  }

  /// Handles a 200 to `HEAD` (RFC 9111, section 4.3.5): freshens the stored responses to `GET`, or invalidates them.
  func head(
    _ response: Response, _ request: CacheRequest, _ records: [CacheRecord], _ options: CacheOptions
  ) -> ResponseOutcome {
    let matching = matching(request, records, .head).filter { records[$0].method == .get }
    guard !matching.isEmpty else { return replace(response, request, .head, records, options) }
    var outcome = ResponseOutcome(.network, ArchiveReason(.request, "HEAD"))
    for index in matching {
      if describes(response.fields, records[index]) {
        if !request.directives.isNoStore {
          freshen(index, records, by: response, request, options, isServed: true, &outcome)
        }
      } else {
        outcome.updates.append(.init(index: index, record: records[index].invalidated()))
      }
    }
    return outcome
  }

  /// Whether the validators and the length of a `HEAD` response match a stored response.
  private func describes(_ fields: HTTPFields, _ record: CacheRecord) -> Bool {
    if let tag = fields.first(.eTag), tag != record.entityTag { return false }
    if let date = fields.first(.lastModified), date != record.lastModified { return false }
    guard let length = fields.first(.contentLength) else { return true }
    if let stored = record.fields.first(.contentLength) { return length == stored }
    return record.flags.contains(.decoded) || record.completeLength.map { "\($0)" == length } ?? true
  }
}
