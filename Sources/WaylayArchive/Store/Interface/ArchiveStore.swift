import Foundation

/// The storage of an archive's entries: heads and bodies under keys, several per key, independent of HTTP.
///
/// ``DiskStore`` is for entries that must survive the process, and ``MemoryStore`` for entries that need not.
///
/// All methods are thread-safe. The synchronous ones neither wait nor access a disk. Entries are immutable: a new head
/// makes a new ``StoredEntry`` value with the same ``EntryID``, and values returned earlier stay readable.
package protocol ArchiveStore: Sendable {
  /// Returns the entries under a key without waiting: `[]` if there are none, `nil` if the lookup needs the disk.
  func cached(_ key: ArchiveKey) -> [StoredEntry]?

  /// Returns the entries under a key, oldest first. Unreadable entries are skipped, removed, and reported as an event.
  func entries(for key: ArchiveKey) async throws -> [StoredEntry]

  /// The sequence number of the last change, for ``makeWriter(for:length:since:)``. It never decreases, and all stores
  /// on the same data share it.
  var moment: Int64 { get }

  /// Starts an entry whose body follows.
  ///
  /// - Parameters:
  ///   - key: The entry's key.
  ///   - length: The length of the body, if known: a body that is too long is rejected before anything is evicted for
  ///     it.
  ///   - moment: The value of ``moment`` when the decision was made to store the entry. If any store on the same data
  ///     has called ``removeAll(_:)`` since, the writer stores nothing, unless the filter is for another path, host or
  ///     partition.
  /// - Throws: `ArchiveError.entryTooLarge`, `ArchiveError.readOnly` or `ArchiveError.closed`.
  func makeWriter(for key: ArchiveKey, length: Int64?, since moment: Int64) throws -> any EntryWriter

  /// Returns a writer that appends to a stored body without copying it.
  ///
  /// The writer continues the body of `entry`: its ``EntryWriter/length`` is `entry.bodyLength`. The result is `nil` if
  /// that is impossible: the entry is gone, its body has become longer, another writer is appending to it, or bodies
  /// are in memory, where a copy is as good. In that case, copy the body with ``makeWriter(for:length:since:)``, or load
  /// it again. If the entry is removed later, the writer fails and does not restore it.
  ///
  /// - Throws: `ArchiveError.readOnly` or `ArchiveError.closed`.
  func resumeWriting(_ entry: StoredEntry, since moment: Int64) async throws -> (any EntryWriter)?

  /// Replaces the head of an entry; its body is not written again. If the entry is gone or its body is now longer than
  /// `entry` says, the call does nothing and returns `nil`.
  @discardableResult
  func update(_ entry: StoredEntry, head: [UInt8], details: EntryDetails) throws -> StoredEntry?

  /// Removes entries. They can no longer be found; their space is freed in the background.
  func remove(_ ids: [EntryID])

  /// Visits the entries that match a filter, one at a time, oldest first, until the visitor returns `false`.
  func visit(_ filter: EntryFilter, _ visitor: @Sendable (StoredEntry) throws -> Bool) async throws

  /// Removes the entries that match a filter, and returns their number. When it returns, other stores that read the
  /// same data no longer find them either.
  @discardableResult
  func removeAll(_ filter: EntryFilter) async throws -> Int

  /// The current usage of the store.
  var usage: StoreUsage { get }

  /// The limits of the store. You can set them at any time: entries that exceed them are evicted in the background, and
  /// existing entries over the new limit for one entry stay until then.
  ///
  /// ```swift
  /// let store = try await archive.store
  /// store.limits.bytes = 64 << 20
  /// ```
  var limits: StoreLimits { get nonmutating set }

  /// The archive's own secret key for ``digest(_:)``, of 32 bytes.
  var secretBytes: [UInt8] { get }

  /// Sets a handler for evictions and damage. The handler runs on any thread and must not wait.
  func observe(_ handler: @escaping @Sendable (StoreEvent) -> Void)

  /// Waits until everything stored so far survives a power failure, as far as the system can tell.
  func flush() async throws

  /// Writes pending entries and releases files and locks. Later lookups find nothing, and calls that store something
  /// fail with `ArchiveError.closed`, including writers in progress. Returns when others can open the data.
  func close() async
}

extension ArchiveStore {
  /// Returns the entries that match a filter, all at once, oldest first.
  package func list(_ filter: EntryFilter = .all) async throws -> [StoredEntry] {
    let found = Locked<[StoredEntry]>([])
    try await visit(filter) { entry in
      found.withLock { $0.append(entry) }
      return true
    }
    return found.withLock { $0 }
  }
}

/// Writes one entry whose body arrives in pieces. The entry is invisible until it is committed.
///
/// ```swift
/// let writer = try store.makeWriter(for: key, length: nil, since: moment)
/// for try await chunk in response.body { try await writer.append(chunk) }
/// try await writer.commit(EntryDraft(key: key, head: head, details: details))
/// ```
///
/// One task writes; others may read what has been written. A writer that is released before its commit leaves nothing
/// behind.
package protocol EntryWriter: AnyObject, Sendable {
  /// The number of body bytes so far.
  var length: Int64 { get }

  /// Appends bytes. Waits for the disk when necessary, so that memory stays bounded.
  ///
  /// - Throws: `ArchiveError.entryTooLarge`, `ArchiveError.storeFull`, `ArchiveError.notWritten`
  ///   or, after the store has been closed, `ArchiveError.closed`; the writer has then aborted.
  func append(_ chunk: Data) async throws

  /// Returns at most `limit` bytes from `offset` of what has been appended so far; empty if there are none yet.
  ///
  /// This also works after the commit and after an abort, as long as the writer is retained.
  func read(at offset: Int64, upTo limit: Int) async throws -> Data

  /// Stores the bytes written so far as an entry, and continues: a lookup then finds the shorter body. For transfers
  /// that may be interrupted.
  @discardableResult
  func checkpoint(_ draft: EntryDraft) async throws -> StoredEntry

  /// Stores the entry. The draft's key must be the one that the writer was made for.
  @discardableResult
  func commit(_ draft: EntryDraft) async throws -> StoredEntry

  /// Aborts writing. An entry stored by ``checkpoint(_:)`` stays.
  func abort()
}

/// An eviction or a removal that a store made without a call.
package struct StoreEvent: Sendable {
  package var kind: Kind
  /// The identifier, if the entry was already stored.
  package var id: EntryID?
  /// The entry's URL, as far as it may be revealed, if known.
  package var url: String?
  /// The number of bytes removed.
  package var bytes: Int64 = 0
  /// The human-readable reason.
  package var reason: String

  package enum Kind: Sendable {
    /// An entry was removed to make space for another.
    case evicted
    /// An entry was removed because the data read differed from what was stored.
    case damaged
  }
}
