import Foundation

/// An entry as returned by a store: its head, and access to its body.
///
/// ```swift
/// for entry in try await store.entries(for: key) {
///   let body = try await entry.body().collect(upTo: 1 << 20)
///   print(entry.details.url, body.count)
/// }
/// ```
package struct StoredEntry: Sendable, Identifiable {
  /// The identifier of the entry.
  package let id: EntryID
  /// The key of the entry.
  package let key: ArchiveKey
  /// The data that the archive stored with it.
  package var head: [UInt8]
  /// The listed properties of the entry.
  package var details: EntryDetails
  /// How often a lookup found it. Only an approximate count survives the process.
  package var hits = 0
  /// The number of bytes that count toward the store's limit.
  package var storedBytes: Int64
  /// Its body, wherever it is.
  package var contents: any StoredBody

  /// The number of bytes of the body.
  package var bodyLength: Int64 { contents.length }

  /// Returns the body or `range` of it: a small one at once, a large one as a stream.
  ///
  /// Bytes are verified before they are returned; those of a stream piece by piece.
  ///
  /// - Parameters:
  ///   - range: The bytes to return: all by default.
  ///   - failed: Called if reading a stream fails; its reader gets the error as well.
  /// - Throws: `ArchiveError.unreadable` if the bytes differ from what was stored.
  package func body(
    in range: Range<Int64>? = nil, failed: @escaping @Sendable (any Error) -> Void = { _ in }
  ) async throws -> MessageBody {
    let range = range ?? 0..<bodyLength
    guard range.lowerBound >= 0, range.upperBound <= bodyLength else {
      throw ArchiveError.beyondTheEnd(range, bodyLength)
    }
    if contents.inMemory != nil || range.count <= StoredChunks.size { return .data(try await contents.read(range)) }
    let contents = try await contents.opened()
    return .stream(length: Int64(range.count)) { StoredChunks(contents: contents, rest: range, failed: failed) }
  }
}

/// The pieces of a stored body.
struct StoredChunks: AsyncSequence, AsyncIteratorProtocol, Sendable {
  static let size = 256 * 1024

  let contents: any StoredBody
  var rest: Range<Int64>
  let failed: @Sendable (any Error) -> Void

  func makeAsyncIterator() -> StoredChunks { self }

  mutating func next() async throws -> Data? {
    guard !rest.isEmpty else { return nil }
    let end = Swift.min(rest.lowerBound + Int64(Self.size), rest.upperBound)
    defer { rest = end..<rest.upperBound }
    do {
      return try await contents.read(rest.lowerBound..<end)
    } catch {
      failed(error)
      throw error
    }
  }
}

/// The identifier of an entry in one store. Numbers are never reused, so an outdated identifier finds nothing rather
/// than another entry.
package struct EntryID: Hashable, Sendable, CustomStringConvertible {
  /// The number of the entry in its store.
  package let number: UInt64
  /// The digest of its key.
  let hash: UInt64

  package var description: String { "\(number)" }
}

/// The key of a stored response: the bytes that identify a resource, and the partition it belongs to.
///
/// Keys are equal if all their bytes are equal: stores use digests to find an entry, never to identify it. The bytes
/// are written to disk, in plaintext unless the store encrypts, so replace secrets in a key with digests
/// (``ArchiveStore/digest(_:)``).
package struct ArchiveKey: Hashable, Sendable {
  /// The bytes of the key.
  package let bytes: [UInt8]
  /// The partition of the response. Entries of different partitions never mix.
  package var partition = ArchivePartition.shared

  /// The part of the key after its third space, which does not depend on the user; the whole key if it has fewer
  /// spaces.
  var text: ArraySlice<UInt8> {
    var blanks = 0
    for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: " ") {
      blanks += 1
      if blanks == 3 { return bytes[(index + 1)...] }
    }
    return bytes[...]
  }

  /// The part of ``text`` up to its next space, which several URLs may share.
  var resource: ArraySlice<UInt8> { text.prefix { $0 != UInt8(ascii: " ") } }

  /// The part of ``resource`` before the query.
  var path: ArraySlice<UInt8> { resource.prefix { $0 != UInt8(ascii: "?") } }
}

/// The listed properties of an entry: its source, its time, and the marks set by the app.
package struct EntryDetails: Hashable, Sendable {
  /// The URL, as far as it may be revealed: the caller omits user information, and query values if they are secret.
  package var url: String
  /// The host, in lowercase.
  package var host = ""
  /// The HTTP status.
  package var status = 200
  /// The media type in lowercase without parameters, such as `text/html`; it decides whether a store compresses the
  /// body.
  package var mediaType = ""
  /// When the response was stored or last freshened.
  package var stored: Date
  /// The tags by which entries are removed.
  package var tags: Set<String> = []
  /// Whether eviction skips the entry.
  package var isPinned = false
}

/// A new entry for a store: everything except its body.
package struct EntryDraft: Sendable {
  /// The key of the entry.
  package var key: ArchiveKey
  /// The data that the archive needs to serve it. The store does not interpret these bytes.
  package var head: [UInt8]
  /// The listed properties of the entry.
  package var details: EntryDetails
  /// The entries that it replaces. They are removed when it is stored.
  package var replacing: [EntryID] = []
}

/// The bytes of a stored body, wherever they are.
///
/// If an entry is evicted before its body has been opened or read, the body is unreadable; once opened, it can be read
/// to its end.
package protocol StoredBody: Sendable {
  /// The number of bytes.
  var length: Int64 { get }
  /// All bytes if they are in memory; otherwise `nil`.
  var inMemory: Data? { get }
  /// Returns the bytes of `range` at once, verified before the first is returned.
  ///
  /// - Throws: `ArchiveError.unreadable` if they differ from what was stored, or `range` exceeds the body.
  func read(_ range: Range<Int64>) async throws -> Data
  /// Returns the same body, retained: it stays readable when its entry is removed.
  func opened() async throws -> any StoredBody
}
