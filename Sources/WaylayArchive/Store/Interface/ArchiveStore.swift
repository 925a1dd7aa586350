import Foundation

/// Where an archive keeps its entries: heads and bodies under keys, several to a key, without a thought of HTTP.
///
/// Use ``DiskStore`` for what has to outlive the process and ``MemoryStore`` for what has not. Implement a store of
/// your own to keep entries somewhere else, for example in a database that the app has anyway:
///
/// ```swift
/// let store = MemoryStore(limits: StoreLimits(bytes: 16 << 20))
/// let key = ArchiveKey("GET https://example.com/")
/// try store.put(
///   EntryDraft(key: key, head: [1], details: EntryDetails(url: "https://example.com/", stored: now)), body: Data("hello".utf8))
/// print(store.cached(key)?.count ?? 0)
/// ```
///
/// Every function may be called from any thread. The synchronous ones neither wait nor touch a disk. Entries do not
/// change: a new head makes a new ``StoredEntry`` value of the same ``EntryID``, and those given out before stay
/// readable.
public protocol ArchiveStore: Sendable {
  /// What is known without waiting of a key: all its entries, none (`[]`) where that is certain, or `nil` when the disk
  /// has to be asked.
  func cached(_ key: ArchiveKey) -> [StoredEntry]?

  /// The entries under a key, oldest first. What cannot be read is left out, dropped, and reported as an event.
  func entries(for key: ArchiveKey) async throws -> [StoredEntry]

  /// Stores an entry whose body is at hand. It is found from now on, and written behind.
  ///
  /// - Throws: ``ArchiveError/Code/entryTooLarge``, ``ArchiveError/Code/storeFull``, ``ArchiveError/Code/readOnly`` or
  ///   ``ArchiveError/Code/closed``. A disk that fails later is reported as an event.
  @discardableResult
  func put(_ draft: EntryDraft, body: Data) throws -> StoredEntry

  /// Starts an entry whose body is still to come.
  ///
  /// - Parameters:
  ///   - key: The entry's key.
  ///   - length: How many bytes the body will have, where that is known: one that is too long is refused before
  ///     anything makes room for it.
  /// - Throws: ``ArchiveError/Code/entryTooLarge``, ``ArchiveError/Code/readOnly`` or ``ArchiveError/Code/closed``.
  func makeWriter(for key: ArchiveKey, length: Int64?) throws -> any EntryWriter

  /// A writer that goes on at the end of a stored body without copying it.
  ///
  /// It goes on with the body that `entry` has: its ``EntryWriter/length`` is `entry.bodyLength`. The answer is `nil`
  /// where that cannot be: the entry has gone, its body has become longer since, or another writer goes on with it now.
  /// Copy the body with ``makeWriter(for:length:)`` then, or load it anew. Should the entry be removed later, the
  /// writer fails and does not bring it back.
  ///
  /// - Throws: ``ArchiveError/Code/readOnly`` or ``ArchiveError/Code/closed``.
  func resumeWriting(_ entry: StoredEntry) async throws -> (any EntryWriter)?

  /// Gives an entry another head; its body is not written again. Nothing happens, and the answer is `nil`, when the
  /// entry has gone or its body has become longer than `entry` says.
  @discardableResult
  func update(_ entry: StoredEntry, head: [UInt8], details: EntryDetails) throws -> StoredEntry?

  /// Removes entries. They are not found from now on; their space is freed behind.
  func remove(_ ids: [EntryID])

  /// Shows the entries that a filter picks, one after the other, oldest first, until the visitor returns `false`.
  func visit(_ filter: EntryFilter, _ visitor: @Sendable (StoredEntry) throws -> Bool) async throws

  /// Removes the entries that a filter picks, and says how many. When it returns, stores that read beside this one find
  /// none of them either.
  @discardableResult
  func removeAll(_ filter: EntryFilter) async throws -> Int

  /// What the store holds now.
  var usage: StoreUsage { get }

  /// How much the store may hold. It may be set at any time: what is more than that is evicted behind, and entries that
  /// are larger than one may be from now on stay until then.
  ///
  /// ```swift
  /// let store = try await archive.store
  /// store.limits.bytes = 64 << 20
  /// ```
  var limits: StoreLimits { get nonmutating set }

  /// A digest under the archive's own secret key (HMAC, RFC 2104, with SHA-256), to recognise a value without keeping
  /// it.
  func digest(_ bytes: [UInt8]) -> [UInt8]

  /// Has a closure told what the store does of its own accord. It is called on any thread and must not wait.
  func observe(_ handler: @escaping @Sendable (StoreEvent) -> Void)

  /// Waits until everything stored so far is safe from a loss of power, as far as the system tells.
  func flush() async throws

  /// Writes what is outstanding and lets go of files and locks. Lookups find nothing from now on, and whatever would
  /// store something fails with ``ArchiveError/Code/closed``, writers that are under way among it. Returns when others
  /// may open what this store had.
  func close() async
}

extension ArchiveStore {
  /// Starts an entry whose body is still to come, and of a length that nobody knows yet.
  public func makeWriter(for key: ArchiveKey) throws -> any EntryWriter {
    try makeWriter(for: key, length: nil)
  }

  /// The entries that a filter picks, all at once, oldest first.
  public func list(_ filter: EntryFilter = .all) async throws -> [StoredEntry] {
    let found = Locked<[StoredEntry]>([])
    try await visit(filter) { entry in
      found.withLock { $0.append(entry) }
      return true
    }
    return found.withLock { $0 }
  }
}
