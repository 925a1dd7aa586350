import Foundation

/// The head of a response stored by an ``ArchiveCache``, and how long the response may be used.
///
/// ```swift
/// for entry in try await archive.store.list(.host("example.com")) {
///   guard let response = ArchivedResponse(entry) else { continue }
///   print(response.status, response.fields[.contentType] ?? "", entry.bodyLength)
/// }
/// ```
public struct ArchivedResponse: Sendable {
  private let record: CacheRecord

  /// Decodes the head of an entry.
  ///
  /// - Returns: `nil` for an entry that was not stored by an ``ArchiveCache``, or by another version of this package.
  public init?(_ entry: StoredEntry) {
    guard let record = CacheRecord(decoding: entry.head) else { return nil }
    self.record = record
  }

  /// The method of the requests that it answers: `HEAD` for a response that has no body for that reason.
  public var method: HTTPRequest.Method { record.method == .head ? .head : .get }
  /// The status.
  public var status: HTTPResponse.Status { HTTPResponse.Status(code: record.status) }
  /// The header fields as served, without those specific to a connection, without cookies and without `Age`.
  public var fields: HTTPFields { record.fields }
  /// The trailer fields.
  public var trailers: HTTPFields { record.trailers }
  /// Whether the whole body is stored, rather than the part received before a transfer broke.
  public var isWhole: Bool { record.isComplete }

  /// Returns whether the response may be used without validation, by its own header fields (RFC 9111, section 4.2). A
  /// mode such as offline, or a request, may override that.
  ///
  /// - Parameter date: The time to check.
  public func isFresh(at date: Date = Date()) -> Bool {
    let now = CacheTime(date)
    return record.age(at: now) / 1000 < record.lifetime && !record.isOfUnknownAge(at: now)
      && record.flags.isDisjoint(with: [.invalidated, .noCache])
  }

  /// Returns human-readable facts that the archive uses: age, lifetime and its source, validators, `Vary`. They contain
  /// no values of request fields.
  ///
  /// - Parameter date: The time to check.
  public func facts(at date: Date = Date()) -> [(name: String, value: String)] { record.facts(at: CacheTime(date)) }
}
