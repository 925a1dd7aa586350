import Foundation

// A store for reading sees what the writing process adds.
extension DiskStore {
  func refreshFromJournal() async throws {
    try await context.pool.perform { [self] in try refresh() }
  }

  /// Reads what the writer's journal has grown by, or all of it when another one has taken its place.
  ///
  /// - Throws: When it cannot be read: what was read before may have been removed since, and is not given out for it.
  func refresh() throws {
    // One at a time, so that nobody goes back to what an earlier one has read.
    try following.withLock { _ in
      // The writer may compact at any moment: a name that was just listed may be gone, and names that come and go while
      // they are listed may both be missed.
      for attempt in 1...Self.mostLookUps {
        if state.withLock({ !$0.isFollowing }) || isGone() { return }
        do {
          if try follow(believing: attempt == Self.mostLookUps) { return }
        } catch let error as SystemError where error.isMissing {
          guard attempt == Self.mostLookUps else { continue }
          // Ours, and without a journal.
          if try !hasJournal() { return take(Opening.Found()) }
          throw ArchiveError.readFailed("the journal", error)
        } catch let error as SystemError {
          throw ArchiveError.readFailed("the journal", error)
        }
      }
    }
  }

  private static let mostLookUps = 8

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

  /// - Parameter believing: Whether a journal that is older than what has been read, or none, is taken for what there
  ///   is.
  /// - Returns: Whether it was.
  private func follow(believing: Bool) throws -> Bool {
    let folder = try archive.journal()
    let known = state.withLock { $0.replayed }
    let generation = try files.names(in: folder).compactMap(Journal.generation).max() ?? 0
    guard generation == known.generation else {
      guard generation > known.generation || believing else { return false }
      let found = try Opening.read(archive, identity, repairs: false)
      guard found.file != nil && found.generation > known.generation || believing else { return false }
      take(found)
      return true
    }
    let file = try files.openForReading(Journal.name(generation), in: folder)
    let size = try files.status(of: file).size
    let whole = UInt64(max(0, size / Int64(JournalRecord.size) - Int64(Journal.markRecords)))
    guard whole > known.records else { return true }
    let start = (Int64(clamping: known.records) + Int64(Journal.markRecords)) * Int64(JournalRecord.size)
    let bytes = try files.read(Int(whole - known.records) * JournalRecord.size, from: file, at: start)
    let seed = Journal.seed(archive: Opening.seed(identity), generation: generation)
    state.withLock { state in
      guard state.isFollowing else { return }
      var replay = state.replay
      bytes.withUnsafeBytes { replay.add($0, from: known.records, seed: seed) }
      state.take(replay)
      // What is damaged at the end may only be half written: it is read again.
      state.replayed.records += UInt64(bytes.count / JournalRecord.size) - UInt64(replay.damagedAtTheEnd)
    }
    return true
  }

  private func take(_ found: Opening.Found) {
    state.withLock { state in
      guard state.isFollowing else { return }
      state.take(found.replay)
      state.replayed = (found.generation, found.records - min(found.records, UInt64(found.replay.damagedAtTheEnd)))
    }
  }
}

extension DiskStore.State {
  /// Whether a reader is still to learn of anything: one that was closed, or lost its directory, has nothing.
  fileprivate var isFollowing: Bool { !isClosed && !isLost }

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
