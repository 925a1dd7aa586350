import Foundation

extension DiskStore {
  /// The columns that make an entry.
  static let columns = "id, entry.digest, cost, hits, file, head"
  private static let from = "FROM entry LEFT JOIN content USING(id) WHERE "

  /// Returns all entries of a key if they are in memory, and `nil` otherwise.
  package func cached(_ key: ArchiveKey) -> [StoredEntry]? {
    let isKnown = look()
    let digest = digest(of: key)
    return state.withLock { state in
      guard state.life == .open else { return [] }
      guard isKnown, let found = state.tier.all(digest)?.filter({ $0.key == key }) else { return nil }
      hit(found, &state)
      return found
    }
  }

  /// Returns the entries of a key, oldest first.
  ///
  /// - Throws: `ArchiveError.readFailed` if there are entries but the system can currently read none of them.
  package func entries(for key: ArchiveKey) async throws -> [StoredEntry] {
    if let found = cached(key) { return found }
    let digest = digest(of: key)
    // Pending changes: the index lacks new entries and still has removed ones. A later change of `changes` means that
    // one was committed during this call.
    let (waiting, latest, changes) = state.withLock { ($0.tier.visited(digest), $0.latest, $0.changes) }
    let (rows, isWhole) = try await bodies.pool.perform { [self] in try read(digest, key) }
    return state.withLock { state in
      guard state.life == .open else { return [] }
      var found: [UInt64: StoredEntry] = [:]
      for entry in rows where !latest.isRemoved(entry.id) { found[entry.id.number] = entry }
      let isCurrent = isWhole && state.changes == changes
      for entry in waiting + state.tier.visited(digest) where entry.key == key {
        if found[entry.id.number] != nil {
          found[entry.id.number] = entry
        } else if isCurrent {
          // Another process has removed its row.
          state.tier.drop(entry.id)
        }
      }
      let entries = found.values.sorted { $0.id.number < $1.id.number }
      if isCurrent {
        for entry in entries where state.tier.find(entry.id) == nil { state.tier.keep(entry, upTo: options.memory) }
        if entries.allSatisfy({ state.tier.find($0.id) != nil }) { state.tier.complete(digest) }
      }
      hit(entries, &state)
      return entries
    }
  }

  /// Counts hits for the next transaction, as many as it can take.
  private func hit(_ entries: [StoredEntry], _ state: inout State) {
    guard !isReadOnly, state.hits.count < Self.mostHits else { return }
    for entry in entries { state.hits[entry.id.number, default: 0] += 1 }
  }

  /// Reads the entries whose key has a digest, with small bodies; removes damaged entries.
  ///
  /// - Returns: The entries, and whether all could be read.
  private func read(_ digest: UInt64, _ key: ArchiveKey) throws -> ([StoredEntry], isWhole: Bool) {
    let (found, damaged) = try rows("\(Self.from)entry.digest=? ORDER BY id", [.bits(digest)])
    damaged.forEach(drop)
    var (entries, failure): ([StoredEntry], (any Error)?) = ([], nil)
    // Different keys may have the same digest.
    for var entry in found where entry.key == key {
      do {
        if let body = entry.contents as? FileBody, body.length <= Int64(BodyChunk.size) {
          entry.contents = MemoryBody(data: try body.readNow(0..<body.length))
        }
        entries.append(entry)
      } catch let error as ArchiveError where error.code == .unreadable {
        drop(entry.id)
      } catch {
        options.logger.warning("entry \(entry.id) of the archive in \(path) could not be read now: \(error)")
        failure = error
      }
    }
    if let failure, entries.isEmpty { throw failure }
    return (entries, failure == nil)
  }

  /// Reads one entry.
  func load(_ id: EntryID) throws -> StoredEntry? { try rows("\(Self.from)id=?", [.bits(id.number)]).found.first }

  /// Reads the entries that are selected, and the numbers of damaged ones.
  private func rows(
    _ selection: String, _ values: [DatabaseValue]
  ) throws -> (found: [StoredEntry], damaged: [EntryID]) {
    var (found, damaged): ([StoredEntry], [EntryID]) = ([], [])
    try reading { database in
      (found, damaged) = ([], [])
      try database.run("SELECT \(Self.columns), body \(selection)", values) {
        row in
        if let entry = entry(row, body: row.data(6)) { found.append(entry) } else { damaged.append(row.id) }
      }
    }
    return (found, damaged)
  }

  /// Writes a body again after a failed sync, because the system may have dropped its pages. The bytes are compared
  /// with their checksums: an entry with lost bytes is removed, and the next flush throws.
  func rewrite(_ number: UInt64) throws {
    try directory.rewrite(number)
    for entry in try rows("\(Self.from)file=?", [.bits(number)]).found {
      guard let body = entry.contents as? FileBody else { continue }
      do {
        for start in stride(from: 0, to: body.length, by: 1 << 20) {
          _ = try body.readNow(start..<min(start + (1 << 20), body.length))
        }
      } catch let error as ArchiveError where error.code == .unreadable {
        drop(entry.id)
        state.withLock { $0.failure = $0.failure ?? error }
      }
    }
  }

  /// Removes a damaged entry, unless it was removed or replaced meanwhile, and its file with it.
  private func drop(_ id: EntryID) {
    let row = try? connections.read { try $0.number("SELECT 1 FROM entry WHERE id=?", [.bits(id.number)]) }
    guard row == .some(1), !isGone() else { return }
    let reason = "its bytes differ from those that were stored"
    options.logger.warning("entry \(id) of the archive in \(path) was dropped: \(reason)")
    report([StoreEvent(kind: .damaged, id: id, reason: reason)])
    remove([id])
  }

  /// The entry of a row; `nil` if it is damaged.
  ///
  /// - Parameter body: The body in the row; `nil` if only the head is needed.
  func entry(_ row: DatabaseRow, body: Data? = nil) -> StoredEntry? {
    let id = row.id
    guard let block = opened(row.bytes(5), id) else { return nil }
    var contents: any StoredBody = MemoryBody(data: Data())
    if !row.isNull(4) {
      contents = FileBody(bodies, number: row.bits(4), digest: id.hash, chunks: block.chunks)
    } else if let body, let chunk = block.chunks.first {
      let place = Sealing.Context(file: id.number, index: 0)
      guard let plain = bodies.sealing.opened(chunk: body, chunk, place, digest: id.hash.bytes) else { return nil }
      contents = MemoryBody(data: plain)
    }
    return StoredEntry(
      id: id, key: block.key, head: block.head, details: block.details, hits: Int(row.number(3)),
      storedBytes: row.number(2), contents: contents)
  }

  /// Calls a closure with a reader; errors become those of an archive.
  private func reading(_ body: (Database) throws -> Void) throws {
    do {
      try checkLife()
      if !isGone() { try connections.read(body) }
    } catch {
      // The error is that of a removed or replaced index, or the store was lost meanwhile.
      if (error as? ArchiveError)?.code == .directoryUnusable || !(error is ArchiveError), isGone() { return }
      if error is ArchiveError { throw error }
      if let error = error as? DatabaseError, error.isDamage { putAside(error) }
      throw ArchiveError.readFailed("the stored entries", error)
    }
  }

  // MARK: All of it

  /// Visits the entries that match a filter, oldest first; entries stored meanwhile may or may not be included.
  package func visit(_ filter: EntryFilter, _ visitor: @Sendable (StoredEntry) throws -> Bool) async throws {
    // A failure to write does not prevent reading.
    try? await written()
    try checkLife()
    var last: Int64? = .min
    while let start = last {
      // A short transaction, so that a removal does not wait for it.
      let latest = state.withLock { $0.latest }
      let (found, damaged) = try await bodies.pool.perform { [self] in
        let (selection, values) = selection(filter, after: start)
        return try rows(selection, values)
      }
      damaged.forEach(drop)
      for entry in found where !latest.isRemoved(entry.id) && filter.matches(entry) {
        guard try visitor(entry) else { return }
      }
      let numbers = (found.map(\.id) + damaged).map { Int64(bitPattern: $0.number) }
      last = numbers.count == 256 ? numbers.max() : nil
    }
  }

  /// Examines the pages of the index, and the files of bodies that no row refers to and no writer has.
  ///
  /// - Returns: The findings, one sentence each.
  package func findings() async throws -> [String] {
    let isInUse = connections.mode != .immutable
    var left: Set<UInt64>?
    // Check twice if the archive is in use: a writer deletes the file of a replaced entry shortly after its row.
    for delay in isInUse ? [0, 1] : [0] where left?.isEmpty != true {
      try await Task.sleep(for: .seconds(delay))
      let found = try await bodies.pool.perform { [self] in
        var found: [UInt64] = []
        try reading { found = try strays($0).filter { (try? directory.isLocked($0)) == false } }
        return found
      }
      left = left?.intersection(found) ?? Set(found)
    }
    return try await bodies.pool.perform { [self, left] in
      var findings = (left ?? []).sorted().map { "the file \(directory.name(of: $0)) belongs to no entry" }
      try reading { database in
        // Skip a large index in use: one long read keeps a writer from truncating its log (64 MiB take some 50 ms).
        if isInUse, try database.number("PRAGMA page_count") ?? 0 > 16_384 { return }
        try database.run("PRAGMA quick_check(20)") { row in
          if row.text(0) != "ok" { findings.append("the index is damaged: \(row.text(0))") }
        }
      }
      return findings
    }
  }
}

extension DatabaseRow {
  /// The entry of the row.
  fileprivate var id: EntryID { EntryID(number: bits(0), hash: bits(1)) }
}
