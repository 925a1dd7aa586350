import Foundation

extension DiskStore {
  /// The maximum number of jobs in one transaction, so that the write-ahead log stays short.
  private static let mostAtOnce = 200
  /// The number of bytes of heads and bodies after which a transaction ends, for the same reason.
  private static let mostBytes = 2 << 20
  /// The maximum number of entries whose hits are counted in memory.
  static let mostHits = 1024

  // MARK: Entries

  /// Commits an entry whose body has been written.
  ///
  /// - Parameters:
  ///   - file: The file of the body; `nil` if `body` has it.
  ///   - known: The former state of the entry, and the length of its body.
  ///   - isLast: Whether the writer is done.
  func publish(
    _ draft: EntryDraft, _ file: BodyWriter.File?, _ body: Data, known: (id: EntryID, length: Int64)?,
    since moment: Int64, isLast: Bool
  ) async throws -> StoredEntry {
    try check()
    // The number is assigned first, because it is authenticated with the head and the body.
    let number = known?.id.number ?? state.withLock { $0.nextNumber() }
    let record = try EntryRecord(number, draft, file, body, self)
    try check(bytes: record.cost)
    let contents: (any StoredBody)? = file.map {
      FileBody(bodies, number: $0.number, digest: record.id.hash, chunks: $0.chunks)
    }
    let entry = StoredEntry(
      id: record.id, key: draft.key, head: draft.head, details: draft.details, storedBytes: record.cost,
      contents: contents ?? MemoryBody(data: body))
    // Sync the flushed part before the row gets the new length: otherwise a power failure could destroy it as well.
    if let file, known != nil {
      do {
        try await bodies.pool.perform { [self] in try noting([file.number]) { try files.synchronize(file.descriptor) } }
      } catch { throw notWritten(error, "a body") }
    }
    let replacing = draft.replacing.filter { $0 != record.id }
    let (promise, isOvertaken) = (Promise<Void>(), Locked(false))
    try add { state in
      var totals = record.totals
      totals -= state.totals(of: replacing)
      guard state.hasRoom(for: totals) else { throw ArchiveError.storeFull }
      if let file = record.file { state.dirty.insert(file) }
      if !isLast { state.resumed.insert(number) }
      return Job(
        change: { change in
          let isEntered = try change.enter(record, entry, from: known?.length, since: moment)
          if isEntered { for id in replacing { try change.delete(id.number, isReplaced: true) } }
          isOvertaken.withLock { $0 = !isEntered }
        }, bytes: record.head.count + (record.body?.count ?? 0), totals: totals, ended: { promise.settle($0) })
    }
    try await promise.value()
    if isOvertaken.withLock({ $0 }) { throw ArchiveError.writerOvertaken }
    return entry
  }

  /// Replaces the head of an entry; its body stays in place.
  @discardableResult
  package func update(_ entry: StoredEntry, head: [UInt8], details: EntryDetails) throws -> StoredEntry? {
    try check(bytes: Int64(head.count))
    let (id, length) = (entry.id, entry.bodyLength)
    var updated: StoredEntry?
    try add { state in
      guard state.latest.isCurrent(entry) else { return nil }
      var new = state.tier.find(id) ?? entry
      (new.head, new.details) = (head, details)
      updated = new
      state.changes += 1
      // If memory lacks the entry, only the index knows whether it still exists.
      if state.tier.find(id) == nil { state.tier.drop(id, isComplete: false) }
      state.tier.hold(new, upTo: options.memory)
      return Job(
        change: { try $0.update(id, head, details, bodyLength: length) },
        bytes: head.count + Int(min(length, Self.inline)), held: id,
        ended: { [self] result in
          guard case .failure(let error) = result else { return }
          self.state.withLock { $0.failure = $0.failure ?? error }
        })
    }
    return updated
  }

  /// Removes entries.
  package func remove(_ ids: [EntryID]) {
    guard !isReadOnly, !ids.isEmpty else { return }
    try? add { state in
      var totals = Totals()
      totals -= state.hide(ids)
      return Job(
        change: { change in
          change.isRemoval = true
          for id in ids { try change.delete(id.number) }
        }, totals: totals, removing: ids)
    }
  }

  // MARK: Writers

  /// Starts an entry whose body follows.
  package func makeWriter(for key: ArchiveKey, length: Int64?, since moment: Int64) throws -> any EntryWriter {
    try check(bytes: length ?? 0)
    return BodyWriter(self, key, since: moment)
  }

  /// Returns a writer that appends to a stored body; `nil` if another writer is appending, or if the stored body is
  /// longer than that of `entry`.
  package func resumeWriting(_ entry: StoredEntry, since moment: Int64) async throws -> (any EntryWriter)? {
    try check()
    guard state.withLock({ $0.resumed.insert(entry.id.number).inserted }) else { return nil }
    var writer: BodyWriter?
    defer { if writer == nil { endResuming(entry.id) } }
    try await written()
    writer = try await bodies.pool.perform { [self] in
      guard let now = try load(entry.id), now.bodyLength == entry.bodyLength else { return nil }
      guard let body = now.contents as? FileBody else {
        return BodyWriter(self, now.key, since: moment, known: now, body: now.contents.inMemory ?? Data())
      }
      guard let descriptor = try directory.openBodyForWriting(body.number) else { return nil }
      // The previous holder of the lock may have appended to it.
      guard let again = try load(entry.id), again.bodyLength == entry.bodyLength else { return nil }
      locked.withLock { $0[body.number] = descriptor }
      let file = BodyWriter.File(body.number, descriptor, chunks: body.chunks)
      return BodyWriter(self, now.key, since: moment, known: now, file: file)
    }
    return writer
  }

  /// Ends a writer's lock of its file.
  func unlock(_ file: BodyWriter.File) {
    locked.withLock { $0[file.number] = nil }
    files.unlock(file.descriptor)
  }

  func endResuming(_ id: EntryID) { state.withLock { _ = $0.resumed.remove(id.number) } }

  /// Counts bytes of a writer against the limits.
  func reserve(_ bytes: Int64, of total: Int64) throws {
    try check(bytes: total)
    try state.withLock { state in
      var least = Totals()
      least.usage.bytes = bytes
      guard state.hasRoom(for: least) else { throw ArchiveError.storeFull }
      state.reserved += bytes
    }
    makeRoom()
  }

  func unreserve(_ bytes: Int64) { state.withLock { $0.reserved -= bytes } }

  // MARK: The queue

  /// Adds a job for the queue. The closure makes it under the lock, and changes memory accordingly.
  private func add(_ job: (inout State) throws -> Job?) throws {
    try state.withLock { state in
      guard state.life == .open else { throw ArchiveError.closed }
      guard let job = try job(&state) else { return }
      state.jobs.append(job)
      state.waiting += job.totals
    }
    queue.async { [self] in if state.withLock({ !$0.jobs.isEmpty }) { writeWaiting() } }
  }

  /// Schedules an eviction if the limits are exceeded.
  func makeRoom() {
    let isNeeded = state.withLock { $0.jobs.isEmpty && ($0.isEvicting || $0.limits.isExceeded(by: $0.counted)) }
    guard !isReadOnly, isNeeded else { return }
    try? add { _ in Job() }
  }

  /// Writes the pending jobs.
  func writeWaiting() {
    var left = state.withLock { $0.jobs.count }
    repeat {
      let (jobs, isNeedless) = state.withLock { state -> ([Job], Bool) in
        var bytes = 0
        let jobs = Array(
          state.jobs.prefix(Self.mostAtOnce).prefix { job in
            defer { bytes += job.bytes }
            return bytes < Self.mostBytes
          })
        state.jobs.removeFirst(jobs.count)
        return (jobs, jobs.isEmpty && state.hits.isEmpty && state.owed.isEmpty)
      }
      if isNeedless { break }
      left -= jobs.count
      do {
        _ = try writing("the stored entries") { database, _ in try write(jobs, database) }
        for job in jobs { job.ended(.success(())) }
      } catch {
        state.withLock { $0.end(jobs, upTo: options.memory, isFailure: true) }
        for job in jobs { job.ended(.failure(error)) }
      }
    } while left > 0
    // Sync now: until then, the old and the new body both take space.
    if state.withLock({ !$0.replaced.isEmpty }) { try? writing("bodies") { database, _ in try synchronize(database) } }
  }

  /// Runs a closure on the queue after all pending jobs, and waits for it.
  func onQueue<Value: Sendable>(
    _ what: String, _ body: @escaping @Sendable (Database, _ isFull: Bool) throws -> Value
  ) async throws -> Value {
    let promise = Promise<Value>()
    return try await promise.value {
      queue.async { [self] in
        writeWaiting()
        promise.settle(Result { try writing(what, body) })
      }
    }
  }

  /// Waits until all pending jobs have been written.
  func written() async throws { if !isReadOnly { try await onQueue("the stored entries") { _, _ in } } }

  /// Calls a closure with the writer, on the queue; errors become those of an archive. On a full volume, some entries
  /// are evicted, and the closure is called again with `true`.
  func writing<Value>(
    _ what: String, _ body: (Database, _ isFull: Bool) throws -> Value
  ) throws -> Value {
    var attempts = 0
    do {
      _ = isGone()
      try check()
      guard let writer = connections.writer else { throw ArchiveError.readOnly }
      while true {
        do {
          try shortenLog(writer)
          return try body(writer, attempts > 0)
        } catch let error as DatabaseError where error.isFull && attempts < 4 {
          makeRoomOnVolume(writer)
          attempts += 1
        }
      }
    } catch {
      if let error = error as? DatabaseError, error.isDamage { putAside(error) }
      try checkLife()
      throw notWritten(error, what)
    }
  }

  /// Converts an error of the disk for callers.
  func notWritten(_ error: any Error, _ what: String) -> ArchiveError {
    if let error = error as? ArchiveError { return error }
    options.logger.warning("the archive in \(path) could not write \(what): \(error)")
    return ArchiveError(
      .notWritten, "\(what) could not be written (\(error)): free some space, or check the directory.",
      underlying: error)
  }

  /// Runs one transaction; on the queue.
  ///
  /// - Parameter body: A removal or an eviction, which adds few pages to the log. Without it, the transaction also
  ///   writes the counted hits, and evicts entries until the limits are met.
  ///
  /// - Returns: The number of evicted entries.
  @discardableResult
  func write(_ jobs: [Job], _ database: Database, also body: ((Change) throws -> Void)? = nil) throws -> Int {
    let change = Change(database, self)
    let (hits, owed) = state.withLock { state in
      // A hit changes up to two pages.
      let hits = Array(state.hits.prefix(body != nil ? 0 : jobs.isEmpty ? Self.mostHits : 128))
      for hit in hits { state.hits[hit.key] = nil }
      return (hits, Array(state.owed.prefix(body == nil ? Self.mostAtOnce : 4)))
    }
    let seen = try database.transaction {
      let before = try Change.Seen(database)
      adopt(before)
      change.isRemoval = !owed.isEmpty
      for id in owed { try change.delete(id.number) }
      for job in jobs { try job.change(change) }
      try body?(change)
      try change.count(hits)
      if body == nil { try evict(change, before.totals) }
      return try change.finish()
    }
    state.withLock { state in
      for id in change.gone {
        state.tier.drop(id)
        state.latest.remove(id)
      }
      for entry in change.entered where !state.latest.isRemoved(entry.id) {
        state.tier.keep(entry, upTo: options.memory)
        state.latest.grow(entry.id, to: entry.bodyLength)
      }
      for id in change.outdated { state.tier.drop(id, isComplete: false) }
      state.changes += 1
      state.replaced += change.replaced
      state.owed.removeFirst(owed.count)
      state.end(jobs, upTo: options.memory, isFailure: false)
      // Drop the entries in memory: another thread may have adopted a later change before they were added.
      if seen.clock > state.clock { (state.clock, state.stored) = (seen.clock, seen.totals) } else { state.forget() }
    }
    for number in change.files {
      // If the removal fails, the next sync repeats it and throws.
      do { try directory.removeBody(number) } catch { state.withLock { $0.replaced.append(number) } }
    }
    report(change.events)
    // Evicts in batches.
    if !change.events.isEmpty { makeRoom() }
    return change.events.count
  }

  /// Deletes entries until the totals are at the low-water mark.
  private func evict(_ change: Change, _ before: Totals) throws {
    let (limits, reserved, resumed, isEvicting) = state.withLock { ($0.limits, $0.reserved, $0.resumed, $0.isEvicting) }
    var after: StoreUsage {
      var after = before.usage
      after += change.totals.usage
      after.bytes += reserved
      return after
    }
    guard isEvicting || limits.isExceeded(by: after) else { return }
    // More than the jobs add, so that a constant stream of them stays within the limits.
    try change.evict(256, bytes: 3 << 20, besides: resumed) { limits.low.isExceeded(by: after) }
    // Without an eviction, all remaining entries are pinned or in use.
    let goesOn = !change.events.isEmpty && limits.low.isExceeded(by: after)
    state.withLock { $0.isEvicting = goesOn }
  }
}

extension ArchiveError {
  static let writerOvertaken = ArchiveError(
    .notWritten, "entries were removed while this one was being loaded: it is not stored; load it again.")
}
