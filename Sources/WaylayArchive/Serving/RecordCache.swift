/// The records of entries that were looked at lately, so that a hit takes no head apart.
///
/// Two generations: when the young one is full, by entries or by bytes, the old one is forgotten and the young one
/// grows old. A head is as large as a server makes it, so their number alone bounds nothing.
final class RecordCache: Sendable {
  private struct Known {
    let head: [UInt8]
    let record: CacheRecord

    /// What it takes, roughly: the head, and the fields of the record that was made of it.
    static func cost(of head: [UInt8]) -> Int { head.count * 3 + 512 }
  }

  private struct State {
    var young: [EntryID: Known] = [:]
    var old: [EntryID: Known] = [:]
    /// The bytes of the young generation.
    var bytes = 0
    var oldBytes = 0
  }

  private let state = Locked(State())
  private let generation: Int
  private let generationBytes: Int

  /// - Parameters:
  ///   - generation: The entries of one generation.
  ///   - bytes: The bytes of one generation.
  init(generation: Int = 1024, bytes: Int = 2 << 20) {
    self.generation = generation
    generationBytes = bytes
  }

  /// The bytes that are held, roughly.
  var bytes: Int { state.withLock { $0.bytes + $0.oldBytes } }

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
    let cost = Known.cost(of: head)
    // What would push everything else out is read again each time.
    guard cost <= generationBytes / 4 else { return }
    state.withLock { state in
      if state.young.count >= generation || state.bytes + cost > generationBytes {
        (state.old, state.oldBytes) = (state.young, state.bytes)
        (state.young, state.bytes) = ([:], 0)
      }
      if let before = state.young.updateValue(Known(head: head, record: record), forKey: id) {
        state.bytes -= Known.cost(of: before.head)
      }
      state.bytes += cost
    }
  }
}
