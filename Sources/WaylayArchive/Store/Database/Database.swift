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
  // Unchecked: one thread at a time uses a connection. It belongs to the queue that writes, or it has been taken out of
  // the pool of those that read, or is behind a lock.

  enum Mode: Sendable {
    case readWrite, readOnly
    /// A file that nobody writes, on a medium that takes no lock.
    case immutable
  }

  private var handle: OpaquePointer?
  private var statements: [String: OpaquePointer] = [:]
  /// The pages in the write-ahead log after the last transaction of this connection.
  private let logged = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

  /// Opens a database; the file must exist.
  ///
  /// - Parameters:
  ///   - patience: How long a call waits for another connection's lock, in milliseconds.
  ///   - vfs: The name of the VFS that accesses the files; `nil` for the system's.
  init(_ path: String, _ mode: Mode, patience: Int32 = 5000, vfs: String? = nil) throws {
    logged.initialize(to: 0)
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
    // Takes the place of SQLite's own checkpoints.
    sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        context?.assumingMemoryBound(to: Int32.self).pointee = pages
        return SQLITE_OK
      }, logged)
  }

  deinit {
    close()
    logged.deallocate()
  }

  /// Ends the connection; later calls fail.
  func close() {
    for statement in statements.values { sqlite3_finalize(statement) }
    statements = [:]
    sqlite3_close_v2(handle)
    handle = nil
  }

  /// The pages in the write-ahead log, as far as this connection has written it.
  var loggedPages: Int { Int(logged.pointee) }

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

  /// Runs a statement, which is prepared once for each text, and calls a closure with each row until it returns `false`.
  ///
  /// - Returns: The number of rows that the statement has changed.
  @discardableResult
  func run(_ sql: String, _ values: [DatabaseValue] = [], while row: (DatabaseRow) throws -> Bool) throws -> Int {
    let statement = try prepared(sql)
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
    }
    for (index, value) in values.enumerated() { value.bind(to: statement, Int32(index + 1)) }
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: guard try row(DatabaseRow(statement: statement)) else { return 0 }
      case SQLITE_DONE: return Int(sqlite3_changes(handle))
      case let code: throw error(code)
      }
    }
  }

  /// The same with each row.
  @discardableResult
  func run(_ sql: String, _ values: [DatabaseValue] = [], row: (DatabaseRow) throws -> Void = { _ in }) throws -> Int {
    try run(
      sql, values,
      while: {
        try row($0)
        return true
      })
  }

  /// The first column of the first row.
  func number(_ sql: String, _ values: [DatabaseValue] = []) throws -> Int64? {
    var number: Int64?
    try run(sql, values, while: { row in
      number = row.number(0)
      return false
    })
    return number
  }

  private func prepared(_ sql: String) throws(DatabaseError) -> OpaquePointer {
    if let statement = statements[sql] { return statement }
    guard let handle else { throw error(SQLITE_CANTOPEN) }
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK, let statement else { throw error(code) }
    statements[sql] = statement
    return statement
  }

  /// Makes one change of several: all of it, or nothing where it throws. The lock for writing is taken at its beginning.
  func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    try run("BEGIN IMMEDIATE")
    do {
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      // Some errors have rolled it back already.
      if sqlite3_get_autocommit(handle) == 0 { _ = try? run("ROLLBACK") }
      throw error
    }
  }

  /// Makes several reads of one state of the database.
  func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
    try run("BEGIN")
    defer { _ = try? run("COMMIT") }
    return try body()
  }

  /// Copies the write-ahead log into the database, and syncs both.
  ///
  /// - Returns: Whether all of it was copied and, in the mode `TRUNCATE`, the log is empty.
  func checkpoint(_ mode: Int32) throws(DatabaseError) -> Bool {
    guard let handle else { throw error(SQLITE_CANTOPEN) }
    var (pages, copied): (Int32, Int32) = (0, 0)
    let code = sqlite3_wal_checkpoint_v2(handle, nil, mode, &pages, &copied)
    if code & 0xFF == SQLITE_BUSY { return false }
    guard code == SQLITE_OK else { throw error(code) }
    if mode >= SQLITE_CHECKPOINT_RESTART { logged.pointee = 0 }
    return pages == copied
  }

  /// The file of the database, or of its write-ahead log, as this connection has it open.
  ///
  /// A descriptor of one's own, when it is closed, would drop SQLite's locks (POSIX).
  func file(ofLog isLog: Bool = false) throws(DatabaseError) -> UnsafeMutablePointer<sqlite3_file> {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = sqlite3_file_control(handle, nil, isLog ? SQLITE_FCNTL_JOURNAL_POINTER : SQLITE_FCNTL_FILE_POINTER, &file)
    guard code == SQLITE_OK, let file, file.pointee.pMethods != nil else { throw error(code) }
    return file
  }
}

/// A failure of SQLite.
struct DatabaseError: Error, CustomStringConvertible {
  /// The extended result code.
  var code: Int32
  var message: String
  /// The `errno` of the call to the system that failed, where one did.
  var system: Int32 = 0

  var description: String {
    "SQLite: \(message) (\(code)\(system == 0 ? "" : ", " + String(cString: strerror(system))))"
  }

  private var primary: Int32 { code & 0xFF }
  /// Whether another connection holds a lock.
  var isBusy: Bool { primary == SQLITE_BUSY }
  /// Whether the volume has no room.
  var isFull: Bool { primary == SQLITE_FULL || primary == SQLITE_IOERR && [ENOSPC, EDQUOT].contains(system) }
  /// Whether the file is not what SQLite has written.
  var isDamage: Bool { primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB }
  /// Whether a new connection may succeed where this one did not.
  var isOfConnection: Bool { [SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY].contains(primary) }
}

/// A value of a statement.
enum DatabaseValue: ExpressibleByIntegerLiteral, ExpressibleByNilLiteral {
  case number(Int64)
  case text(String)
  case bytes([UInt8])
  case data(Data)
  case null

  init(integerLiteral value: Int64) { self = .number(value) }
  init(nilLiteral: ()) { self = .null }

  /// A digest or a number without a sign, whose bits are stored.
  static func bits(_ number: UInt64) -> DatabaseValue { .number(Int64(bitPattern: number)) }

  fileprivate func bind(to statement: OpaquePointer, _ place: Int32) {
    // SQLite makes a copy of what it is given with this address.
    let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    switch self {
    case .number(let number): sqlite3_bind_int64(statement, place, number)
    case .text(let text): sqlite3_bind_text(statement, place, text, -1, copied)
    case .bytes(let bytes): bytes.withUnsafeBytes { Self.bind($0, statement, place, copied) }
    case .data(let data): data.withUnsafeBytes { Self.bind($0, statement, place, copied) }
    case .null: sqlite3_bind_null(statement, place)
    }
  }

  private static func bind(
    _ bytes: UnsafeRawBufferPointer, _ statement: OpaquePointer, _ place: Int32, _ copied: sqlite3_destructor_type
  ) {
    // Without an address it would be NULL.
    let start = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)
    sqlite3_bind_blob64(statement, place, start, sqlite3_uint64(bytes.count), copied)
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
    // In this order: the length is that of what the first call has converted.
    let start = sqlite3_column_blob(statement, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
  }
}
