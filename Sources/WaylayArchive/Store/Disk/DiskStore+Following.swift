import Foundation

// A store for reading sees what the writing process adds.
extension DiskStore {
  func refreshBehind() async throws {
    try await context.pool.perform { [self] in try refresh() }
  }

  /// Reads what the writer's journal has grown by, or all of it when another one has taken its place.
  ///
  /// - Throws: When it cannot be read: what was read before may have been removed since, and is not given out for it.
  func refresh() throws {
    // One at a time, so that nobody goes back to what an earlier one has read.
    try following.withLock { _ in
      // The writer may compact at any moment: a name that was just listed may be gone.
      for attempt in 1...3 {
        if state.withLock({ $0.isClosed || $0.isLost }) || isGone() { return }
        do {
          return try follow()
        } catch let error as SystemError where error.isMissing {
          guard attempt == 3 else { continue }
          // Ours, and without a journal.
          if try !hasJournal() { return take(Opening.Found()) }
          throw ArchiveError.readFailed("the journal", error)
        } catch let error as SystemError {
          throw ArchiveError.readFailed("the journal", error)
        }
      }
    }
  }

  private func hasJournal() throws(SystemError) -> Bool {
    let names: [String]
    do {
      names = try files.names(in: archive.journal())
    } catch {
      guard error.isMissing else { throw error }
      return false
    }
    return names.contains { Journal.generation($0) != nil }
  }

  private func follow() throws {
    let folder = try archive.journal()
    let known = state.withLock { $0.replayed }
    let generation = try files.names(in: folder).compactMap(Journal.generation).max() ?? 0
    guard generation == known.generation else {
      return take(try Opening.read(archive, identity, repairs: false))
    }
    let file = try files.openForReading(Journal.name(generation), in: folder)
    let size = try files.status(of: file).size
    let whole = UInt64(max(0, size / Int64(JournalRecord.size) - Int64(Journal.markRecords)))
    guard whole > known.records else { return }
    let start = (Int64(clamping: known.records) + Int64(Journal.markRecords)) * Int64(JournalRecord.size)
    let bytes = try files.read(Int(whole - known.records) * JournalRecord.size, from: file, at: start)
    let seed = Journal.seed(archive: Opening.seed(identity), generation: generation)
    state.withLock { state in
      var replay = state.replay
      bytes.withUnsafeBytes { replay.add($0, from: known.records, seed: seed) }
      state.take(replay)
      // What is damaged at the end may only be half written: it is read again.
      state.replayed.records += UInt64(bytes.count / JournalRecord.size) - UInt64(replay.damagedAtTheEnd)
    }
  }

  private func take(_ found: Opening.Found) {
    state.withLock { state in
      state.take(found.replay)
      state.replayed = (found.generation, found.records - min(found.records, UInt64(found.replay.damagedAtTheEnd)))
    }
  }
}

extension DiskStore.State {
  /// The state as a journal's replay goes on from it; to be given back with ``take(_:)-(Replay)``.
  fileprivate var replay: Replay {
    mutating get {
      var replay = Replay()
      swap(&replay.index, &index)
      replay.usage = usage
      replay.partitions = partitions
      replay.folders = folders
      replay.lastNumber = lastNumber
      return replay
    }
  }

  fileprivate mutating func take(_ replay: Replay) {
    index = replay.index
    usage = replay.usage
    partitions = replay.partitions
    folders = replay.folders
    lastNumber = replay.lastNumber
    // Heads may have changed.
    tier.removeAll()
    tierBytes = 0
  }
}
