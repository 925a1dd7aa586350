import Foundation

/// A connection to an SQLite database, with the statements that it has prepared.
///
/// ```swift
/// let database = try Database("/tmp/index.sqlite", .readWrite)
/// try database.transaction {
///   try database.run("INSERT INTO entry(id, digest) VALUES(?, ?)", [7, .bits(digest)])
/// }
/// ```
final class Database: @unchecked Sendable {
  // Unchecked: one thread at a time uses a connection. It belongs to the writer's queue, is taken from the pool of
  // readers, or is behind a lock.

  enum Mode: Sendable {
    case readWrite, readOnly
    /// A read-only file without a writer, read without locks.
    case immutable
  }

  let mode: Mode
  private var handle: OpaquePointer?
  private let process = getpid()
  private var statements: [String: OpaquePointer] = [:]
  /// Whether a sync of the log has failed: the system may have dropped its pages, and a second sync would succeed.
  private var isLogInDoubt = false
  /// The number of pages in the write-ahead log after the last commit of this connection.
  private(set) var loggedPages = 0

  /// Opens a database; the file must exist.
  ///
  /// - Parameters:
  ///   - patience: How long a call waits for another connection's lock, in milliseconds.
  ///   - vfs: The name of the VFS that accesses the files; `nil` for the system's.
  init(_ path: String, _ mode: Mode, patience: Int32 = 5000, vfs: String? = nil) throws {
    self.mode = mode
    var (name, flags) = (path, SQLITE_OPEN_NOMUTEX | SQLite.protection)
    switch mode {
    case .readWrite: flags |= SQLITE_OPEN_READWRITE
    case .readOnly: flags |= SQLITE_OPEN_READONLY
    case .immutable:
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      name = URL(fileURLWithPath: path).absoluteString + "?immutable=1"
    }
    let code = sqlite3_open_v2(name, &handle, flags, vfs)
    guard code == SQLITE_OK else {
      defer { close() }
      throw error(code)
    }
    sqlite3_extended_result_codes(handle, 1)
    sqlite3_busy_timeout(handle, patience)
    // Replaces SQLite's automatic checkpoints.
    sqlite3_wal_hook(
      handle,
      { database, _, _, pages in
        if let database { Unmanaged<Database>.fromOpaque(database).takeUnretainedValue().loggedPages = Int(pages) }
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit { close() }

  /// Sets how long a call waits for another connection's lock, in milliseconds.
  func setPatience(_ patience: Int32) { sqlite3_busy_timeout(handle, patience) }

  /// Ends the connection; later calls fail.
  func close() {
    defer { (statements, handle) = ([:], nil) }
    // Closing it in a child made by `fork` would change the files that the parent has open.
    guard getpid() == process else { return }
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(handle)
  }

  private func error(_ code: Int32) -> DatabaseError {
    guard let handle else { return DatabaseError(code: code, message: "the connection is closed") }
    return DatabaseError(
      code: code, message: String(cString: sqlite3_errmsg(handle)), system: sqlite3_system_errno(handle))
  }

  /// Runs statements without values.
  func script(_ sql: String) throws(DatabaseError) {
    guard let handle else { throw error(SQLITE_CANTOPEN) }
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw error(code) }
  }

  /// Runs a statement, and calls a closure with each row. Statements are prepared once and kept.
  func run(
    _ sql: String, _ values: [DatabaseValue] = [], row: (DatabaseRow) throws -> Void = { _ in }
  ) throws {
    let statement = try statements[sql] ?? prepared(sql)
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
    }
    for (index, value) in values.enumerated() { value.bind(to: statement, Int32(index + 1)) }
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: try row(DatabaseRow(statement: statement))
      case SQLITE_DONE: return
      case let code: throw error(code)
      }
    }
  }

  /// The first column of the last row.
  func number(_ sql: String, _ values: [DatabaseValue] = []) throws -> Int64? {
    var number: Int64?
    try run(sql, values) { number = $0.number(0) }
    return number
  }

  private func prepared(_ sql: String) throws(DatabaseError) -> OpaquePointer {
    guard let handle else { throw error(SQLITE_CANTOPEN) }
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK, let statement else { throw error(code) }
    statements[sql] = statement
    return statement
  }

  /// Runs a closure in a transaction, which is rolled back if the closure throws. It takes the write lock at its
  /// beginning.
  @discardableResult
  func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    try run("BEGIN IMMEDIATE")
    do {
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      // SQLite rolls back on some errors by itself.
      if sqlite3_get_autocommit(handle) == 0 { _ = try? run("ROLLBACK") }
      throw error
    }
  }

  /// Copies the write-ahead log into the database, and syncs both.
  ///
  /// - Returns: Whether all of it was copied and, in the mode `TRUNCATE`, the log is empty.
  func checkpoint(_ mode: Int32) throws(DatabaseError) -> Bool {
    guard let handle else { throw error(SQLITE_CANTOPEN) }
    var (pages, copied): (Int32, Int32) = (0, 0)
    let code = sqlite3_wal_checkpoint_v2(handle, nil, mode, &pages, &copied)
    if code & 0xFF == SQLITE_BUSY { return false }
    guard code == SQLITE_OK else {
      // SQLITE_IOERR_FSYNC
      if code == SQLITE_IOERR | 4 << 8 { isLogInDoubt = true }
      throw error(code)
    }
    if mode >= SQLITE_CHECKPOINT_RESTART { loggedPages = 0 }
    return pages == copied
  }

  /// Syncs all committed transactions: the write-ahead log, or after a failure the database with a copy of it.
  func synchronize() throws(DatabaseError) {
    if !isLogInDoubt {
      let log = try file(ofLog: true)
      if log.pointee.pMethods.pointee.xSync(log, SQLITE_SYNC_FULL) == SQLITE_OK { return }
      isLogInDoubt = true
    }
    guard try checkpoint(SQLITE_CHECKPOINT_TRUNCATE) else { throw error(SQLITE_BUSY) }
    isLogInDoubt = false
  }

  /// The open file of the database, or of its write-ahead log.
  ///
  /// Opening the file a second time is no alternative: closing that descriptor would drop SQLite's locks (POSIX).
  func file(ofLog isLog: Bool = false) throws(DatabaseError) -> UnsafeMutablePointer<sqlite3_file> {
    guard let handle else { throw error(SQLITE_CANTOPEN) }
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = sqlite3_file_control(
      handle, nil, isLog ? SQLITE_FCNTL_JOURNAL_POINTER : SQLITE_FCNTL_FILE_POINTER, &file)
    guard code == SQLITE_OK, let file, file.pointee.pMethods != nil else { throw error(code) }
    return file
  }

  /// The header of the write-ahead log's index in shared memory, which each commit of any connection changes
  /// (https://sqlite.org/walformat.html, 2.2). Empty before the first read of this connection: SQLite must open the log
  /// before the memory, to close both.
  var logHeader: [UInt8] {
    var memory: UnsafeMutableRawPointer?
    guard (try? file(ofLog: true)) != nil, let file = try? file(),
      file.pointee.pMethods.pointee.xShmMap(file, 0, 32_768, 0, &memory) == SQLITE_OK, let memory
    else { return [] }
    return Array(UnsafeRawBufferPointer(start: memory, count: 48))
  }
}

/// A failure of SQLite.
struct DatabaseError: Error, CustomStringConvertible {
  /// The extended result code.
  var code: Int32
  var message: String
  /// The `errno` of the failed system call, or 0.
  var system: Int32 = 0

  var description: String {
    "SQLite: \(message) (\(code)\(system == 0 ? "" : ", " + String(cString: strerror(system))))"
  }

  private var primary: Int32 { code & 0xFF }
  /// Whether the volume has no room.
  var isFull: Bool { primary == SQLITE_FULL || primary == SQLITE_IOERR && [ENOSPC, EDQUOT].contains(system) }
  /// Whether the file differs from the one that SQLite has written.
  var isDamage: Bool { primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB }
}

/// A value of a statement.
enum DatabaseValue: ExpressibleByIntegerLiteral {
  case number(Int64), bytes(any ContiguousBytes), null

  init(integerLiteral value: Int64) { self = .number(value) }

  /// A digest or a number without a sign, whose bits are stored.
  static func bits(_ number: UInt64?) -> DatabaseValue { number.map { .number(Int64(bitPattern: $0)) } ?? .null }

  fileprivate func bind(to statement: OpaquePointer, _ place: Int32) {
    // SQLITE_TRANSIENT: SQLite copies the value.
    let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    switch self {
    case .number(let number): sqlite3_bind_int64(statement, place, number)
    case .bytes(let bytes):
      bytes.withUnsafeBytes { bytes in
        // A null pointer would bind NULL.
        let start = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)
        _ = sqlite3_bind_blob64(statement, place, start, sqlite3_uint64(bytes.count), copied)
      }
    case .null: sqlite3_bind_null(statement, place)
    }
  }
}

/// A row of a result, valid until the next one.
struct DatabaseRow {
  fileprivate let statement: OpaquePointer

  func number(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }
  func bits(_ column: Int32) -> UInt64 { UInt64(bitPattern: number(column)) }
  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }
  func text(_ column: Int32) -> String { sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "" }
  func bytes(_ column: Int32) -> [UInt8] { [UInt8](blob(column)) }
  func data(_ column: Int32) -> Data { Data(blob(column)) }

  private func blob(_ column: Int32) -> UnsafeRawBufferPointer {
    // In this order: `sqlite3_column_bytes` returns the length of the converted value.
    let start = sqlite3_column_blob(statement, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
  }
}
