extension ArchivePolicy {
  /// A 206 to the client's own range: stored by itself, or joined to what is stored (RFC 9111, sections 3.3 and 3.4).
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
      // Nothing says that the whole response is outdated, and a part is no substitute for it.
      return ResponseOutcome(.network, ArchiveReason(.unusablePart, ruling: "validator"))
    }
    var outcome = ResponseOutcome(
      .network, ArchiveReason(.stored, age: 0, lifetime: record.lifetime, lifetimeSource: record.lifetimeSource))
    outcome.storing = .new(record)
    supersede(request, records, by: record, &outcome)
    return outcome
  }

  /// Section 3.4: the same strong validator, and no two lengths.
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
    var outcome = ResponseOutcome(.network, ArchiveReason(.combined, ruling: "206"))
    guard let old = stored.extent, let new = part.extent,
      !(old.lowerBound <= new.lowerBound && new.upperBound <= old.upperBound)
    else {
      // Nothing that is not there already.
      outcome.updates = [.init(index: index, record: fresh)]
      return outcome
    }
    if old.lowerBound <= new.lowerBound, new.lowerBound <= old.upperBound {
      fresh.extent = old.lowerBound..<new.upperBound
      outcome.storing = .join(index: index, offset: new.lowerBound - old.lowerBound, fresh)
    } else {
      // Apart from each other, or in front: the newer one is kept.
      outcome.reason.code = .stored
      outcome.storing = .new(part)
      supersede(request, records, by: part, &outcome)
    }
    return outcome
  }

  /// The answer to a request for the rest of a stored part.
  func rest(
    _ response: Response, _ request: CacheRequest, _ decision: CacheDecision, _ records: [CacheRecord],
    _ options: CacheOptions
  ) -> ResponseOutcome {
    guard let index = decision.selected, records.indices.contains(index) else {
      return ResponseOutcome(.again, ArchiveReason(.unusablePart))
    }
    guard response.status == 206, let old = records[index].extent,
      let part = response.fields.first(where: { $0.name == .contentRange }).flatMap({ ContentRange($0.value) }),
      part.bytes.lowerBound <= old.upperBound, part.bytes.lowerBound >= old.lowerBound,
      part.bytes.upperBound > old.upperBound,
      isRest(part, response.fields, of: records[index])
    else {
      var outcome = ResponseOutcome(.again, ArchiveReason(.unusablePart, ruling: "Content-Range"))
      outcome.removals = [index]
      return outcome
    }
    var fresh = freshen(records[index], by: response, for: request, options: options)
    fresh.completeLength = part.completeLength
    fresh.extent = old.lowerBound..<part.bytes.upperBound
    var outcome = ResponseOutcome(.joined, ArchiveReason(.combined, ruling: "206"))
    outcome.storing = .join(index: index, offset: part.bytes.lowerBound - old.lowerBound, fresh)
    return outcome
  }

  /// Whether a part goes on to the end of the representation that `record` is the beginning of.
  private func isRest(_ part: ContentRange, _ fields: HTTPFields, of record: CacheRecord) -> Bool {
    guard let length = part.completeLength, part.bytes.upperBound == length, isPlain(part, fields),
      record.completeLength == nil || record.completeLength == length
    else { return false }
    // If-Range has been answered with a part: a validator that contradicts it is an error of the origin's, one that is
    // missing is not.
    if let tag = fields.first(where: { $0.name == .eTag })?.value {
      return record.entityTag.map { EntityTag.areStronglyEqual($0, tag) } ?? false
    }
    guard let date = fields.first(where: { $0.name == .lastModified })?.value else { return true }
    return record.lastModified.map { $0 == date } ?? (record.entityTag != nil)
  }

  /// Whether the bytes of the message are those that the part is said to be: nothing gives them another length, and no
  /// coding of their own was undone before they came here.
  private func isPlain(_ part: ContentRange, _ fields: HTTPFields) -> Bool {
    if let coding = fields[.contentEncoding], !FieldBytes.equal(coding, "identity"), !coding.isEmpty { return false }
    guard !fields.contains(.transferEncoding), let text = fields.first(where: { $0.name == .contentLength })?.value,
      let length = FieldBytes.number(Array(text.utf8)[...])
    else { return true }
    return length == part.bytes.upperBound - part.bytes.lowerBound
  }
}
