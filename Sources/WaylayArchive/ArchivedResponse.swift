import Foundation

/// What an ``ArchiveCache`` knows of an answer that it has stored: the head of it, and how long it may be used.
///
/// ```swift
/// for entry in try await archive.store.list(.host("example.com")) {
///   guard let response = ArchivedResponse(entry) else { continue }
///   print(response.status, response.fields[.contentType] ?? "", entry.bodyLength)
/// }
/// ```
public struct ArchivedResponse: Sendable {
  private let record: CacheRecord

  /// Reads the head of an entry.
  ///
  /// - Returns: `nil` for an entry that no ``ArchiveCache`` has stored, or one of another version of this package.
  public init?(_ entry: StoredEntry) {
    guard let record = CacheRecord(decoding: entry.head) else { return nil }
    self.record = record
  }

  /// The method of the requests that it answers: `HEAD` for an answer that has no body for that reason.
  public var method: HTTPRequest.Method { record.method == .head ? .head : .get }
  /// The status.
  public var status: HTTPResponse.Status { HTTPResponse.Status(code: record.status) }
  /// The header fields as they are given out, without those that belong to a connection, without cookies and without
  /// `Age`.
  public var fields: HTTPFields { record.fields }
  /// The trailer fields.
  public var trailers: HTTPFields { record.trailers }
  /// Whether the whole body is stored, and not the part that came before a transfer broke.
  public var isWhole: Bool { record.isComplete }

  /// Whether it may be used without asking the origin, by its own headers (RFC 9111, section 4.2). A mode such as
  /// offline, and a request, may say otherwise.
  ///
  /// - Parameter date: When.
  public func isFresh(at date: Date = Date()) -> Bool {
    let now = CacheTime(date)
    return record.age(at: now) / 1000 < record.lifetime && !record.isOfUnknownAge(at: now)
      && record.flags.isDisjoint(with: [.invalidated, .noCache])
  }

  /// What the archive goes by, for people: age, lifetime and where it is from, validators, `Vary`. No values of request
  /// fields.
  ///
  /// - Parameter date: When.
  public func facts(at date: Date = Date()) -> [(name: String, value: String)] { record.facts(at: CacheTime(date)) }
}
