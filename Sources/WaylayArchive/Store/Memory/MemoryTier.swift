/// Entries in memory, by the digests of their keys: all of a ``MemoryStore``, or the recently used and pending ones of
/// a ``DiskStore``.
///
/// Eviction is SIEVE (Zhang et al., NSDI 2024): a hit sets a bit; the hand evicts the oldest entry without the bit, and
/// clears the bits that it passes. The digests are keyed, so that URLs cannot be chosen to collide.
struct MemoryTier: @unchecked Sendable {
  // Unchecked: the slots are objects that only this value uses, behind the lock of its owner. It is not copied.

  private final class Slot {
    /// `nil` after it was dropped.
    var entry: StoredEntry?
    /// Whether the entry was found since the hand passed it.
    var isVisited = false

    init(_ entry: StoredEntry) { self.entry = entry }
  }

  /// Whether pinned entries count as held.
  private let holdsPinned: Bool
  /// The slots of each digest, without dropped ones.
  private var slots: [UInt64: [Slot]] = [:]
  /// All slots by age. Dropped slots are removed once they outnumber the slots with an entry.
  private var order: [Slot] = []
  /// The index in `order` of the next candidate for eviction.
  private var hand = 0
  /// The number of pending changes and writers that hold each entry; a held entry is not evicted.
  private var holds: [EntryID: Int] = [:]
  /// The totals of the entries; held entries count as pinned.
  private(set) var totals = Totals()
  /// The digests of which all entries are in memory, including those without entries.
  private var complete: Set<UInt64> = []

  init(holdsPinned: Bool = false) { self.holdsPinned = holdsPinned }

  /// All entries, oldest first.
  var entries: [StoredEntry] { order.compactMap(\.entry).sorted { $0.id.number < $1.id.number } }

  /// All entries of a digest, oldest first; `nil` if not all are in memory.
  mutating func all(_ digest: UInt64) -> [StoredEntry]? { complete.contains(digest) ? visited(digest) : nil }

  /// The entries of a digest that are in memory, oldest first. They count as hit.
  mutating func visited(_ digest: UInt64) -> [StoredEntry] {
    guard let slots = slots[digest] else { return [] }
    for slot in slots {
      slot.isVisited = true
      slot.entry?.hits &+= 1
    }
    return slots.compactMap(\.entry).sorted { $0.id.number < $1.id.number }
  }

  func find(_ id: EntryID) -> StoredEntry? { slot(of: id)?.entry }

  private func slot(of id: EntryID) -> Slot? { slots[id.hash]?.first { $0.entry?.id == id } }

  /// Records that all entries of a digest are in memory; later ones are added as well.
  mutating func complete(_ digest: UInt64) {
    // Digests without entries are not bounded by a limit.
    if complete.count > 2 * totals.usage.count + 4096 { complete = [] }
    complete.insert(digest)
  }

  // MARK: Keeping and dropping

  /// Adds or replaces an entry, unless it exceeds an eighth of the limit and is not held.
  mutating func keep(_ entry: StoredEntry, upTo limit: Int = .max) {
    drop(entry.id)
    guard isHeld(entry) || Self.cost(entry) <= limit / 8 else {
      complete.remove(entry.id.hash)
      return
    }
    if order.count > 2 * totals.usage.count + 64 {
      hand = order[..<hand].count { $0.entry != nil }
      order.removeAll { $0.entry == nil }
    }
    let slot = Slot(entry)
    slots[entry.id.hash, default: []].append(slot)
    order.append(slot)
    totals += total(of: entry)
    while totals.usage.bytes > limit, evict() != nil {}
  }

  /// Keeps an entry at least until the matching calls of ``release(_:upTo:)``.
  mutating func hold(_ entry: StoredEntry, upTo limit: Int = .max) {
    drop(entry.id)
    holds[entry.id, default: 0] += 1
    keep(entry, upTo: limit)
  }

  /// Ends a hold.
  mutating func release(_ id: EntryID, upTo limit: Int = .max) {
    guard let count = holds[id] else { return }
    let entry = find(id)
    drop(id)
    holds[id] = count > 1 ? count - 1 : nil
    if let entry { keep(entry, upTo: limit) }
  }

  private func isHeld(_ entry: StoredEntry) -> Bool { holds[entry.id] != nil || holdsPinned && entry.details.isPinned }

  /// Drops an entry that was removed or has changed.
  mutating func drop(_ id: EntryID, isComplete: Bool = true) {
    if !isComplete { complete.remove(id.hash) }
    if let slot = slot(of: id) { drop(slot) }
  }

  /// Drops the entries that are in the database; pending ones stay.
  mutating func forget() {
    complete = []
    for slot in order where slot.entry.map({ !isHeld($0) }) ?? false { drop(slot) }
  }

  /// Evicts the next entry and returns it; `nil` if all are held.
  mutating func evict() -> StoredEntry? {
    guard totals.pinned.count < totals.usage.count else { return nil }
    // At most two rounds: the first clears the bits.
    while true {
      if hand >= order.count { hand = 0 }
      let slot = order[hand]
      if let entry = slot.entry, !isHeld(entry) {
        guard slot.isVisited else {
          drop(entry.id, isComplete: false)
          return entry
        }
        slot.isVisited = false
      }
      hand += 1
    }
  }

  private mutating func drop(_ slot: Slot) {
    guard let entry = slot.entry else { return }
    slot.entry = nil
    slots[entry.id.hash]?.removeAll { $0 === slot }
    if slots[entry.id.hash]?.isEmpty == true { slots[entry.id.hash] = nil }
    totals -= total(of: entry)
  }

  private func total(of entry: StoredEntry) -> Totals { Totals(cost: Int64(Self.cost(entry)), isPinned: isHeld(entry)) }

  /// The approximate size of an entry: its key, its head, its body in memory or the list of its chunks, and the
  /// structures around them.
  static func cost(_ entry: StoredEntry) -> Int {
    let body = entry.contents.inMemory?.count ?? Int(clamping: entry.bodyLength / 4096)
    return 256 + entry.key.bytes.count + entry.head.count + body
  }
}
