import Foundation

extension DiskStore {
  /// Visits the entries that match a filter, oldest first; entries stored meanwhile may or may not be included.
  package func visit(_ filter: EntryFilter, _ visitor: @Sendable (StoredEntry) throws -> Bool) async throws {
    if let key = filter.key {
      for entry in try await entries(for: key) where filter.matches(entry) {
        guard try visitor(entry) else { return }
      }
      return
    }
    if log == nil { try await refreshFromLog() }
    try state.withLock { state in
      if state.life.isClosed { throw ArchiveError.closed }
      if state.life.isLost { throw ArchiveError.unusable(directory, SystemError("open", code: ENOENT)) }
    }
    let slots = collect(filter)
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
  package func removeAll(_ filter: EntryFilter) async throws -> Int {
    try state.withLock { try check($0, head: 0, bytes: 0) }
    if filter.isWhole {
      let slots = collect(filter)
      remove(slots.map { EntryID(number: $0.slot.number, hash: $0.hash) })
      try await perform { store in
        // Empty folders of partitions that are gone tell how many there were.
        guard !store.isSealed else { return }
        for number in Set(slots.map(\.slot.partition)) {
          if let folder = store.state.withLock({ $0.names.folders[number] }) {
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
    // Those who read beside this store learn of it from the log.
    try await perform { _ in }
    return ids.count
  }

  private func collect(_ filter: EntryFilter) -> [(hash: UInt64, slot: DiskSlot)] {
    let wanted = filter.partition.map { hash.digest($0.bytes).0 }
    let sieve = EntryMarks.sieve(filter, hash)
    var slots: [(hash: UInt64, slot: DiskSlot)] = []
    var place = 0
    var goesOn = true
    while goesOn {
      goesOn = state.withLock { state in
        guard state.life.isOpen else { return false }
        let number = wanted.map { state.names.partitions[$0] }
        let end = min(place + 256, state.index.places)
        while place < end {
          if let found = state.index.place(place), number == nil || found.payload.partition == number,
            sieve?(found.payload.marks) ?? true
          {
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
        state.slot(id).map { ($0, state.tier.find(id)?.entry) }
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

// A store for reading sees what the writing process adds.
extension DiskStore {
  func refreshFromLog() async throws { try await context.pool.perform { [self] in try refresh() } }

  /// Reads what the writer's log has grown by, or all of it when another one has taken its place.
  ///
  /// - Throws: When it cannot be read: what was read before may have been removed since, and is not given out for it.
  func refresh() throws {
    // One at a time, so that nobody goes back to what an earlier one has read.
    try replayed.withLock { place in
      // The writer may compact at any moment: a name that was just listed may be gone, and names that come and go while
      // they are listed may both be missed.
      for attempt in 1...Self.mostLookUps {
        if state.withLock({ !$0.life.isOpen }) || isGone() { return }
        do {
          if try follow(&place, believing: attempt == Self.mostLookUps) { return }
        } catch let error as SystemError where error.isMissing {
          guard attempt == Self.mostLookUps else { continue }
          // Ours, and without a log.
          if try !hasLog() { return take(Opening.Found(), &place) }
          throw ArchiveError.readFailed("the log", error)
        } catch let error as SystemError {
          throw ArchiveError.readFailed("the log", error)
        }
      }
    }
  }

  private static let mostLookUps = 8

  private func hasLog() throws(SystemError) -> Bool {
    let names: [String]
    do {
      names = try files.names(in: archive.log())
    } catch {
      guard error.isMissing else { throw error }
      return false
    }
    return names.contains { StoreLog.generation($0) != nil }
  }

  /// - Parameter believing: Whether a log that is older than what has been read, or none, is taken for what there
  ///   is.
  /// - Returns: Whether it was.
  private func follow(_ known: inout (generation: UInt64, records: UInt64), believing: Bool) throws -> Bool {
    let folder = try archive.log()
    let generation = try files.names(in: folder).compactMap(StoreLog.generation).max() ?? 0
    guard generation == known.generation else {
      guard generation > known.generation || believing else { return false }
      let found = try Opening.read(archive, identity, repairs: false)
      guard found.file != nil && found.generation > known.generation || believing else { return false }
      take(found, &known)
      return true
    }
    let file = try files.openForReading(StoreLog.name(generation), in: folder)
    let size = try files.status(of: file).size
    let whole = UInt64(max(0, size / Int64(LogRecord.size) - Int64(StoreLog.markRecords)))
    guard whole > known.records else { return true }
    let start = (Int64(clamping: known.records) + Int64(StoreLog.markRecords)) * Int64(LogRecord.size)
    let bytes = try files.read(Int(whole - known.records) * LogRecord.size, from: file, at: start)
    let seed = StoreLog.seed(archive: Opening.seed(identity), generation: generation)
    let begin = known.records
    known.records += state.withLock { state in
      guard state.life.isOpen else { return 0 }
      var replay = state.replay
      bytes.withUnsafeBytes { replay.add($0, from: begin, seed: seed) }
      state.take(replay)
      // What is damaged at the end may only be half written: it is read again.
      return UInt64(bytes.count / LogRecord.size) - UInt64(replay.damagedAtTheEnd)
    }
    return true
  }

  private func take(_ found: Opening.Found, _ known: inout (generation: UInt64, records: UInt64)) {
    let isOpen = state.withLock { state in
      if state.life.isOpen { state.take(found.replay) }
      return state.life.isOpen
    }
    guard isOpen else { return }
    known = (found.generation, found.records - min(found.records, UInt64(found.replay.damagedAtTheEnd)))
  }
}

extension DiskStore.State {
  /// The state as a log's replay goes on from it; to be given back with ``take(_:)-(Replay)``.
  fileprivate var replay: Replay {
    mutating get {
      var replay = Replay()
      swap(&replay.index, &index)
      replay.usage = usage
      (replay.partitions, replay.folders, replay.lastNumber) = (names.partitions, names.folders, names.last)
      return replay
    }
  }

  fileprivate mutating func take(_ replay: Replay) {
    (index, usage) = (replay.index, replay.usage)
    names = DiskStore.Names(replay, last: replay.lastNumber)
    // Heads may have changed.
    tier.removeAll()
  }
}
