import Foundation

// A store for reading sees what the writing process adds.
extension DiskStore {
  func refreshBehind() async {
    try? await context.pool.perform { [self] in refresh() }
  }

  /// Reads what the writer's journal has grown by, or all of it when another one has taken its place.
  func refresh() {
    // The writer may compact at any moment: a name that was just listed may be gone.
    for _ in 0..<3 {
      do {
        try follow()
        return
      } catch let error as SystemError where error.isMissing {
        continue
      } catch {
        options.logger.warning("the journal of the archive in \(directory) could not be read: \(error)")
        return
      }
    }
  }

  private func follow() throws {
    let folder = try archive.journal()
    let known = state.withLock { $0.replayed }
    let generation = try files.names(in: folder).compactMap(Journal.generation).max() ?? 0
    guard generation == known.generation else {
      let found = try Opening.read(archive, identity, repairs: false)
      state.withLock { state in
        state.take(found.replay)
        state.replayed = (found.generation, found.records)
      }
      return
    }
    let file = try files.openForReading(Journal.name(generation), in: folder)
    let size = try files.status(of: file).size
    let whole = UInt64(max(0, size / Int64(JournalRecord.size) - Int64(Journal.markRecords)))
    guard whole > known.records else { return }
    let start = (Int64(clamping: known.records) + Int64(Journal.markRecords)) * Int64(JournalRecord.size)
    let bytes = try files.read(Int(whole - known.records) * JournalRecord.size, from: file, at: start)
    let seed = Journal.seed(archive: Opening.seed(identity), generation: generation)
    state.withLock { state in
      // Somebody else was faster.
      guard state.replayed == known else { return }
      var replay = state.replay
      bytes.withUnsafeBytes { replay.add($0, from: known.records, seed: seed) }
      state.take(replay)
      state.replayed.records += UInt64(bytes.count / JournalRecord.size)
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
