/// The records of entries that were looked at lately, so that a hit takes no head apart.
///
/// Two generations: when the young one is full, the old one is forgotten and the young one grows old.
final class RecordCache: Sendable {
  private struct Known {
    let head: [UInt8]
    let record: CacheRecord
  }

  private struct State {
    var young: [EntryID: Known] = [:]
    var old: [EntryID: Known] = [:]
  }

  private let state = Locked(State())
  private let generation: Int

  init(generation: Int = 1024) {
    self.generation = generation
  }

  /// The record in an entry's head; `nil` when it is of another version, or no record.
  func record(of entry: StoredEntry) -> CacheRecord? {
    let known = state.withLock { state in state.young[entry.id] ?? state.old[entry.id] }
    // Identical arrays, which is what a store gives out, compare by reference.
    if let known, known.head == entry.head { return known.record }
    guard let record = CacheRecord(decoding: entry.head) else { return nil }
    keep(record, head: entry.head, of: entry.id)
    return record
  }

  /// Remembers what was just put into an entry's head.
  func keep(_ record: CacheRecord, head: [UInt8], of id: EntryID) {
    state.withLock { state in
      if state.young.count >= generation {
        state.old = state.young
        state.young = [:]
      }
      state.young[id] = Known(head: head, record: record)
    }
  }
}
