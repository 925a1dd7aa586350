// Stand-ins for the SDK's module SQLite3, for `Scripts/apple.sh`: type-checked against, never linked. Own work.

/// https://www.sqlite.org/c3ref/io_methods.html, the beginning of it.
public struct sqlite3_io_methods {
  public var xRead: (@convention(c) (UnsafeMutablePointer<sqlite3_file>?, UnsafeMutableRawPointer?, Int32, Int64) -> Int32)!
  public var xWrite: (@convention(c) (UnsafeMutablePointer<sqlite3_file>?, UnsafeRawPointer?, Int32, Int64) -> Int32)!
  public var xSync: (@convention(c) (UnsafeMutablePointer<sqlite3_file>?, Int32) -> Int32)!
  public var xFileSize: (@convention(c) (UnsafeMutablePointer<sqlite3_file>?, UnsafeMutablePointer<Int64>?) -> Int32)!
}

/// https://www.sqlite.org/c3ref/file.html
public struct sqlite3_file {
  public var pMethods: UnsafePointer<sqlite3_io_methods>!
}

public typealias sqlite3_int64 = Int64
public typealias sqlite3_uint64 = UInt64
public typealias sqlite3_destructor_type = @convention(c) (UnsafeMutableRawPointer?) -> Void

public var SQLITE_OK: Int32 { fatalError() }
public var SQLITE_BUSY: Int32 { fatalError() }
public var SQLITE_READONLY: Int32 { fatalError() }
public var SQLITE_IOERR: Int32 { fatalError() }
public var SQLITE_CORRUPT: Int32 { fatalError() }
public var SQLITE_FULL: Int32 { fatalError() }
public var SQLITE_CANTOPEN: Int32 { fatalError() }
public var SQLITE_TOOBIG: Int32 { fatalError() }
public var SQLITE_CONSTRAINT: Int32 { fatalError() }
public var SQLITE_NOTADB: Int32 { fatalError() }
public var SQLITE_ROW: Int32 { fatalError() }
public var SQLITE_DONE: Int32 { fatalError() }
public var SQLITE_NULL: Int32 { fatalError() }
public var SQLITE_OPEN_READONLY: Int32 { fatalError() }
public var SQLITE_OPEN_READWRITE: Int32 { fatalError() }
public var SQLITE_OPEN_URI: Int32 { fatalError() }
public var SQLITE_OPEN_NOMUTEX: Int32 { fatalError() }
public var SQLITE_OPEN_FILEPROTECTION_COMPLETEUNTILFIRSTUSERAUTHENTICATION: Int32 { fatalError() }
public var SQLITE_PREPARE_PERSISTENT: Int32 { fatalError() }
public var SQLITE_FCNTL_FILE_POINTER: Int32 { fatalError() }
public var SQLITE_FCNTL_JOURNAL_POINTER: Int32 { fatalError() }
public var SQLITE_SYNC_FULL: Int32 { fatalError() }
public var SQLITE_CHECKPOINT_PASSIVE: Int32 { fatalError() }
public var SQLITE_CHECKPOINT_RESTART: Int32 { fatalError() }
public var SQLITE_CHECKPOINT_TRUNCATE: Int32 { fatalError() }

@discardableResult
public func sqlite3_open_v2(
  _: UnsafePointer<CChar>!, _: UnsafeMutablePointer<OpaquePointer?>!, _: Int32, _: UnsafePointer<CChar>!
) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_close_v2(_: OpaquePointer!) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_extended_result_codes(_: OpaquePointer!, _: Int32) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_busy_timeout(_: OpaquePointer!, _: Int32) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_errmsg(_: OpaquePointer!) -> UnsafePointer<CChar>! { fatalError() }
@discardableResult
public func sqlite3_system_errno(_: OpaquePointer!) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_exec(
  _: OpaquePointer!, _: UnsafePointer<CChar>!,
  _: (
    @convention(c) (
      UnsafeMutableRawPointer?, Int32, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
      UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    ) -> Int32
  )!, _: UnsafeMutableRawPointer!, _: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>!
) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_prepare_v3(
  _: OpaquePointer!, _: UnsafePointer<CChar>!, _: Int32, _: UInt32, _: UnsafeMutablePointer<OpaquePointer?>!,
  _: UnsafeMutablePointer<UnsafePointer<CChar>?>!
) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_finalize(_: OpaquePointer!) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_step(_: OpaquePointer!) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_reset(_: OpaquePointer!) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_clear_bindings(_: OpaquePointer!) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_bind_int64(_: OpaquePointer!, _: Int32, _: sqlite3_int64) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_bind_null(_: OpaquePointer!, _: Int32) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_bind_text(
  _: OpaquePointer!, _: Int32, _: UnsafePointer<CChar>!, _: Int32, _: sqlite3_destructor_type!
) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_bind_blob64(
  _: OpaquePointer!, _: Int32, _: UnsafeRawPointer!, _: sqlite3_uint64, _: sqlite3_destructor_type!
) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_column_int64(_: OpaquePointer!, _: Int32) -> sqlite3_int64 { fatalError() }
@discardableResult
public func sqlite3_column_text(_: OpaquePointer!, _: Int32) -> UnsafePointer<UInt8>! { fatalError() }
@discardableResult
public func sqlite3_column_blob(_: OpaquePointer!, _: Int32) -> UnsafeRawPointer! { fatalError() }
@discardableResult
public func sqlite3_column_bytes(_: OpaquePointer!, _: Int32) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_column_type(_: OpaquePointer!, _: Int32) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_db_readonly(_: OpaquePointer!, _: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_get_autocommit(_: OpaquePointer!) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_file_control(
  _: OpaquePointer!, _: UnsafePointer<CChar>!, _: Int32, _: UnsafeMutableRawPointer!
) -> Int32 { fatalError() }
@discardableResult
public func sqlite3_wal_hook(
  _: OpaquePointer!,
  _: (@convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32)!,
  _: UnsafeMutableRawPointer!
) -> UnsafeMutableRawPointer! { fatalError() }
@discardableResult
public func sqlite3_wal_checkpoint_v2(
  _: OpaquePointer!, _: UnsafePointer<CChar>!, _: Int32, _: UnsafeMutablePointer<Int32>!,
  _: UnsafeMutablePointer<Int32>!
) -> Int32 { fatalError() }
