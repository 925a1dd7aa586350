extension CacheRecord {
  init(
    method: CacheMethod, status: Int, fields: HTTPFields, requestTime: CacheTime, responseTime: CacheTime, date: Int64,
    lifetime: ArchivePolicy.Lifetime
  ) {
    self.method = method
    self.status = status
    self.fields = fields
    trailers = [:]
    self.requestTime = requestTime
    self.responseTime = responseTime
    self.date = date
    initialAge = 0
    self.lifetime = lifetime.seconds
    lifetimeSource = lifetime.source
    flags = []
    staleWhileRevalidate = 0
    staleIfError = 0
    vary = .nothing
    requests = []
    users = []
  }

  /// The record of a whole body that has been stored to its end; `nil` when the body is not as long as the head says.
  ///
  /// A response whose length is known and not reached is incomplete (RFC 9111, section 3.3): ``truncated(at:)`` is for
  /// it.
  package func completed(bodyLength: Int64) -> CacheRecord? {
    var copy = self
    if let extent {
      guard extent.upperBound - extent.lowerBound == bodyLength else { return nil }
      if extent.lowerBound == 0, extent.upperBound == completeLength { copy.becomeWhole() }
      return copy
    }
    // The response to HEAD has the length of what GET would have got.
    if method == .head { return bodyLength == 0 ? self : nil }
    if let completeLength, completeLength != bodyLength { return nil }
    copy.completeLength = bodyLength
    return copy
  }

  /// Whether a stored body of so many bytes can be the one that this record is of.
  package func describes(bodyLength: Int64) -> Bool {
    if let extent { return extent.upperBound - extent.lowerBound == bodyLength }
    if method == .head { return bodyLength == 0 }
    return completeLength == nil || completeLength == bodyLength
  }

  /// The record of a body that broke off after so many bytes of what this record is for; `nil` when the rest could not
  /// be asked for later.
  package func truncated(at bytes: Int64) -> CacheRecord? {
    guard bytes > 0, method == .get, status == 200 || status == 206, strongValidator != nil, !flags.contains(.decoded)
    else { return nil }
    let start = extent?.lowerBound ?? 0
    guard bytes <= (extent.map { $0.upperBound - $0.lowerBound } ?? completeLength ?? .max) else { return nil }
    var copy = self
    copy.extent = start..<start.addingSaturating(bytes)
    return copy
  }

  /// A part that has grown into the whole answers like a 200 (RFC 9111, section 3.4).
  package mutating func becomeWhole() {
    extent = nil
    status = 200
    fields[values: .contentRange] = []
    if let completeLength { fields[values: .contentLength] = ["\(completeLength)"] }
  }
}
