import Foundation

extension DiskStore {
  /// Replaces the journal by a shorter one when much of it is about what has gone.
  ///
  /// Whoever writes entries does not wait for the medium meanwhile: a small, full archive does this all the time, and
  /// what waits to be written is what a kill loses.
  func compactIfWorthIt() {
    guard let journal, isCompactionWorthIt(journal, share: 0.5) else { return }
    attemptCompaction(journal) {
      let draft = try draft(of: journal)
      state.withLock { $0.compacting = draft.generation }
      medium.async { [self] in
        let outcome = Result { try journal.synchronize(draft) }
        enqueue { $0.compact(journal, draft, outcome) }
      }
    }
  }

  private func compact(_ journal: Journal, _ draft: Journal.Draft, _ outcome: Result<Void, any Error>) {
    let isWanted = state.withLock { state in
      // The journal was written anew meanwhile: this one was given up, and another one may be under way by now.
      guard state.compacting == draft.generation else { return false }
      state.compacting = nil
      return true
    }
    guard isWanted else { return }
    attemptCompaction(journal) {
      try outcome.get()
      try journal.finish(draft)
      medium.async { [self] in
        guard !isSealed else { return }
        attempt("remove an old journal") { _ in try journal.removeOthers() }
      }
    }
  }

  /// The same, for a store that is closed: all at once, and sooner, so that the next opening has less to read.
  func compactAtTheEnd() {
    guard let journal else { return }
    abandonCompaction(journal)
    guard isCompactionWorthIt(journal, share: 0.1, isLast: true) else { return }
    attemptCompaction(journal) { try rewrite(journal) }
  }

  /// Writes the journal anew, while whoever stores waits.
  func rewrite(_ journal: Journal) throws {
    abandonCompaction(journal)
    let draft = try draft(of: journal)
    try journal.synchronize(draft)
    try journal.finish(draft)
    try medium.sync { try journal.removeOthers() }
  }

  private func abandonCompaction(_ journal: Journal) {
    journal.abandonDraft()
    state.withLock { $0.compacting = nil }
  }

  /// - Parameters:
  ///   - share: How many records in vain there may be for one that counts: what they cost is time when the archive is
  ///     opened.
  ///   - isLast: Whether there is none after it.
  private func isCompactionWorthIt(_ journal: Journal, share: Double, isLast: Bool = false) -> Bool {
    let records = journal.records
    return state.withLock { state in
      // What is kept beside the entries, and files that could not be removed, count as well while they are there: a
      // journal that would not be shorter is not worth it, and would be begun again and again.
      let count = isLast ? state.index.count : max(state.index.count, state.needed)
      return !state.isLost && state.compacting == nil && records >= state.compactAt
        && Double(records) > Double(count) * (1 + share) + Double(options.slack)
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
    // Only this thread makes entries durable, so what is collected stays true but for removals, and their records come
    // later.
    var durable: [(hash: UInt64, slot: DiskSlot, isVisited: Bool, isSafe: Bool)] = []
    forEachDurable { durable.append(($0, $1, $2, $3)) }
    durable.sort { $0.slot.number < $1.slot.number }
    // What is there as it was before comes before what took its place.
    let (retired, replaced) = state.withLock { state -> ([JournalRecord], [JournalRecord]) in
      let held = state.retired.filter { id, _ in state.find(id).map { state.index[$0].isDurable } ?? false }
      return (
        state.retired.values.joined().map {
          $0.slot.record(low: $0.low, isVisited: false, isSafe: !$0.isEntry || state.isSafe($0.slot))
        },
        held.flatMap { Retired.records(of: $0.value, replacedBy: $0.key) }
      )
    }
    let partitions = state.withLock { state in
      state.partitions.compactMap { digest, number -> JournalRecord? in
        state.folders[number].map { .partition(number, digest: digest, folder: $0) }
      }
    }
    try journal.write(partitions, to: &draft)
    try journal.write(retired, to: &draft)
    var start = 0
    while start < durable.count {
      let end = min(start + 1024, durable.count)
      try journal.write(
        durable[start..<end].map { $0.slot.record(low: $0.hash, isVisited: $0.isVisited, isSafe: $0.isSafe) },
        to: &draft)
      start = end
    }
    try journal.write(replaced, to: &draft)
    var needed = Int(clamping: draft.records)
    try journal.attach(draft) {
      let loose = state.withLock { $0.loose.map(\.looseRecord) }
      needed += loose.count
      return loose
    }
    state.withLock { [needed] in $0.needed = needed }
    return draft
  }
}
