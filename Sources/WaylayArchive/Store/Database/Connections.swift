import Foundation

/// The connections of a store to its index: one that writes, and a pool of those that read.
final class Connections: Sendable {
  let mode: Database.Mode
  /// Used by the store's queue alone; `nil` where the archive is only read.
  let writer: Database?
  private let connect: @Sendable (_ cache: Int) throws -> Database
  /// The connections that are not lent; `nil` once all are closed.
  private let idle = Locked<[Database]?>([])

  /// - Parameter index: The file that the path leads to; every connection is to that one.
  init(_ directory: StoreDirectory, _ index: FileStatus.Identity, _ mode: Database.Mode, vfs: String?) throws {
    connect = { cache in
      let database = try Database(directory.indexPath, mode, patience: 10_000, vfs: vfs)
      guard try directory.status()?.identity == index else { throw SystemError("open", code: ENOENT) }
      // A map of a file that another process cuts ends the process (SIGBUS).
      try database.script(
        """
        PRAGMA trusted_schema=OFF; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-\(cache); \
        PRAGMA cell_size_check=ON; PRAGMA checkpoint_fullfsync=ON
        """)
      if mode == .readWrite {
        try database.script("PRAGMA secure_delete=ON; PRAGMA synchronous=NORMAL; PRAGMA fullfsync=ON")
      }
      return database
    }
    (self.mode, writer) = (mode, mode == .readWrite ? try connect(8192) : nil)
  }

  /// Opens a connection outside of the pool; its owner closes it.
  func open() throws -> Database { try connect(2048) }

  /// Lends a connection that reads; a new one where all are lent. One that has failed is not lent again.
  func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
    let known = try idle.withLock { idle in
      guard idle != nil else { throw ArchiveError.closed }
      return idle?.popLast()
    }
    let database = try known ?? open()
    let value = try body(database)
    idle.withLock { $0?.append(database) }
    return value
  }

  /// Closes all; those that are lent, once they are released.
  func close() {
    idle.withLock { $0.take() }?.forEach { $0.close() }
    writer?.close()
  }
}
