import Foundation

/// Writes one entry whose body arrives in pieces. The entry is invisible until it is committed.
///
/// ```swift
/// let writer = try store.makeWriter(for: key)
/// for try await chunk in response.body { try await writer.append(chunk) }
/// try await writer.commit(EntryDraft(key: key, head: head, details: details))
/// ```
///
/// One task writes; others may read what has been written. A writer that is released before its commit leaves nothing
/// behind.
public protocol EntryWriter: AnyObject, Sendable {
  /// The number of body bytes so far.
  var length: Int64 { get }

  /// Appends bytes. Returns at once while the disk keeps up; waits if more than a megabyte is pending.
  ///
  /// - Throws: ``ArchiveError/Code/entryTooLarge``, ``ArchiveError/Code/storeFull``, ``ArchiveError/Code/notWritten``
  ///   or, after the store has been closed, ``ArchiveError/Code/closed``; the writer has then aborted.
  func append(_ chunk: Data) async throws

  /// Returns at most `limit` bytes from `offset` of what has been appended so far; empty if there are none yet.
  ///
  /// This also works after the commit and after an abort, as long as the writer is retained.
  func read(at offset: Int64, upTo limit: Int) async throws -> Data

  /// Stores what has been written so far and continues: a lookup then finds the shorter body. For transfers that may be
  /// interrupted.
  @discardableResult
  func checkpoint(_ draft: EntryDraft) async throws -> StoredEntry

  /// Stores the entry. The draft's key must be the one that the writer was made for.
  @discardableResult
  func commit(_ draft: EntryDraft) async throws -> StoredEntry

  /// Aborts writing. What a checkpoint stored stays.
  func abort()
}
