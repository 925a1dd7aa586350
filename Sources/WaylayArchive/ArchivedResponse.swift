import Foundation

/// A response stored by an ``ArchiveCache``: its head, its lifetime, and its body.
///
/// ```swift
/// for response in try await archive.entries(.host("example.com")) {
///   print(response.url, response.status, response.fields[.contentType] ?? "", response.length)
/// }
/// ```
public struct ArchivedResponse: Sendable, Identifiable {
  private let record: CacheRecord
  private let entry: StoredEntry

  /// Decodes the head of an entry.
  ///
  /// - Returns: `nil` for an entry that was not stored by an ``ArchiveCache``, or by another version of this package.
  package init?(_ entry: StoredEntry) {
    guard let record = CacheRecord(decoding: entry.head) else { return nil }
    self.record = record
    self.entry = entry
  }

  /// The number of the entry in its archive. Numbers are never reused.
  public var id: UInt64 { entry.id.number }
  /// The URL, without user information, and without query values if the archive does not keep them.
  public var url: String { entry.details.url }
  /// The method of the requests that it answers: `HEAD` for a response that has no body for that reason.
  public var method: HTTPRequest.Method { record.method == .head ? .head : .get }
  /// The status.
  public var status: HTTPResponse.Status { HTTPResponse.Status(code: record.status) }
  /// The header fields as served, without those specific to a connection, without cookies and without `Age`.
  public var fields: HTTPFields { record.fields }
  /// The number of bytes of the stored body.
  public var length: Int64 { entry.bodyLength }
  /// Whether the whole body is stored, rather than the part received before a transfer broke.
  public var isWhole: Bool { record.isComplete }
  /// When the response was stored or last freshened.
  public var stored: Date { entry.details.stored }
  /// The partition that it belongs to.
  public var partition: ArchivePartition { entry.key.partition }
  /// The tags by which entries are found and removed.
  public var tags: Set<String> { entry.details.ownTags }
  /// Whether eviction skips the entry.
  public var isPinned: Bool { entry.details.isPinned }

  /// Returns the stored body. Large ones are read in pieces.
  ///
  /// - Throws: `ArchiveError.unreadable` if the bytes differ from those stored.
  public func body() async throws -> MessageBody { try await entry.body() }

  /// Returns whether the response may be used without validation, by its own header fields (RFC 9111, section 4.2). A
  /// mode such as offline, or a request, may override that.
  ///
  /// - Parameter date: The time to check.
  public func isFresh(at date: Date = Date()) -> Bool {
    let now = CacheTime(date)
    return record.age(at: now) / 1000 < record.lifetime && !record.isOfUnknownAge(at: now)
      && !record.directives.isNoCache && record.flags.isDisjoint(with: [.invalidated, .lastResort])
      && record.vary != .anything
  }

  /// Returns human-readable facts that the archive uses: age, lifetime and its source, validators, `Vary`. They contain
  /// no values of request fields.
  ///
  /// - Parameter date: The time to check.
  public func metadata(at date: Date = Date()) -> [(name: String, value: String)] {
    record.metadata(at: CacheTime(date))
  }
}

extension ArchivedResponse: CustomStringConvertible {
  /// Method, URL, status, length, age, remaining lifetime, tags and pin on one line, suitable for a log:
  /// without query values.
  public var description: String {
    let now = Date()
    let age = record.age(at: CacheTime(now)) / 1000
    var text = "\(method) \(url.redactedURL) \(status.code), \(length) bytes"
    if !isWhole { text += " of a partial body" }
    text += ", age \(age) s, "
    text += isFresh(at: now) ? "fresh for \(record.lifetime.saturating(subtracting: age)) s" : "stale"
    if !tags.isEmpty { text += ", tags " + tags.sorted().joined(separator: ", ") }
    return text + (isPinned ? ", pinned" : "")
  }
}
