import Foundation

/// Overwrites the remains of removed rows in an index.
///
/// `secure_delete` zeroes the cells that a statement deletes, but not the copies that balancing leaves in the gap of a
/// page, between its cell pointers and its cells. The gaps are zeroed in the file, through SQLite's own descriptor,
/// while the write lock is held and the write-ahead log is empty, so that all content is in the file. A gap has no
/// meaning, so neither a reader nor a loss of power sees a difference. The last change of `total` makes the other
/// connections of all processes drop their cached pages, which they could otherwise write again.
struct Scrub {
  private static let patience: Duration = .seconds(10)

  /// A connection that has not read yet, and so has no cached pages.
  let database: Database

  /// - Throws: `ArchiveError.notWritten` when a reader holds the log for more than ten seconds.
  func run() throws {
    let start = ContinuousClock.now
    repeat {
      guard try database.checkpoint(SQLITE_CHECKPOINT_TRUNCATE) else {
        // Retry: SQLite does not wait for another connection's checkpoint.
        usleep(1000)
        continue
      }
      // Without the lock, because reading takes long: the pages to overwrite, unless the index changes meanwhile.
      let version = try database.number("PRAGMA data_version")
      let noted = try gaps()
      let isDone = try database.transaction {
        var size: sqlite3_int64 = 0
        let log = try database.file(ofLog: true)
        // Another process may have written since the checkpoint.
        guard log.pointee.pMethods.pointee.xFileSize(log, &size) == SQLITE_OK, size == 0 else { return false }
        let isSame = try database.number("PRAGMA data_version") == version
        // If other processes keep changing the index, examine all pages while holding the lock.
        guard isSame || ContinuousClock.now - start > Self.patience / 2 else { return false }
        _ = try gaps(of: isSame ? noted : nil, zeroing: true)
        try database.run("UPDATE total SET clock=clock+1, removed=0 WHERE id=1")
        return true
      }
      // Sync the log: until then, a power failure may restore the remains.
      if isDone { return try database.synchronize() }
    } while ContinuousClock.now - start < Self.patience
    throw ArchiveError(
      .notWritten,
      "the removed entries are gone, but their bytes are still in the archive's files, because another program keeps "
        + "reading the index: close it, and flush again.")
  }

  /// Finds the pages with remains in their gaps, among all pages or the given ones.
  private func gaps(of pages: [Int]? = nil, zeroing: Bool = false) throws -> [Int] {
    let size = Int(try database.number("PRAGMA page_size") ?? 0)
    let count = Int(try database.number("PRAGMA page_count") ?? 0)
    var found: [Int] = []
    let file = try database.file()
    let page = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
    defer { page.deallocate() }
    func check(_ code: Int32) throws {
      guard code == SQLITE_OK else { throw DatabaseError(code: code, message: "a page could not be overwritten") }
    }
    for number in pages ?? Array(1...count) where !Self.isMap(number, size) {
      let offset = sqlite3_int64(number - 1) * sqlite3_int64(size)
      try check(file.pointee.pMethods.pointee.xRead(file, page.baseAddress, Int32(size), offset))
      guard let gap = Self.gap(page, isFirst: number == 1), page[gap].contains(where: { $0 != 0 }) else { continue }
      found.append(number)
      guard zeroing else { continue }
      page[gap].withContiguousMutableStorageIfAvailable { $0.update(repeating: 0) }
      try check(file.pointee.pMethods.pointee.xWrite(file, page.baseAddress, Int32(size), offset))
    }
    if zeroing { try check(file.pointee.pMethods.pointee.xSync(file, SQLITE_SYNC_FULL)) }
    return found
  }

  /// Whether a page is a pointer map (`auto_vacuum`), or the page of the locks.
  private static func isMap(_ number: Int, _ size: Int) -> Bool {
    let locks = 0x4000_0000 / size + 1
    let map = (number - 2) / (size / 5 + 1) * (size / 5 + 1) + 2
    return number == locks || number >= 2 && (number == map || map == locks && number == map + 1)
  }

  /// The gap of a b-tree page; `nil` for a page of another kind, whose first byte is 0.
  private static func gap(_ page: UnsafeMutableRawBufferPointer, isFirst: Bool) -> Range<Int>? {
    let start = isFirst ? 100 : 0
    guard [2, 5, 10, 13].contains(page[start]) else { return nil }
    func short(_ place: Int) -> Int { Int(page[place]) << 8 | Int(page[place + 1]) }
    let content = short(start + 5) == 0 ? 65_536 : short(start + 5)
    let end = start + (page[start] < 8 ? 12 : 8) + 2 * short(start + 3)
    return end <= content && content <= page.count ? end..<content : nil
  }
}
