import Foundation

extension DiskStore {
  /// The length of the write-ahead log in pages (of 4 KiB each) from which a checkpoint waits for readers.
  private static let tooLongLog = 4096
  /// The length from which writing fails: including the pages of one transaction, the log stays below 32 MiB.
  private static let longestLog = 4608

  // MARK: Removing

  /// Removes the entries that match a filter. When it returns, no process finds them any more; the next ``flush()``
  /// erases their bytes from the files.
  @discardableResult
  package func removeAll(_ filter: EntryFilter) async throws -> Int {
    try check()
    var (count, last): (Int, Int64?) = (0, .min)
    while let start = last {
      let doomed: [UInt64]
      // In batches, so that the log stays short.
      (doomed, last) = try await onQueue("a removal") { [self] database, isFull in
        let most = isFull ? 4 : 256
        let (selection, values) = selection(filter, after: start, most: most)
        let columns = filter.isWhole ? "id" : Self.columns
        var (seen, doomed, bytes): ([Int64], [UInt64], Int64) = ([], [], 0)
        try write([], database) { [self] change in
          (seen, doomed, bytes) = ([], [], 0)
          // The removed bytes go through the log, as zeros.
          let size = "length(head) + ifnull(length(body), 0)"
          try database.run("SELECT \(columns), \(size) \(selection)", values) { row in
            guard bytes < 4 << 20 else { return }
            bytes += row.number(filter.isWhole ? 1 : 6)
            seen.append(row.number(0))
            if filter.isWhole || entry(row).map(filter.matches) ?? false { doomed.append(row.bits(0)) }
          }
          try change.note(filter)
          // Evicted and replaced entries may have left bytes as well.
          if !doomed.isEmpty || filter.isWhole { change.isRemoval = true }
          for number in doomed { try change.delete(number) }
        }
        return (doomed, seen.count == most || bytes >= 4 << 20 ? seen.last : nil)
      }
      count += doomed.count
    }
    return count
  }

  // MARK: Flushing

  /// Waits until everything stored so far survives a power failure, and the bytes of removed entries are erased.
  package func flush() async throws {
    guard !isReadOnly else { return }
    try await onQueue("the stored entries") { [self] database, _ in
      while state.withLock({ !$0.owed.isEmpty }) { try write([], database) }
      adopt(try Change.Seen(database))
      let others = try state.withLock { $0.hasOthers } ? directory.bodyNumbers() : []
      try synchronize(database, others)
      let isRemoval = try database.number("SELECT removed FROM total WHERE id=1") != 0
      if isRemoval {
        try sweep(database)
        try directory.remove(StoreDirectory.damaged)
      }
      // Also if another process has scrubbed: the files that this process has removed may not be synced.
      try directory.synchronizeNames()
      guard isRemoval else { return }
      if try database.number("SELECT 1 FROM entry LIMIT 1") == nil {
        // Damage may have left heads without an entry, and pages that are in no tree.
        try database.run("DELETE FROM content WHERE NOT EXISTS (SELECT 1 FROM entry)")
        try database.run("PRAGMA quick_check(1)") { row in
          if row.text(0) != "ok" { throw DatabaseError(code: SQLITE_CORRUPT, message: row.text(0)) }
        }
      }
      // Returns free pages to the volume in batches, because each page goes through the log.
      while try database.number("PRAGMA freelist_count") ?? 0 > 256,
        try database.checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
      {
        try database.run("PRAGMA incremental_vacuum(2048)")
      }
      let scrub = try connections.open()
      defer { scrub.close() }
      try Scrub(database: scrub).run()
    }
    if let failure = state.withLock({ $0.failure.take() }) { throw failure }
  }

  /// Syncs bodies; if that fails, the next flush writes them again.
  func noting(_ numbers: Set<UInt64>, _ sync: () throws -> Void) throws {
    do { try sync() } catch {
      state.withLock { state in
        state.dirty.formUnion(numbers)
        state.isSyncInDoubt = true
      }
      throw error
    }
  }

  /// Syncs the bodies first, then their rows; then removes the files of replaced bodies.
  ///
  /// - Parameter others: All bodies, if another process may have written some of them.
  func synchronize(_ database: Database, _ others: [UInt64] = []) throws {
    let (dirty, isInDoubt) = state.withLock { state in
      state.dirty.formUnion(others)
      state.hasOthers = state.hasOthers && others.isEmpty
      defer { (state.dirty, state.isSyncInDoubt) = ([], false) }
      return (state.dirty, state.isSyncInDoubt)
    }
    try noting(dirty) {
      if isInDoubt { try dirty.forEach(rewrite) }
      try directory.synchronize(dirty)
    }
    try database.synchronize()
    while let number = state.withLock({ $0.replaced.last }) {
      try directory.removeBody(number)
      state.withLock { _ = $0.replaced.removeLast() }
    }
  }

  /// Copies a long write-ahead log into the database. The bodies of its rows are synced first, then the copy.
  ///
  /// - Throws: An error if a reader keeps the log from being truncated.
  func shortenLog(_ database: Database) throws {
    guard database.loggedPages > state.withLock({ max(16, $0.reserve >> 12) }) else { return }
    let isTooLong = database.loggedPages > Self.tooLongLog
    do { try synchronize(database) } catch  where !isTooLong { return }
    _ = try database.checkpoint(isTooLong ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE)
    guard database.loggedPages <= Self.longestLog else { throw ArchiveError.logHeld }
  }

  /// Syncs the bodies, and copies the whole log into the database.
  private func copyLog(_ database: Database, _ mode: Int32 = SQLITE_CHECKPOINT_TRUNCATE) throws {
    try synchronize(database)
    _ = try database.checkpoint(mode)
  }

  // MARK: A full volume

  /// Allocates the reserve file, which is removed when the volume is full.
  func makeReserve() {
    let size = try? directory.makeReserve()
    state.withLock { $0.reserve = size ?? 0 }
  }

  /// Makes room on the volume for a body; must not be called on the queue.
  func makeRoomOnVolume(forFile: Bool) {
    queue.sync { if isOpen, let writer = connections.writer { makeRoomOnVolume(writer, forFile: forFile) } }
  }

  /// Evicts a tenth of the entries, least recently used first, on a full volume. Eviction needs space as well: removing
  /// the reserve makes room for the log and for the first small eviction, whose space is enough for larger ones.
  ///
  /// - Parameter forFile: Whether the volume is out of inodes: then only removing another file makes room.
  func makeRoomOnVolume(_ database: Database, forFile: Bool = false) {
    options.logger.warning("the volume of the archive in \(path) is full: entries are evicted")
    try? directory.remove(StoreDirectory.reserve)
    let (count, kept) = state.withLock { ($0.stored.usage.count, $0.resumed) }
    var (left, most) = (forFile ? 4 : max(count / 10, 4), 4)
    while left > 0, most > 0 {
      try? copyLog(database)
      let evicted = try? write([], database) {
        try $0.evict(most, bytes: Int64(most) << 14, besides: kept, onlyFiles: forFile) { true }
      }
      try? database.run("PRAGMA incremental_vacuum(\(most * 4))")
      left -= evicted ?? 0
      most = evicted.map { $0 > 0 ? min(most * 2, 256) : 0 } ?? most / 4
    }
    try? copyLog(database)
    makeReserve()
  }

  // MARK: Files without a row

  /// Removes the files that a killed process left; on the queue.
  func clearAway() {
    makeReserve()
    try? writing("bodies") { database, _ in try sweep(database) }
  }

  /// The files without a row: left by a killed process, or of a running writer.
  func strays(_ database: Database) throws -> [UInt64] {
    // Files first, because a file is created before its row.
    let numbers = try directory.bodyNumbers()
    var known: Set<UInt64> = []
    try database.run("SELECT file FROM entry WHERE file IS NOT NULL") { known.insert($0.bits(0)) }
    return numbers.filter { !known.contains($0) }
  }

  /// Removes files without a row, unless a writer has locked them.
  private func sweep(_ database: Database) throws {
    let strays = try strays(database)
    guard !strays.isEmpty else { return }
    // Another process may have replaced their entries without a sync.
    try directory.synchronize(Set(directory.bodyNumbers()))
    try database.synchronize()
    for number in strays {
      guard let file = try directory.openBodyForWriting(number) else { continue }
      // A writer may have committed the row and unlocked the file meanwhile.
      if try database.number("SELECT 1 FROM entry WHERE file=?", [.bits(number)]) == nil {
        try directory.removeBody(number)
      }
      withExtendedLifetime(file) {}
    }
  }

  // MARK: The end

  package func close() async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [self] in
        leave(as: .closed)
        continuation.resume()
      }
    }
  }

  /// Writes the pending jobs, closes the connections, and releases all locks. Blocks.
  func leave(as life: State.Life) {
    queue.sync {
      writeWaiting()
      end(as: life)
    }
    // Waits for the running writes.
    bodies.pool.wait()
    queue.sync {
      // The last connection removes the log by its path. It copies nothing before, so that the directory is hardly moved
      // meanwhile.
      if let writer = connections.writer, !isGone() { try? copyLog(writer, SQLITE_CHECKPOINT_PASSIVE) }
      finish()
    }
    for file in locked.withLock({ $0.values }) { files.unlock(file) }
  }
}

extension ArchiveError {
  static let logHeld = ArchiveError(
    .notWritten,
    "the log of the archive's index is full, because another program keeps reading the index: close that program.")
}
