// The functions of SQLite under their own names: from Apple's module, or found at run time.
#if canImport(SQLite3)
  @_exported import SQLite3
#elseif canImport(CWaylaySQLite)
  @_exported import CWaylaySQLite
#endif

/// Loads SQLite.
enum SQLite {
  /// - Throws: `ArchiveError.unavailable` if no usable library is found.
  static func load() throws(ArchiveError) {
    #if !canImport(SQLite3)
      guard let problem = waylay_sqlite_load() else { return }
      throw ArchiveError(
        .unavailable,
        "an archive on disk needs SQLite 3.31 or newer, and \(String(cString: problem)): install the package "
          + "libsqlite3-0 (apt-get install libsqlite3-0), or sqlite-libs where packages are RPMs, or keep the archive "
          + "in memory.")
    #endif
  }

  /// A flag for opening files of an index: on devices they are readable after the first unlock.
  static var protection: Int32 {
    #if canImport(SQLite3) && !os(macOS)
      SQLITE_OPEN_FILEPROTECTION_COMPLETEUNTILFIRSTUSERAUTHENTICATION
    #else
      0
    #endif
  }
}
