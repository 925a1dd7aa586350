extension ArchivePolicy {
  /// Says what to do with the origin's answer to a request that ``decide(_:records:now:options:)`` has sent on.
  ///
  /// - Parameters:
  ///   - records: What is stored under the request's key: the same list, in the same order, as for the decision.
  package func receive(
    _ response: Response, for request: CacheRequest, _ decision: CacheDecision, records: [CacheRecord],
    options: CacheOptions = CacheOptions()
  ) -> ResponseOutcome {
    let now = response.responseTime
    let method = options.isKeyedByBody ? .get : request.method
    if response.status == 304, !decision.validating.isEmpty {
      return notModified(response, request, method, decision, records, options)
    }
    if decision.isCompleting, response.status == 206 || response.status == 416 {
      return rest(response, request, decision, records, options)
    }
    if StatusRules.isServerFailure(response.status),
      let (answer, reason) = inPlaceOfError(request, method, decision, records, now, options, isUnreachable: false)
    {
      var outcome = ResponseOutcome(.stored(answer), reason)
      outcome.reason.ruling = "stale-if-error"
      return outcome
    }
    switch (method, response.status) {
    case (.get, 304): return clientsNotModified(response, request, records, options)
    case (.head, 200): return head(response, request, records, options)
    case (.get, 206): return part(response, request, records, options)
    default: return replace(response, request, method, records, options)
    }
  }

  /// What a client may get though the origin cannot be reached; `nil` when the error is what it has to get (RFC 9111,
  /// section 4.2.4).
  package func fail(
    for request: CacheRequest, _ decision: CacheDecision, records: [CacheRecord], now: CacheTime,
    options: CacheOptions = CacheOptions()
  ) -> (answer: CacheAnswer, reason: ArchiveReason)? {
    inPlaceOfError(
      request, options.isKeyedByBody ? .get : request.method, decision, records, now, options, isUnreachable: true)
  }

  private func inPlaceOfError(
    _ request: CacheRequest, _ method: CacheMethod, _ decision: CacheDecision, _ records: [CacheRecord],
    _ now: CacheTime,
    _ options: CacheOptions, isUnreachable: Bool
  ) -> (CacheAnswer, ArchiveReason)? {
    let plan = Plan(request, options)
    guard let index = decision.selected, records.indices.contains(index), plan.mayAnswer, !plan.alwaysValidates,
      !request.directives.isNoCache
    else { return nil }
    let record = records[index]
    let age = record.age(at: now)
    let lifetime = record.lifetime.multipliedSaturating(by: 1000)
    let isOfUnknownAge = record.isOfUnknownAge(at: now)
    guard record.flags.isDisjoint(with: [.noCache, .mustRevalidate, .invalidated]),
      request.directives.maxAge.map({ !isOfUnknownAge && age <= $0.multipliedSaturating(by: 1000) }) ?? true,
      let form = Self.form(of: record, for: request, method, isLastResort: true)
    else { return nil }
    let grace = max(record.staleIfError, request.directives.staleIfError ?? 0)
    let isAllowed = isWithin(grace, age, lifetime) && !isOfUnknownAge
    guard isAllowed || isUnreachable && staleWhenUnreachable else { return nil }
    let reason = ArchiveReason(
      isAllowed ? .staleIfError : .unreachable, age: age / 1000, lifetime: record.lifetime,
      lifetimeSource: record.lifetimeSource,
      ruling: isAllowed ? "stale-if-error" : nil)
    return (CacheAnswer(index: index, form: form, isStale: lifetime <= age || isOfUnknownAge), reason)
  }

  /// A response that takes the place of what is stored, or is passed on.
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
      // What is stored has been replaced at the origin by something that must not be.
      if method == .get,
        (200..<400).contains(response.status) && response.status != 206 || [404, 410].contains(response.status)
      {
        outcome.updates = matching(request, records, method).map { .init(index: $0, record: records[$0].invalidated()) }
      }
      return outcome
    case .store(let record): return keep(record, request, records)
    }
  }

  private func keep(_ record: CacheRecord, _ request: CacheRequest, _ records: [CacheRecord]) -> ResponseOutcome {
    var outcome = ResponseOutcome(
      .network, ArchiveReason(.stored, age: 0, lifetime: record.lifetime, lifetimeSource: record.lifetimeSource))
    outcome.storing = .new(record)
    supersede(request, records, by: record, &outcome)
    return outcome
  }

  /// A redirect that may not be reused, as it is kept for when the origin cannot be asked: whoever reads without a
  /// network could not get to the page behind it.
  ///
  /// RFC 9111, section 3, knows no such storing, and nothing that the origin can be asked about is answered with it. It
  /// takes the place of nothing but its own kind: a sign-in page, or the portal of a network, must not displace what
  /// was there.
  private func lastResort(
    _ response: Response, _ request: CacheRequest, _ method: CacheMethod, _ records: [CacheRecord],
    _ options: CacheOptions
  ) -> CacheRecord? {
    guard !isShared, method == .get, [302, 303, 307].contains(response.status), response.fields.contains(.location),
      matching(request, records, method).allSatisfy({ records[$0].flags.contains(.lastResort) })
    else { return nil }
    var record = record(of: response, ResponseDirectives(response.fields), to: request, options)
    record.flags.insert(.lastResort)
    return record
  }

  /// The stored responses that match a request by their own `Vary`.
  func matching(_ request: CacheRequest, _ records: [CacheRecord], _ method: CacheMethod) -> [Int] {
    var memo = DigestMemo()
    return records.indices.filter { Self.canAnswer(records[$0], method) && matches(records[$0], request, &memo) }
  }

  /// Takes away what a newly stored response stands in place of, and the oldest beyond the limit.
  func supersede(
    _ request: CacheRequest, _ records: [CacheRecord], by new: CacheRecord, _ outcome: inout ResponseOutcome
  ) {
    var memo = DigestMemo()
    for index in records.indices {
      let old = records[index]
      guard old.method == new.method || new.method == .get && old.method == .head else { continue }
      // What is one user's takes the place of what that user had, and leaves the others theirs.
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
}
