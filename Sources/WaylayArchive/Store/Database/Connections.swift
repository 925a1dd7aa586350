import Foundation

/// The connections of a store to its index: one writer, and a pool of readers.
final class Connections: Sendable {
  let mode: Database.Mode
  /// Used on the store's queue only; `nil` for a read-only store.
  let writer: Database?
  private let connect: @Sendable (_ cache: Int) throws -> Database
  /// The readers that are not in use; `nil` after `close()`.
  private let idle = Locked<[Database]?>([])
  private let inUse = DispatchGroup()

  /// - Parameter index: The identity of the index: each connection must open this file.
  init(_ directory: StoreDirectory, _ index: FileStatus.Identity, _ mode: Database.Mode, vfs: String?) throws {
    connect = { cache in
      let database = try Database(directory.indexPath, mode, patience: 10_000, vfs: vfs)
      // Without a memory map: truncation of a mapped file by another process would end this one (SIGBUS).
      try database.script(
        """
        PRAGMA trusted_schema=OFF; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-\(cache); \
        PRAGMA cell_size_check=ON; PRAGMA secure_delete=ON; PRAGMA synchronous=NORMAL; PRAGMA fullfsync=ON; \
        PRAGMA checkpoint_fullfsync=ON
        """)
      // SQLite opens the log by path: check that the path still leads to this index.
      guard try directory.found?.identity == index else { throw SystemError("open", code: ENOENT) }
      return database
    }
    (self.mode, writer) = (mode, mode == .readWrite ? try connect(8192) : nil)
  }

  /// Opens a connection outside of the pool; the caller closes it.
  func open() throws -> Database { try connect(2048) }

  /// Calls a closure with a reader, and opens one if all are in use. A reader that failed is closed.
  func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
    let known = try idle.withLock { idle in
      guard idle != nil else { throw ArchiveError.closed }
      inUse.enter()
      return idle?.popLast()
    }
    defer { inUse.leave() }
    let database = try known ?? open()
    var isKept: Void?
    defer { if isKept == nil { database.close() } }
    let value = try body(database)
    isKept = idle.withLock { $0?.append(database) }
    return value
  }

  /// Closes all connections, and waits for the readers in use: a connection that closes later would remove the log.
  func close() {
    idle.withLock { $0.take() }?.forEach { $0.close() }
    inUse.wait()
    writer?.close()
  }
}
