import Foundation

/// Opens the index of a directory: checks the marks of its file, the tables, the identity and the key, in this order.
/// Until then, nothing is changed.
struct IndexOpening {
  let directory: StoreDirectory
  let identity: Identity
  let sealing: Sealing
  let connections: Connections
  /// The connection that detects changes by other processes.
  let watch: Database
  let place: (directory: FileStatus.Identity, index: FileStatus, parts: [FileStatus.Identity?])
  /// The totals of the index when it was opened.
  let seen: DiskStore.Change.Seen
  /// The number of openings for writing: the upper half of the numbers of new entries.
  private(set) var number: Int64 = 0
  /// Why a damaged index was replaced, if it was.
  private(set) var damage: String?

  /// The process that opens archives. In a child made by `fork`, SQLite would take the locks of its parent for its own.
  static let process = getpid()

  static func open(_ directory: URL, _ options: DiskStore.Options) throws -> IndexOpening {
    guard directory.isFileURL else { throw ArchiveError.notAFile(directory, "the directory of an archive") }
    let path = directory.standardizedFileURL.path
    let key: EncryptionKey? = try options.encryptionKey?().longEnough()
    try SQLite.load()
    guard getpid() == process else { throw ArchiveError.forked }
    do {
      let directory = try StoreDirectory(path, FileSystem(options.system), isMade: !options.isReadOnly)
      // Under a lock of the directory, only one process at a time creates an index or puts one aside.
      let lock = options.isReadOnly ? nil : try directory.locked()
      defer { withExtendedLifetime(lock) {} }
      let index = try directory.status()?.identity
      do {
        return try IndexOpening(directory, options, key)
      } catch let error as DatabaseError where error.isDamage && !options.isReadOnly {
        try directory.putAside(index)
        var opening = try IndexOpening(directory, options, key)
        opening.damage = "the index of the archive in \(path) was damaged and put aside: the archive starts empty"
        return opening
      }
    } catch let error where error is SystemError || error is DatabaseError {
      throw ArchiveError.unusable(path, error)
    }
  }

  private init(
    _ directory: StoreDirectory, _ options: DiskStore.Options, _ key: EncryptionKey?
  ) throws {
    try Self.examine(directory, options)
    var directory = directory
    try directory.prepare(isMade: !options.isReadOnly)
    if try directory.status() == nil {
      try directory.makeIndex { try Schema.make(at: $0, Identity(key: key), vfs: options.vfs) }
    }
    guard let status = try directory.status() else { throw SystemError("open", code: ENOENT) }
    self.directory = directory
    // Without a write-ahead log there is no writer, so a read-only store reads the index without locks and creates no
    // file.
    let parts = try directory.parts
    let mode: Database.Mode = options.isReadOnly ? parts[0] != nil ? .readOnly : .immutable : .readWrite
    connections = try Connections(directory, status.identity, mode, vfs: options.vfs)
    watch = try connections.open()
    try Schema.check(watch)
    var bytes: [UInt8] = []
    try watch.run("SELECT value FROM meta WHERE name='identity'") { bytes = $0.bytes(0) }
    guard let identity = Identity(decoding: bytes) else {
      throw DatabaseError(code: SQLITE_CORRUPT, message: "the identity of the archive is damaged")
    }
    (self.identity, sealing) = (identity, try identity.sealing(key, directory: directory.path))
    seen = try DiskStore.Change.Seen(watch)
    if let writer = connections.writer { number = try Self.begin(writer) }
    // Remember the files: a store without locks must end as soon as a writer creates a log.
    place = (try directory.identity, status, mode == .immutable ? parts : try directory.parts)
    // A check for changes must not wait.
    watch.setPatience(0)
  }

  /// Starts the write-ahead log, and counts the opening.
  private static func begin(_ writer: Database) throws -> Int64 {
    var journal = ""
    try writer.run("PRAGMA journal_mode=WAL") { journal = $0.text(0) }
    guard journal == "wal" else {
      throw DatabaseError(code: SQLITE_CANTOPEN, message: "the volume has no shared memory for a write-ahead log")
    }
    return try writer.transaction {
      // If damage has lowered the counter, numbers of entries would be assigned twice.
      try writer.run(
        """
        UPDATE meta SET value=max(value, (SELECT coalesce(max(id), 0) FROM entry)>>32)+1 WHERE name='openings'
        """)
      return try writer.number("SELECT value FROM meta WHERE name='openings'") ?? 0
    }
  }

  /// Reads the marks of a file without a lock or its journal, so that a database of another program stays unchanged.
  private static func examine(_ directory: StoreDirectory, _ options: DiskStore.Options) throws {
    guard let status = try directory.status(), status.size > 0 else {
      guard options.isReadOnly else { return }
      throw ArchiveError(.directoryUnusable, "\(directory.path) contains no archive: check the path.")
    }
    do {
      let database = try Database(directory.indexPath, .immutable, vfs: options.vfs)
      try Schema.checkMarks(database, directory)
    } catch let error as DatabaseError where error.isDamage {
      // After a kill during a checkpoint, the file may look damaged without its log.
      if !directory.hasBodies { throw ArchiveError.anotherProgram(directory.path) }
    }
  }
}
