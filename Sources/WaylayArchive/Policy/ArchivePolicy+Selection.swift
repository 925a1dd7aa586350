extension ArchivePolicy {
  /// What of the stored responses a request is about (RFC 9111, sections 4 and 4.1).
  struct Selection {
    /// The response that matches; of several, the one with the latest `Date`.
    var selected: Int?
    /// Whether there is any response for the method, whatever its `Vary`.
    var isAnyStored = false
  }

  func select(
    _ request: CacheRequest, among records: [CacheRecord], method: CacheMethod, acceptsUnknownVary: Bool
  ) -> Selection {
    var selection = Selection()
    var memo = DigestMemo()
    var newestVarying: Int?
    for index in records.indices where Self.canAnswer(records[index], method) {
      selection.isAnyStored = true
      if records[index].vary != .nothing, Self.isLater(records[index], than: newestVarying.map { records[$0] }) {
        newestVarying = index
      }
      guard matches(records[index], request, &memo) else { continue }
      if Self.isPreferred(records[index], to: selection.selected.map { records[$0] }) { selection.selected = index }
    }
    // Section 4.1: where a response leaves Vary out, and a later one does not, the later one's Vary is what the
    // resource means.
    if let selected = selection.selected, records[selected].vary == .nothing, let newestVarying,
      Self.isLater(records[newestVarying], than: records[selected])
    {
      selection.selected = nil
    }
    if selection.selected == nil, acceptsUnknownVary {
      selection.selected = records.indices.last {
        Self.canAnswer(records[$0], method) && records[$0].vary == .anything && isForUser(records[$0], request, &memo)
      }
    }
    return selection
  }

  /// The response to a `GET` answers a `HEAD` too, unless it is a part; not the other way round.
  static func canAnswer(_ record: CacheRecord, _ method: CacheMethod) -> Bool {
    switch (method, record.method) {
    case (.get, .get): true
    case (.head, .head): true
    case (.head, .get): record.status != 206
    default: false
    }
  }

  /// Whether a response is for a request by its own `Vary`, and for the request's user.
  func matches(_ record: CacheRecord, _ request: CacheRequest, _ memo: inout DigestMemo) -> Bool {
    coversFields(record, of: request, &memo) && isForUser(record, request, &memo)
  }

  /// Whether a response is for a request by its own `Vary` (RFC 9111, section 4.1).
  func coversFields(_ record: CacheRecord, of request: CacheRequest, _ memo: inout DigestMemo) -> Bool {
    switch record.vary {
    case .nothing: true
    case .anything: false
    case .fields(let names): record.requests.contains(memo.digest(of: names, request, digest))
    }
  }

  /// Whether a response that matches goes before another that does: a later one, and a response with `Vary` before one
  /// without.
  private static func isPreferred(_ record: CacheRecord, to other: CacheRecord?) -> Bool {
    guard let other else { return true }
    if (record.vary == .nothing) != (other.vary == .nothing) { return other.vary == .nothing }
    return isLater(record, than: other)
  }

  static func isLater(_ record: CacheRecord, than other: CacheRecord?) -> Bool {
    guard let other else { return true }
    return (record.date, record.responseTime) >= (other.date, other.responseTime)
  }

  /// The digests of one request, each made once.
  struct DigestMemo {
    /// The request's user.
    var user: RequestDigest?
    private var names: [String]?
    /// The one that was asked for last.
    private(set) var value = RequestDigest.allAbsent

    mutating func digest(of names: [String], _ request: CacheRequest, _ digest: ([UInt8]) -> [UInt8]) -> RequestDigest {
      if names != self.names {
        self.names = names
        value = request.digest(of: names, digest)
      }
      return value
    }
  }
}
