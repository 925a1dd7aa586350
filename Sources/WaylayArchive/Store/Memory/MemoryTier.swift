/// Entries in memory, by the digests of their keys: all of a ``MemoryStore``, or those of a ``DiskStore`` that were asked
/// for lately and those that are still to be written.
///
/// Eviction is SIEVE (Zhang et al., NSDI 2024): a hit sets one bit, and the hand takes the oldest entry without it,
/// clearing the bits that it passes. The digests are keyed, so that URLs cannot be chosen to collide.
struct MemoryTier: @unchecked Sendable {
  // Unchecked: its slots are objects, which are used by this value alone, behind its owner's lock. It is not copied.

  private final class Slot {
    /// `nil` once it was dropped.
    var entry: StoredEntry?
    /// Whether the entry was found since the hand passed it.
    var isVisited = false

    init(_ entry: StoredEntry) { self.entry = entry }
  }

  /// Whether pinned entries are held.
  private let holdsPinned: Bool
  /// The slots of each digest; none of them is dropped.
  private var slots: [UInt64: [Slot]] = [:]
  /// All slots in the order of their arrival; those that were dropped, too, until they are more than the others.
  private var order: [Slot] = []
  /// The place in the order that eviction looks at next.
  private var hand = 0
  /// How many pending changes and writers hold an entry: as long as there are any, it is not evicted.
  private var holds: [EntryID: Int] = [:]
  /// What the entries add up to. Pinned are those that are held.
  private(set) var totals = Totals()
  /// The digests of which every entry is here; also those that have none.
  private var complete: Set<UInt64> = []

  init(holdsPinned: Bool = false) { self.holdsPinned = holdsPinned }

  /// All entries, oldest first.
  var entries: [StoredEntry] { order.compactMap(\.entry).sorted { $0.id.number < $1.id.number } }

  /// All entries of a digest, oldest first; `nil` where there may be others.
  mutating func all(_ digest: UInt64) -> [StoredEntry]? { complete.contains(digest) ? visited(digest) : nil }

  /// The entries of a digest that are here, oldest first. They count as found.
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

  /// Notes that every entry of a digest is here now, or will not be stored without being here.
  mutating func complete(_ digest: UInt64) {
    // Those without entries are not bounded by a limit.
    if complete.count > 2 * totals.usage.count + 4096 { complete = [] }
    complete.insert(digest)
  }

  // MARK: Keeping and dropping

  /// Keeps an entry in the place of what was kept of it before, unless it takes more than an eighth of the limit and is
  /// not held.
  mutating func keep(_ entry: StoredEntry, upTo limit: Int = .max) {
    drop(entry.id)
    guard isHeld(entry) || Self.cost(entry) <= limit / 8 else {
      complete.remove(entry.id.hash)
      return
    }
    if order.count > 2 * totals.usage.count + 64 { forgetDropped() }
    let slot = Slot(entry)
    slots[entry.id.hash, default: []].append(slot)
    order.append(slot)
    totals += total(of: entry)
    while totals.usage.bytes > limit, evict() != nil {}
  }

  /// Keeps an entry until as many calls of ``release(_:upTo:)``.
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

  /// Drops an entry that is stored no more, or that the database has otherwise.
  mutating func drop(_ id: EntryID, isComplete: Bool = true) {
    if !isComplete { complete.remove(id.hash) }
    if let slot = slot(of: id) { drop(slot) }
  }

  /// Drops the entries that are known from the database, and keeps those that it does not have yet.
  mutating func forget() {
    complete = []
    for slot in order where slot.entry.map({ !isHeld($0) }) ?? false { drop(slot) }
  }

  /// Drops the entry that is least worth keeping, and returns it; `nil` when all are held.
  mutating func evict() -> StoredEntry? {
    guard totals.pinned.count < totals.usage.count else { return nil }
    // Twice round at most: the first time clears the bits.
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

  private mutating func forgetDropped() {
    hand = order[..<hand].count { $0.entry != nil }
    order.removeAll { $0.entry == nil }
  }

  private func total(of entry: StoredEntry) -> Totals { Totals(cost: Int64(Self.cost(entry)), isPinned: isHeld(entry)) }

  /// The bytes that an entry takes, roughly: its key and its head, of its body what is in memory, or else the places of
  /// its chunks, and the structures around them.
  static func cost(_ entry: StoredEntry) -> Int {
    let body = entry.contents.inMemory?.count ?? Int(clamping: entry.bodyLength / 4096)
    return 256 + entry.key.bytes.count + entry.head.count + body
  }
}
