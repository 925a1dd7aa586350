import Foundation

/// The tables of an index, and the marks of its file.
///
/// Keys, hosts, partitions and tags are digests under the archive's own key; heads and bodies are sealed where it is encrypted.
/// In clear, always: sizes, the time of the last use, hits, and whether an entry is pinned.
enum Schema {
  /// `application_id` in the header of the file: "Wayl".
  private static let application: Int64 = 0x5761_796C
  /// `user_version`: a mark in the upper bytes, the version of the format in the last.
  private static let version: Int64 = 0x5741_5901

  /// Small rows are in a table without heads and bodies, so that a hit or a search reads few pages.
  private static let objects = [
    "entry": """
    CREATE TABLE entry(id INTEGER PRIMARY KEY, digest INTEGER NOT NULL, resource INTEGER NOT NULL, \
    host INTEGER NOT NULL, partition INTEGER, cost INTEGER NOT NULL, length INTEGER NOT NULL, \
    used INTEGER NOT NULL, hits INTEGER NOT NULL, pinned INTEGER NOT NULL, file INTEGER)
    """,
    "entry_digest": "CREATE INDEX entry_digest ON entry(digest)",
    "entry_resource": "CREATE INDEX entry_resource ON entry(resource)",
    "entry_partition": "CREATE INDEX entry_partition ON entry(partition) WHERE partition IS NOT NULL",
    "entry_file": "CREATE INDEX entry_file ON entry(file) WHERE file IS NOT NULL",
    "entry_use": "CREATE INDEX entry_use ON entry(used) WHERE pinned=0",
    "content": "CREATE TABLE content(id INTEGER PRIMARY KEY, head BLOB NOT NULL, body BLOB)",
    "tag": "CREATE TABLE tag(entry INTEGER, digest INTEGER, PRIMARY KEY(entry, digest)) WITHOUT ROWID",
    "tag_digest": "CREATE INDEX tag_digest ON tag(digest, entry)",
    "meta": "CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID",
    // Row 1: the totals of all entries, and the last change: its number, its store, and whether bytes of removed entries
    // remain. Each further row: the number of a last removal (`slot(of:)`), on the page that each change writes.
    "total": """
    CREATE TABLE total(id INTEGER PRIMARY KEY, count INTEGER, bytes INTEGER, pinned INTEGER, pinnedBytes INTEGER, \
    clock INTEGER, writer INTEGER, removed INTEGER)
    """,
  ]

  /// Creates the tables in an empty file, whose marks can be read without a write-ahead log.
  static func make(at path: String, _ identity: Identity, vfs: String?) throws {
    let database = try Database(path, .readWrite, vfs: vfs)
    defer { database.close() }
    try database.script("PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL")
    try database.transaction {
      try database.script("PRAGMA application_id=\(application); PRAGMA user_version=\(version)")
      // The tables first, then their indexes.
      for sql in objects.values.sorted(by: >) { try database.script(sql) }
      try database.run("INSERT INTO meta VALUES('identity', ?), ('openings', 0)", [.bytes(identity.encoded)])
      try database.run("INSERT INTO total VALUES(1, 0, 0, 0, 0, 0, 0, 0)")
    }
    try database.script("PRAGMA journal_mode=WAL")
  }

  /// - Throws: `SQLITE_CORRUPT` where the tables are not those of this version.
  static func check(_ database: Database) throws {
    var found: [String: String] = [:]
    try database.run("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL") { found[$0.text(0)] = $0.text(1) }
    guard found == objects else {
      throw DatabaseError(code: SQLITE_CORRUPT, message: "the tables are not those of an archive")
    }
  }

  /// Checks the marks of a file, one of which may be damaged.
  ///
  /// - Throws: `ArchiveError.foreignFormat` for a file of another program or another version.
  static func checkMarks(_ database: Database, _ directory: StoreDirectory) throws {
    let path = directory.path
    let found = try database.number("PRAGMA user_version") ?? 0
    if found == version { return }
    guard try database.number("PRAGMA application_id") == application else { throw ArchiveError.anotherProgram(path) }
    guard found >> 8 == version >> 8 else { return }
    throw ArchiveError(
      .foreignFormat,
      "the archive in \(path) has format \(found & 0xFF), and this version of Waylay reads format \(version & 0xFF): "
        + "update Waylay, or use another directory. Nothing was changed.")
  }
}

extension ArchiveError {
  static func anotherProgram(_ path: String) -> ArchiveError {
    ArchiveError(
      .foreignFormat,
      "\(StoreDirectory.index) in \(path) is another program's: use an empty directory. Nothing was changed.")
  }
}
