import Foundation

extension DiskStore {
  /// Visits the entries that match a filter, oldest first; entries stored meanwhile may or may not be included.
  public func visit(_ filter: EntryFilter, _ visitor: @Sendable (StoredEntry) throws -> Bool) async throws {
    if let key = filter.key {
      for entry in try await entries(for: key) where filter.matches(entry) {
        guard try visitor(entry) else { return }
      }
      return
    }
    if journal == nil { try await refreshFromJournal() }
    let slots = collect(filter.partition)
    var start = 0
    while start < slots.count {
      let portion = slots[start..<min(start + 64, slots.count)]
      start += 64
      for entry in try await context.pool.perform({ [self] in portion.compactMap { current($0.slot, $0.hash) } })
      where filter.matches(entry) {
        guard try visitor(entry) else { return }
      }
    }
  }

  /// Removes the entries that match a filter.
  @discardableResult
  public func removeAll(_ filter: EntryFilter) async throws -> Int {
    try state.withLock { try check($0, head: 0, bytes: 0) }
    if filter.isWhole {
      let slots = collect(filter.partition)
      remove(slots.map { EntryID(number: $0.slot.number, hash: $0.hash) })
      try await perform { store in
        // Empty folders of partitions that are gone tell how many there were.
        guard !store.isSealed else { return }
        for number in Set(slots.map(\.slot.partition)) {
          if let folder = store.state.withLock({ $0.folders[number] }) {
            store.archive.removePartition(folder)
          }
        }
      }
      return slots.count
    }
    let doomed = Locked<[EntryID]>([])
    try await visit(filter) { entry in
      doomed.withLock { $0.append(entry.id) }
      return true
    }
    let ids = doomed.withLock { $0 }
    remove(ids)
    // Those who read beside this store learn of it from the journal.
    try await perform { _ in }
    return ids.count
  }

  private func collect(_ partition: ArchivePartition?) -> [(hash: UInt64, slot: DiskSlot)] {
    let wanted = partition.map { hash.digest($0.bytes).0 }
    var slots: [(hash: UInt64, slot: DiskSlot)] = []
    var place = 0
    var goesOn = true
    while goesOn {
      goesOn = state.withLock { state in
        if state.isClosed || state.isLost { return false }
        let number = wanted.map { state.partitions[$0] }
        let end = min(place + 256, state.index.places)
        while place < end {
          if let found = state.index.place(place), number == nil || found.payload.partition == number {
            slots.append((found.hash, found.payload))
          }
          place += 1
        }
        return place < state.index.places
      }
    }
    return slots.sorted { $0.slot.number < $1.slot.number }
  }

  /// An entry as it is now, from memory or from the disk.
  private func current(_ slot: DiskSlot, _ low: UInt64) -> StoredEntry? {
    let id = EntryID(number: slot.number, hash: low)
    for _ in 0..<8 {
      let now = state.withLock { state in
        state.find(id).map { (state.index[$0], state.tier.first(low) { $0.id == id }.map { state.tier[$0] }) }
      }
      guard let (slot, kept) = now else { return nil }
      if let kept { return kept }
      do {
        return try load(slot, (low, slot.high))
      } catch {
        if handle(error, slot, low) { return nil }
      }
    }
    return nil
  }
}
