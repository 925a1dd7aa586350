import Foundation

/// An entry as returned by a store: its head, and access to its body.
///
/// ```swift
/// for entry in try await store.entries(for: key) {
///   let body = try await entry.body().collect(upTo: 1 << 20)
///   print(entry.details.url, body.count)
/// }
/// ```
public struct StoredEntry: Sendable, Identifiable {
  /// The identifier of the entry.
  public let id: EntryID
  /// The key of the entry.
  public let key: ArchiveKey
  /// The data its owner stored with it.
  public var head: [UInt8]
  /// The listed properties of the entry.
  public var details: EntryDetails
  /// How often a lookup found it. Only an approximate count survives the process.
  public var hits: Int
  /// The number of bytes that count toward the store's limit.
  public let storedBytes: Int64
  /// Its body, wherever it is.
  public var contents: any StoredBody

  /// Makes an entry, for your own store.
  public init(
    id: EntryID, key: ArchiveKey, head: [UInt8], details: EntryDetails, hits: Int = 0, storedBytes: Int64,
    contents: any StoredBody
  ) {
    self.id = id
    self.key = key
    self.head = head
    self.details = details
    self.hits = hits
    self.storedBytes = storedBytes
    self.contents = contents
  }

  /// The number of bytes of the body.
  public var bodyLength: Int64 { contents.length }

  /// Returns the body or `range` of it: in memory, mapped, or read on demand.
  ///
  /// Mapped and in-memory bytes have been verified when this method returns; streamed bytes are verified in pieces
  /// before they are returned.
  ///
  /// - Parameters:
  ///   - range: The bytes to return: all by default.
  ///   - isStreamed: Whether to stream a large body in pieces even if it could be mapped.
  /// - Throws: ``ArchiveError/Code/unreadable`` if the bytes differ from what was stored.
  public func body(in range: Range<Int64>? = nil, isStreamed: Bool = false) async throws -> MessageBody {
    let range = range ?? 0..<bodyLength
    guard range.lowerBound >= 0, range.upperBound <= bodyLength else {
      throw ArchiveError(
        .unreadable, "bytes \(range) were requested of a stored body of \(bodyLength): request a part of it.")
    }
    if (contents.isMapped && !isStreamed) || contents.inMemory != nil || range.count <= StoredChunks.size {
      return .data(try await contents.read(range))
    }
    let contents = try await contents.opened()
    return .stream(length: Int64(range.count)) { StoredChunks(contents: contents, range: range) }
  }
}

extension StoredEntry: CustomStringConvertible {
  /// Number, details and length on one line, suitable for a log: without the head, and without query values.
  public var description: String { "entry \(id): \(details), \(bodyLength) bytes" }
}

/// A stored body, piece by piece.
struct StoredChunks: AsyncSequence, Sendable {
  static let size = 256 * 1024

  let contents: any StoredBody
  let range: Range<Int64>

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(contents: contents, rest: range) }

  struct AsyncIterator: AsyncIteratorProtocol {
    let contents: any StoredBody
    var rest: Range<Int64>

    mutating func next() async throws -> Data? {
      guard !rest.isEmpty else { return nil }
      let end = Swift.min(rest.lowerBound + Int64(StoredChunks.size), rest.upperBound)
      defer { rest = end..<rest.upperBound }
      return try await contents.read(rest.lowerBound..<end)
    }
  }
}
