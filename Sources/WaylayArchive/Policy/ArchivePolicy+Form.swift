extension ArchivePolicy {
  /// The form in which a stored response answers a request; `nil` when the origin has to.
  ///
  /// The client's own conditions go first, then its range (RFC 9110, section 13.2.2; RFC 9111, section 4.3.2).
  ///
  /// - Parameter isLastResort: The origin cannot be asked: then something is given where it can be at all.
  static func form(
    of record: CacheRecord, for request: CacheRequest, _ method: CacheMethod, isLastResort: Bool
  ) -> CacheAnswer.Form? {
    if request.hasOriginConditions, !isLastResort { return nil }
    let isSuccess = (200..<300).contains(record.status)
    if isSuccess, request.hasOwnConditions, isUnmodified(record, request) { return .notModified }
    guard method == .get else { return .whole }
    let whole: CacheAnswer.Form? = record.isComplete && record.status != 206 ? .whole : nil
    // A range means something for a success alone (RFC 9110, section 14.2).
    guard let range = request.range, record.status == 200 || record.status == 206, holdsIfRange(record, request) else {
      return whole
    }
    // The bytes that are stored are not those of the wire: a range of them would be another one.
    if record.flags.contains(.decoded) { return isLastResort ? whole : nil }
    return slice(record, range, isLastResort: isLastResort)
  }

  private static func slice(_ record: CacheRecord, _ range: ByteRange, isLastResort: Bool) -> CacheAnswer.Form? {
    guard let length = record.completeLength else {
      guard let bytes = range.bytes, let extent = record.extent, extent.lowerBound <= bytes.lowerBound,
        bytes.upperBound <= extent.upperBound
      else { return isLastResort && record.isComplete ? .whole : nil }
      return .range(bytes)
    }
    if range == .other { return isLastResort && record.isComplete ? .whole : nil }
    guard let bytes = range.bytes(of: length) else { return isLastResort ? .unsatisfiableRange(length) : nil }
    if let extent = record.extent, bytes.lowerBound < extent.lowerBound || bytes.upperBound > extent.upperBound {
      return nil
    }
    return .range(bytes)
  }

  /// Whether the client's own copy still holds: `If-None-Match` weakly, or else `If-Modified-Since` (RFC 9110, sections
  /// 13.1.2 and 13.1.3).
  private static func isUnmodified(_ record: CacheRecord, _ request: CacheRequest) -> Bool {
    if let list = request.ifNoneMatch { return EntityTag.list(list, names: record.entityTag) }
    guard let text = request.ifModifiedSince, let since = HTTPDate.seconds(text, now: record.responseTime) else {
      return false
    }
    // Section 4.3.2: where there is no Last-Modified, Date stands for it.
    guard let modified = record.lastModified else { return record.date <= since }
    guard let seconds = HTTPDate.seconds(modified, now: record.responseTime) else { return false }
    return seconds <= since
  }

  /// Whether `If-Range` leaves the range in force (RFC 9110, section 13.1.5): strong comparison, dates to the letter.
  private static func holdsIfRange(_ record: CacheRecord, _ request: CacheRequest) -> Bool {
    guard let condition = request.ifRange else { return true }
    if let tag = record.entityTag, EntityTag.areStronglyEqual(tag, condition) { return true }
    return record.flags.contains(.strongLastModified) && record.lastModified == condition
  }
}
