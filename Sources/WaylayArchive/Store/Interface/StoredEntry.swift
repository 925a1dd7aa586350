import Foundation

/// An entry as a store gives it out: its head, and a way to its body.
///
/// ```swift
/// for entry in try await store.entries(for: key) {
///   let body = try await entry.body().collect(upTo: 1 << 20)
///   print(entry.details.url, body.count)
/// }
/// ```
public struct StoredEntry: Sendable, Identifiable {
  /// Which entry it is.
  public let id: EntryID
  /// What it is stored under.
  public let key: ArchiveKey
  /// What its owner stored with it.
  public var head: [UInt8]
  /// What can be listed of it.
  public var details: EntryDetails
  /// How often a lookup found it. The count outlives the process only roughly.
  public var hits: Int
  /// The bytes it takes of the store's limit.
  public let storedBytes: Int64
  /// Its body, where it is.
  public var contents: any StoredBody

  /// Makes an entry, for a store of your own.
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

  /// The body, or `range` of it: in memory, mapped, or read as it is needed.
  ///
  /// What is mapped or in memory has been checked when this returns; what is streamed is checked piece by piece, before
  /// it is given out.
  ///
  /// - Parameters:
  ///   - range: The bytes that are wanted: all of them unless you say otherwise.
  ///   - isStreamed: Whether a large body shall come piece by piece even where it could be mapped.
  /// - Throws: ``ArchiveError/Code/unreadable`` when the bytes are not those that were stored.
  public func body(in range: Range<Int64>? = nil, isStreamed: Bool = false) async throws -> MessageBody {
    let range = range ?? 0..<bodyLength
    guard range.lowerBound >= 0, range.upperBound <= bodyLength else {
      throw ArchiveError(
        .unreadable, "bytes \(range) were asked of a stored body that has \(bodyLength): ask for a part of it.")
    }
    if (contents.isMapped && !isStreamed) || contents.inMemory != nil || range.count <= StoredChunks.size {
      return .data(try await contents.read(range))
    }
    let contents = try await contents.opened()
    return .stream(length: Int64(range.count)) { StoredChunks(contents: contents, range: range) }
  }
}

extension StoredEntry: CustomStringConvertible {
  /// Number, details and length on one line, as a log may show it: without the head, and without query values.
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
