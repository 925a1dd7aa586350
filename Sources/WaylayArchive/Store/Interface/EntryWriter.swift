import Foundation

/// Writes one entry whose body comes piece by piece. Nobody sees the entry before it is committed.
///
/// ```swift
/// let writer = try store.makeWriter(for: key)
/// for try await chunk in response.body { try await writer.append(chunk) }
/// try await writer.commit(EntryDraft(key: key, head: head, details: details))
/// ```
///
/// One task writes; others may read what is there already. A writer that is let go before its commit leaves nothing
/// behind.
public protocol EntryWriter: AnyObject, Sendable {
  /// How many bytes the body has so far.
  var length: Int64 { get }

  /// Adds bytes. Returns at once as long as the disk keeps up; waits when more than a megabyte waits to be written.
  ///
  /// - Throws: ``ArchiveError/Code/entryTooLarge``, ``ArchiveError/Code/storeFull``, ``ArchiveError/Code/notWritten``
  ///   or, once the store has been closed, ``ArchiveError/Code/closed``; the writer has then given up.
  func append(_ chunk: Data) async throws

  /// At most `limit` bytes from `offset`, of what has been appended so far: empty when there is nothing there yet.
  ///
  /// Also after the commit and after giving up, for as long as somebody holds the writer.
  func read(at offset: Int64, upTo limit: Int) async throws -> Data

  /// Stores what is there so far and goes on writing: whoever looks the entry up finds the shorter body. For transfers
  /// that may break off.
  @discardableResult
  func checkpoint(_ draft: EntryDraft) async throws -> StoredEntry

  /// Stores the entry. The draft's key has to be the one that the writer was made for.
  @discardableResult
  func commit(_ draft: EntryDraft) async throws -> StoredEntry

  /// Gives up. What a checkpoint stored stays.
  func abort()
}
