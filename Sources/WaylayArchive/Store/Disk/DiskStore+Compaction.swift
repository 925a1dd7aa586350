import Foundation

extension DiskStore {
  /// Replaces the journal by a shorter one when much of it is about what has gone.
  ///
  /// - Parameter share: How many records in vain there may be for one that counts: what they cost is time when the archive is opened.
  func compactIfWorthIt(share: Double = 0.5) {
    guard let journal else { return }
    let records = journal.records
    let isWorthIt = state.withLock { state in
      !state.isLost && Double(records) > Double(state.index.count) * (1 + share) + 1024 && records >= state.compactAt
    }
    guard isWorthIt else { return }
    do {
      try compact(journal)
      state.withLock { $0.compactAt = 0 }
    } catch {
      // Not again for every record.
      state.withLock { $0.compactAt = records * 2 }
      options.logger.warning("the archive in \(directory) could not shorten its journal: \(error)")
    }
  }

  private func compact(_ journal: Journal) throws {
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
    try journal.compact { write in
      try write(partitions)
      var start = 0
      while start < durable.count {
        let end = min(start + 1024, durable.count)
        try write(durable[start..<end].map { $0.slot.record(low: $0.hash, isVisited: $0.isVisited) })
        start = end
      }
    } rest: {
      state.withLock { $0.loose.map(\.looseRecord) }
    }
  }
}
