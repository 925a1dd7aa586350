import Foundation

extension DiskStore {
  /// Replaces the log by a shorter one when much of it is about what has gone.
  ///
  /// The writer of entries does not wait for the disk meanwhile: a small, full archive does this all the time, and
  /// what waits to be written is what a kill loses.
  func compactIfWorthIt() {
    guard let log, isCompactionWorthIt(log, share: 0.5) else { return }
    attemptCompaction(log) {
      let draft = try draft(of: log)
      state.withLock { $0.compaction.draft = draft.generation }
      syncQueue.async { [self] in
        let outcome = Result { try log.synchronize(draft) }
        enqueue { $0.compact(log, draft, outcome) }
      }
    }
  }

  private func compact(_ log: StoreLog, _ draft: StoreLog.Draft, _ outcome: Result<Void, any Error>) {
    let isWanted = state.withLock { state in
      // The log was written anew meanwhile: this one was given up, and another one may be under way by now.
      guard state.compaction.draft == draft.generation else { return false }
      state.compaction.draft = nil
      return true
    }
    guard isWanted else { return }
    attemptCompaction(log) {
      try outcome.get()
      try log.finish(draft)
      syncQueue.async { [self] in
        guard !isSealed else { return }
        attempt("remove an old log") { _ in try log.removeOthers() }
      }
    }
  }

  /// The same, for a store that is closed: all at once, and sooner, so that the next opening has less to read.
  func compactAtTheEnd() {
    guard let log else { return }
    abandonCompaction(log)
    guard isCompactionWorthIt(log, share: 0.1, isLast: true) else { return }
    attemptCompaction(log) { try rewrite(log) }
  }

  /// Writes the log anew, while writers wait.
  func rewrite(_ log: StoreLog) throws {
    abandonCompaction(log)
    let draft = try draft(of: log)
    try log.synchronize(draft)
    try log.finish(draft)
    try syncQueue.sync { try log.removeOthers() }
  }

  private func abandonCompaction(_ log: StoreLog) {
    log.abandonDraft()
    state.withLock { $0.compaction.draft = nil }
  }

  /// - Parameters:
  ///   - share: How many records in vain there may be for one that counts: what they cost is time when the archive is
  ///     opened.
  ///   - isLast: Whether there is none after it.
  private func isCompactionWorthIt(_ log: StoreLog, share: Double, isLast: Bool = false) -> Bool {
    let records = log.records
    return state.withLock { state in
      // What is kept beside the entries, and files that could not be removed, count as well while they are there: a
      // log that would not be shorter is not worth it, and would be begun again and again.
      let count = isLast ? state.index.count : max(state.index.count, state.compaction.needed)
      return !state.life.isLost && state.compaction.draft == nil && records >= state.compaction.earliest
        && Double(records) > Double(count) * (1 + share) + Double(options.slack)
    }
  }

  private func attemptCompaction(_ log: StoreLog, _ work: () throws -> Void) {
    do {
      try work()
      state.withLock { $0.compaction.earliest = 0 }
    } catch {
      // Never another one's: there is one at a time, and all of this is the work of one thread.
      log.abandonDraft()
      // Not again for every record.
      let records = log.records
      state.withLock { $0.compaction.earliest = records * 2 }
      options.logger.warning("the archive in \(directory) could not shorten its log: \(error)")
    }
  }

  /// A log of what is there, and of what is appended from now on.
  private func draft(of log: StoreLog) throws -> StoreLog.Draft {
    var draft = try log.beginDraft()
    // Only this thread makes entries durable, so what is collected stays true but for removals, and their records come
    // later.
    var durable: [(hash: UInt64, slot: DiskSlot, isVisited: Bool, isSafe: Bool)] = []
    forEachDurable { durable.append(($0, $1, $2, $3)) }
    durable.sort { $0.slot.number < $1.slot.number }
    // What is there as it was before comes before what took its place.
    let (superseded, replaced) = state.withLock { state -> ([LogRecord], [LogRecord]) in
      let held = state.kept.items.filter { id, _ in state.find(id).map { state.index[$0].isDurable } ?? false }
      return (
        state.kept.items.values.joined().map {
          $0.slot.record(low: $0.low, isVisited: false, isSafe: !$0.isEntry || state.kept.isSafe($0.slot))
        },
        held.flatMap { Superseded.records(of: $0.value, replacedBy: $0.key) }
      )
    }
    let partitions = state.withLock { state in
      state.names.partitions.compactMap { digest, number -> LogRecord? in
        state.names.folders[number].map { .partition(number, digest: digest, folder: $0) }
      }
    }
    try log.write(partitions, to: &draft)
    try log.write(superseded, to: &draft)
    var start = 0
    while start < durable.count {
      let end = min(start + 1024, durable.count)
      try log.write(
        durable[start..<end].map { $0.slot.record(low: $0.hash, isVisited: $0.isVisited, isSafe: $0.isSafe) },
        to: &draft)
      start = end
    }
    try log.write(replaced, to: &draft)
    var needed = Int(clamping: draft.records)
    try log.attach(draft) {
      let loose = state.withLock { $0.leftovers.loose.map(\.looseRecord) }
      needed += loose.count
      return loose
    }
    state.withLock { [needed] in $0.compaction.needed = needed }
    return draft
  }
}

// The end of a store: the next store to open the directory finds nothing half done, and nobody who goes on.
extension DiskStore {
  /// Writes pending entries and releases the directory.
  ///
  /// Everything stored before is available when the directory is opened next; to survive a power failure as well, call
  /// ``flush()`` first. An uncommitted body is discarded: its writer fails with `ArchiveError.closed` from now
  /// on, and so does every other call that stores something. Closing several times, even concurrently, is harmless:
  /// each call returns when the directory is released.
  package func close() async {
    let isFirst = state.withLock { state in
      defer { state.life.isClosed = true }
      return !state.life.isClosed
    }
    guard isFirst else { return await wait { $0.life.isReleased } }
    // No piece of a body and no flush is begun any more; those that are under way come to their end.
    await wait { $0.life.writing == 0 }
    // What was to be done before may have left something to do.
    for _ in 0..<2 { try? await perform { _ in } }
    try? await perform { $0.end() }
    free()
  }

  /// Closes a directory that is no longer ours, once nothing of this store works in it: a store that opens the one
  /// that is at the path now, or finds this one elsewhere, need not wait for a close.
  func leave() {
    enqueue { store in
      store.state.withLock { $0.life.isLeft = true }
      store.releaseIfLeft()
    }
  }

  private func releaseIfLeft() {
    guard state.withLock({ $0.life.isLeft && $0.life.writing == 0 }) else { return }
    free()
  }

  private func free() {
    lock?.release()
    state.withLock { state in
      state.life.isReleased = true
      return state.life.closers.takeAll()
    }.wake()
  }

  /// Waits until a directory that was lost is free for others.
  func leaving() async { await wait { $0.life.isReleased || !$0.life.isLost } }

  /// Waits also when the task has been cancelled: the caller relies on it.
  private func wait(until isReached: @escaping @Sendable (State) -> Bool) async {
    await Task { [self] in
      while !state.withLock({ isReached($0) }) { await state.wait(at: \.life.closers) { isReached($0) } }
    }.value
  }

  /// The last thing that the thread of the log does.
  private func end() {
    if !state.withLock({ $0.life.isLost }) {
      clearDrafts()
      passAtTheEnd()
      compactAtTheEnd()
    }
    let end = state.withLock { state in
      state.forgetAll()
      return state.end
    }
    if let end { attempt("note its end") { try $0.log?.append(end) } }
    syncQueue.sync { try? log?.synchronize() }
    seal()
  }

  /// Removes what writers have written and not committed. They may still be read from: their files stay open.
  private func clearDrafts() {
    let (drafts, resumed) = state.withLock { state in
      (
        Array(state.leftovers.drafts),
        state.growing.resumed.compactMap { id in state.slot(id).map { (id, $0) } }
      )
    }
    discard(drafts)
    for (id, slot) in resumed where slot.head != slot.body && slot.bodyOffset == 0 {
      attempt("cut a body") { store in
        guard let folder = store.state.withLock({ $0.names.folders[slot.partition] }) else { return }
        try store.files.truncate(store.archive.openForWriting(slot.bodyFile(id.hash), folder), to: slot.bodyLength)
      }
    }
  }

  /// From now on nothing of this store changes anything in the directory.
  func seal(_ reason: any Error = ArchiveError.closed) {
    log?.seal(reason)
    state.withLock { $0.life.isSealed = true }
  }

  /// Whether the directory may be changed still; asked on the thread of the log, where the sealing happens as well.
  var isSealed: Bool { state.withLock { $0.life.isSealed } }

  /// Does a piece of a writer's work, which a close waits for.
  func writing(_ work: () throws -> Void) throws {
    try state.withLock { state in
      if state.life.isClosed { throw ArchiveError.closed }
      if state.life.isSealed { throw ArchiveError.unusable(directory, SystemError("open", code: ENOENT)) }
      state.life.writing += 1
    }
    defer { endWriting() }
    try work()
  }

  /// Ends what a close waits for, and what keeps a directory that was lost.
  func endWriting() {
    state.withLock { state in
      state.life.writing -= 1
      return state.life.writing == 0 ? state.life.closers.takeAll() : []
    }.wake()
    releaseIfLeft()
  }
}
