import Foundation

extension DiskStore {
  /// Replaces the journal by a shorter one when much of it is about what has gone.
  ///
  /// Whoever writes entries does not wait for the medium meanwhile: a small, full archive does this all the time, and what waits to be
  /// written is what a kill loses.
  func compactIfWorthIt() {
    guard let journal, isCompactionWorthIt(journal, share: 0.5) else { return }
    attemptCompaction(journal) {
      let draft = try draft(of: journal)
      state.withLock { $0.isCompacting = true }
      medium.async { [self] in
        let outcome = Result { try journal.synchronize(draft) }
        enqueue { store in
          store.attemptCompaction(journal) {
            store.state.withLock { $0.isCompacting = false }
            try outcome.get()
            try store.finish(draft, of: journal)
          }
        }
      }
    }
  }

  /// The same, for a store that is closed: all at once, and sooner, so that the next opening has less to read.
  func compactAtTheEnd() {
    guard let journal else { return }
    journal.abandonDraft()
    state.withLock { $0.isCompacting = false }
    guard isCompactionWorthIt(journal, share: 0.1) else { return }
    attemptCompaction(journal) {
      let draft = try draft(of: journal)
      try journal.synchronize(draft)
      try finish(draft, of: journal)
    }
  }

  /// - Parameter share: How many records in vain there may be for one that counts: what they cost is time when the archive is opened.
  private func isCompactionWorthIt(_ journal: Journal, share: Double) -> Bool {
    let records = journal.records
    return state.withLock { state in
      !state.isLost && !state.isCompacting && Double(records) > Double(state.index.count) * (1 + share) + 1024
        && records >= state.compactAt
    }
  }

  private func attemptCompaction(_ journal: Journal, _ work: () throws -> Void) {
    do {
      try work()
      state.withLock { $0.compactAt = 0 }
    } catch {
      // Never another one's: there is one at a time, and all of this is the work of one thread.
      journal.abandonDraft()
      // Not again for every record.
      let records = journal.records
      state.withLock { $0.compactAt = records * 2 }
      options.logger.warning("the archive in \(directory) could not shorten its journal: \(error)")
    }
  }

  /// A journal of what is there, and of what is appended from now on.
  private func draft(of journal: Journal) throws -> Journal.Draft {
    var draft = try journal.beginDraft()
    // Only this thread makes entries durable, so what is collected stays true but for removals, and their records come later.
    var durable: [(hash: UInt64, slot: DiskSlot, isVisited: Bool)] = []
    var place = 0
    var goesOn = true
    while goesOn {
      goesOn = state.withLock { state in
        let end = min(place + 256, state.index.places)
        while place < end {
          if let found = state.index.place(place), found.payload.isDurable {
            durable.append((found.hash, found.payload, found.isVisited))
          }
          place += 1
        }
        return place < state.index.places
      }
    }
    durable.sort { $0.slot.number < $1.slot.number }
    let partitions = state.withLock { state in
      state.partitions.compactMap { digest, number -> JournalRecord? in
        state.folders[number].map { .partition(number, digest: digest, folder: $0) }
      }
    }
    try journal.write(partitions, to: &draft)
    var start = 0
    while start < durable.count {
      let end = min(start + 1024, durable.count)
      try journal.write(durable[start..<end].map { $0.slot.record(low: $0.hash, isVisited: $0.isVisited) }, to: &draft)
      start = end
    }
    return draft
  }

  private func finish(_ draft: Journal.Draft, of journal: Journal) throws {
    try journal.finish(draft) { state.withLock { $0.loose.map(\.looseRecord) } }
  }
}
