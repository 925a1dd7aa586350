extension ArchivePolicy {
  /// Sends a request on, with the conditions that what is stored gives (RFC 9111, section 4.3.1), unless it brings its
  /// own.
  func revalidate(
    _ request: CacheRequest, _ records: [CacheRecord], _ selected: Int?, _ method: CacheMethod, _ plan: Plan,
    _ reason: ArchiveReason
  ) -> CacheDecision {
    var decision = forward(request, plan, reason)
    decision.selected = selected
    guard !request.hasOwnConditions, !request.hasOriginConditions, request.ifRange == nil else { return decision }
    if let selected {
      // A part can be validated only for a request that it can answer.
      if Self.form(of: records[selected], for: request, method, isLastResort: false) != nil {
        Self.addConditions(&decision, records, [selected])
      } else {
        return complete(request, records[selected], selected, method, plan, reason)
      }
    } else {
      Self.addConditions(
        &decision, records, records.indices.filter { Self.canBeValidated(records[$0], for: request, method) })
    }
    return decision
  }

  private static func canBeValidated(_ record: CacheRecord, for request: CacheRequest, _ method: CacheMethod) -> Bool {
    canAnswer(record, method) && record.entityTag != nil
      && form(of: record, for: request, method, isLastResort: false) != nil
  }

  /// `If-None-Match` with the tags of all, `If-Modified-Since` with the date of one (RFC 9110, section 13.1).
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

  /// Sends a request on for the rest of a part that begins at the beginning (RFC 9111, section 3.3), or as it is.
  func complete(
    _ request: CacheRequest, _ record: CacheRecord, _ selected: Int, _ method: CacheMethod, _ plan: Plan,
    _ reason: ArchiveReason
  ) -> CacheDecision {
    var decision = forward(request, plan, reason)
    decision.selected = selected
    guard method == .get, request.range == nil, request.ifRange == nil, !request.hasOwnConditions,
      !request.hasOriginConditions,
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
      let own = request.value(of: "cache-control").map { "\($0), no-cache" }
      decision.addedFields[values: .cacheControl] = [own ?? "no-cache"]
      decision.addedFields[values: .pragma] = ["no-cache"]
    }
    return decision
  }
}

extension HTTPField.Name {
  static let pragma = HTTPField.Name("Pragma")!
}
