import Foundation

/// A way to the disk: which files, and what may go when they are there.
struct SyncBatch: Sendable {
  /// All entries up to this number are to be in it; zero when only those are that took the place of another.
  let begun: UInt64
  /// All entries up to this number are in it.
  var last: UInt64
  var slots: [(low: UInt64, slot: DiskSlot)] = []
  var superseded: [(id: EntryID, head: UInt64, items: [Superseded])] = []
  /// Why some of it is not there.
  var failure: (any Error)?

  init(last: UInt64) {
    begun = last
    self.last = last
  }
}

// How what is stored gets to the disk, in this order: the files of entries, their names, the log. What they took
// the place of goes last, so that a loss of power at any moment leaves one or the other of what was once flushed.
extension DiskStore {
  /// Waits until everything stored so far is on the disk: it survives a power failure, until it is replaced or
  /// removed.
  ///
  /// The call takes some tenths of a millisecond for each file written since the last call, so use it at the end of an
  /// operation, not for each entry. Without it, a killed process loses less than a second's worth of entries, and a
  /// power failure loses what the system has not written by itself, usually some tens of seconds' worth; in either case
  /// no entry is left inconsistent.
  ///
  /// - Throws: `ArchiveError.notWritten` if the disk did not accept the data, until a later call succeeds, and once if
  ///   an entry or a head that was accepted could not be written since the last call.
  ///   `ArchiveError.directoryUnusable` if the directory is gone, or now belongs to another archive.
  package func flush() async throws {
    var failure: (any Error)?
    do {
      try await flushNow()
    } catch {
      // A store that opens the new directory finds it free.
      await leaving()
      failure = error
    }
    // The caller has been told of this, too.
    let givenUp = state.withLock { state in
      defer { state.reports.givenUp = nil }
      return state.reports.givenUp
    }
    if let failure = failure ?? givenUp.map(Self.notFlushed) { throw failure }
  }

  private func flushNow() async throws {
    guard log != nil else { return }
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      let isOpen = state.withLock { state in
        guard !state.life.isClosed else { return false }
        // A close waits for it.
        state.life.writing += 1
        // What has a number by now is written by the jobs before this one.
        let last = state.names.last
        state.work.add { store in
          store.sync(upTo: last) { outcome in
            store.endWriting()
            continuation.resume(with: outcome.mapError(Self.notFlushed))
          }
        }
        return true
      }
      if isOpen { work() } else { continuation.resume(throwing: ArchiveError.closed) }
    }
  }

  /// Waits until nothing goes on behind the callers, so that a test that counts calls to the system counts the same
  /// each time.
  ///
  /// Says `false` when that does not come to an end.
  package func settle() async -> Bool {
    for _ in 0..<1000 {
      await context.pool.settle()
      try? await perform { _ in }
      await withCheckedContinuation { continuation in syncQueue.async { continuation.resume() } }
      if state.withLock({ !$0.work.isRunning && $0.work.jobs.isEmpty && $0.compaction.draft == nil }) { return true }
    }
    return false
  }

  private static func notFlushed(_ error: any Error) -> any Error {
    error is ArchiveError
      ? error
      : ArchiveError(
        .notWritten,
        "stored entries could not be flushed to the disk (\(error)) and may not survive a loss of power. Try again.",
        underlying: error)
  }

  /// Syncs what took the place of something else to the disk, for what is under way can be lost and what was flushed
  /// cannot.
  func syncSuperseded() {
    sync(upTo: 0) { [self] outcome in
      guard case .failure(let error) = outcome else { return state.withLock { $0.kept.retry.seconds = 0 } }
      // Not every second while the store is in use, and not at all while it is not: a flush or a close asks
      // again.
      state.withLock { state in
        let seconds = min(max(1, state.kept.retry.seconds * 2), 256)
        state.kept.retry = (seconds, .now + .seconds(seconds))
      }
      options.logger.warning("the archive in \(directory) could not flush its entries to the disk: \(error)")
    }
  }

  /// Syncs entries to the disk; begun on the thread of the log, which waits for nothing.
  private func sync(upTo last: UInt64, _ done: @escaping @Sendable (Result<Void, any Error>) -> Void) {
    let batch: SyncBatch
    do {
      batch = try begin(upTo: last)
    } catch {
      return done(.failure(error))
    }
    syncQueue.async { [self] in
      let synced = sync(batch)
      enqueue { store in
        let outcome = Result { try store.note(synced) }
        store.syncQueue.async {
          let outcome = Result {
            try outcome.get()
            try store.log?.synchronize()
          }
          store.enqueue { store in
            if case .success = outcome { store.settle(synced) }
            store.end(synced)
            done(
              Result {
                try outcome.get()
                if let failure = synced.failure { throw failure }
              })
          }
        }
      }
    }
  }

  /// The same as for what is superseded, while the store is closed.
  func passAtTheEnd() {
    guard log != nil, state.withLock({ !$0.kept.items.isEmpty && !$0.life.isLost }) else { return }
    attempt("flush its entries to the disk") { store in
      let batch = try store.begin(upTo: 0)
      let synced = store.syncQueue.sync { store.sync(batch) }
      try store.note(synced)
      try store.syncQueue.sync { try store.log?.synchronize() }
      store.settle(synced)
      if let failure = synced.failure { throw failure }
    }
  }

  private func begin(upTo last: UInt64) throws -> SyncBatch {
    if isGone() { throw ArchiveError.unusable(directory, SystemError("open", code: ENOENT)) }
    // A pass that was asked for before a close, and comes after it.
    if isSealed { throw ArchiveError.closed }
    if let log, log.isBroken { try rewrite(log) }
    var batch = SyncBatch(last: last)
    let isAll = state.withLock { state in
      for (id, items) in state.kept.items {
        guard let handle = state.find(id), state.index[handle].isDurable else { continue }
        let slot = state.index[handle]
        batch.superseded.append((id, slot.head, items))
        if last == 0, !state.kept.isSafe(slot) { batch.slots.append((id.hash, slot)) }
      }
      guard last > 0 else { return false }
      // What is replaced before it is there would otherwise be gone although it was to be there.
      state.kept.syncing = (state.kept.syncing.count + 1, state.names.last)
      return state.kept.safe < state.names.last
    }
    guard isAll else { return batch }
    forEachDurable { low, slot, _, isSafe in
      if !isSafe { batch.slots.append((low, slot)) }
    }
    return batch
  }

  private func end(_ batch: SyncBatch) {
    guard batch.begun > 0 else { return }
    state.withLock { state in
      state.kept.syncing.count -= 1
      if state.kept.syncing.count == 0 { state.kept.syncing.last = 0 }
    }
  }

  /// Shows all entries that the log has, a few at a time, so that nobody waits for the lock.
  func forEachDurable(_ body: (_ low: UInt64, _ slot: DiskSlot, _ isVisited: Bool, _ isSafe: Bool) -> Void) {
    var place = 0
    var goesOn = true
    while goesOn {
      goesOn = state.withLock { state in
        let end = min(place + 256, state.index.places)
        while place < end {
          if let found = state.index.place(place), found.payload.isDurable {
            body(found.hash, found.payload, found.isVisited, state.kept.isSafe(found.payload))
          }
          place += 1
        }
        return place < state.index.places
      }
    }
  }

  /// Syncs files and their names to the disk, where it is waited for, and says what of it is there.
  private func sync(_ batch: SyncBatch) -> SyncBatch {
    let folders = state.withLock { $0.names.folders }
    var synced = batch
    var refused: Set<EntryFile> = []
    var unsettled: Set<UInt32> = []
    func attempt(_ work: () throws -> Void) -> Bool {
      do {
        try work()
        return true
      } catch {
        synced.failure = synced.failure ?? error
        return false
      }
    }
    for (low, slot) in batch.slots {
      guard let folder = folders[slot.partition] else { continue }
      for file in slot.files(low)
      where !attempt({ try synchronize(file, folder, of: slot, low) }) { refused.insert(file) }
    }
    for number in Set(batch.slots.map(\.slot.partition)).sorted() {
      guard let folder = folders[number] else { continue }
      if !attempt({ try archive.synchronize(partition: folder) }) { unsettled.insert(number) }
    }
    let isRooted = attempt { try archive.synchronize() }
    guard synced.failure != nil else { return synced }
    // What the disk has taken is settled all the same: else nothing ever is where one of many fails each time.
    synced.last = 0
    var lost: Set<UInt64> = []
    synced.slots.removeAll { low, slot in
      let isThere = isRooted && !unsettled.contains(slot.partition) && refused.isDisjoint(with: slot.files(low))
      if !isThere { lost.insert(slot.head) }
      return !isThere
    }
    synced.superseded.removeAll { lost.contains($0.head) }
    return synced
  }

  private func synchronize(_ file: EntryFile, _ folder: String, of slot: DiskSlot, _ low: UInt64) throws {
    do {
      guard state.withLock({ $0.leftovers.refused.contains(file) }) else {
        let open = try archive.openForReading(file, folder)
        do {
          try files.synchronize(open)
        } catch {
          state.withLock { _ = $0.leftovers.refused.insert(file) }
          throw error
        }
        return
      }
      // The disk has refused it once, and is not asked for it again unless it is written again: as it is now, if it
      // is still right.
      try verify(slot, low)
      let open = try archive.openForWriting(file, folder)
      let size = try files.status(of: open).size
      var offset: Int64 = 0
      while offset < size {
        let bytes = try files.read(Int(min(size - offset, 1 << 20)), from: open, at: offset)
        guard !bytes.isEmpty else { throw SystemError("read", code: EIO) }
        try files.write(bytes, to: open, at: offset)
        offset += Int64(bytes.count)
      }
      try files.synchronize(open)
      state.withLock { _ = $0.leftovers.refused.remove(file) }
    } catch {
      if isOutdated(slot, low) { return }
      if let error = error as? SystemError, error.isMissing {
        guard try archive.isMissing(file, folder) else { throw error }
        // Lost before it was ever there: it is dropped, and stored no more.
        if handle(Damage(reason: "its file is gone", isMissing: true), slot, low) { return }
      } else if error is Damage || (error as? ArchiveError)?.code == .unreadable {
        _ = handle(error as? Damage ?? Damage(reason: "its body differs from the one that was stored"), slot, low)
      }
      throw error
    }
  }

  /// Whether an entry is another by now, or none, and not kept as it was either.
  private func isOutdated(_ slot: DiskSlot, _ low: UInt64) -> Bool {
    state.withLock { state in
      if let handle = state.find(EntryID(number: slot.number, hash: low)), state.index[handle].head == slot.head {
        return false
      }
      return !state.kept.items.values.contains {
        $0.contains { $0.slot.number == slot.number && $0.slot.head == slot.head }
      }
    }
  }

  /// Reads an entry, all of it, and throws unless it is what was stored.
  func verify(_ slot: DiskSlot, _ low: UInt64) throws {
    guard let entry = try load(slot, (low, slot.high)), let body = entry.contents as? DiskBody, body.inMemory == nil
    else { return }
    var start: Int64 = 0
    while start < body.length {
      let end = min(start + Int64(StoredChunks.size), body.length)
      _ = try body.readNow(start..<end)
      start = end
    }
  }

  /// Says in the log what the disk has.
  private func note(_ batch: SyncBatch) throws {
    let records = state.withLock { state -> [LogRecord] in
      var records: [LogRecord] = []
      var holders: Set<EntryID> = []
      for (low, slot) in batch.slots {
        let id = EntryID(number: slot.number, hash: low)
        if let handle = state.find(id), state.index[handle].head == slot.head {
          guard slot.head > batch.last, state.index[handle].bodyLength == slot.bodyLength else { continue }
          state.index[handle].isSafe = true
          records.append(state.index[handle].record(low: low, isVisited: state.index.isVisited(handle), isSafe: true))
        } else if let holder = state.kept.mark(slot, of: id) {
          holders.insert(holder)
        }
      }
      if batch.last > state.kept.safe {
        state.kept.safe = batch.last
        // Nothing new: what is there is known to be safe, and a full disk need not take a record of it.
        if batch.slots.isEmpty { return records }
        var record = LogRecord(.synced)
        record.number = batch.last
        records.append(record)
      }
      // What has been replaced meanwhile is there still: it is told again, in its order.
      for holder in holders { records += state.records(with: holder) }
      return records
    }
    guard !records.isEmpty else { return }
    do {
      try log?.append(records)
    } catch {
      // What is relied on from now on is not in it.
      log?.setBroken()
      throw error
    }
  }

  /// Removes what has been superseded on the disk.
  private func settle(_ batch: SyncBatch) {
    for (id, head, items) in batch.superseded {
      let rest = state.withLock { state -> [Superseded]? in
        // Of one that has changed since, what the disk has is still needed; but not when what it has now is kept in
        // its turn.
        let isCurrent = state.find(id).map { state.index[$0].head == head } ?? false
        let holder = isCurrent ? id : state.kept.holder(of: id.number, head)
        guard let holder, let known = state.kept.items[holder] else { return nil }
        let gone = Set(items.map(\.slot.head))
        let rest = known.filter { !gone.contains($0.slot.head) }
        state.kept.items[holder] = rest.isEmpty ? nil : rest
        return rest
      }
      if let rest { removeSuperseded(items, rest: rest) }
    }
  }
}
