extension DiskStore {
  /// A change that waits to be written.
  struct Job: Sendable {
    var change: @Sendable (Change) throws -> Void = { _ in }
    /// Counted in ``State/waiting`` until it is written.
    var totals = Totals()
    /// The entry that stays in memory until then.
    var held: EntryID?
    /// The entries that it has taken out of sight: when it fails, the next transaction deletes them.
    var removing: [EntryID] = []
    /// Called without a lock.
    var ended: @Sendable (Result<Void, any Error>) -> Void = { _ in }
  }

  /// The contents of memory beside the index, and the changes that wait: all behind one lock, which no call to the disk
  /// is made under.
  struct State: Sendable {
    enum Life { case open, closed, lost }

    /// Leaves `open` once, and for good: then nothing is found or stored.
    var life = Life.open
    var limits: StoreLimits
    /// The last number that was given to an entry; none is given twice. Its upper half is the number of the opening.
    var lastNumber: UInt64

    // The usage. `stored` is as of the change `clock`, the last one that a look or a transaction has seen.
    var clock: Int64
    var stored: Totals
    /// The sum of the jobs' totals, in the queue and in the transaction under way.
    var waiting = Totals()
    /// The bytes of writers that are in no job and no entry.
    var reserved: Int64 = 0

    /// Has each entry as the index will have it once all jobs are written; no new one before, and none that `latest` has as
    /// removed.
    var tier = MemoryTier()
    /// Counts the changes; a read that saw it change does not enter its result in `tier`.
    var changes: UInt64 = 0
    /// The changes of this store that a holder of an older entry may not know.
    var latest = Latest()
    /// The entries that a writer of this store appends to: at most one each, and eviction passes them over.
    var resumed: Set<UInt64> = []
    /// The hits that the index does not have; at most ``DiskStore/mostHits`` entries. Lost with a transaction that fails.
    var hits: [UInt64: Int] = [:]

    /// In the order in which they are written, by the queue alone.
    var jobs: [Job] = []
    /// Whether the queue has been told to write; one that has ends with a look at `jobs`.
    var isWriting = false
    /// Removed entries that a transaction has failed to delete: the next one does.
    var owed: [EntryID] = []

    /// The files of bodies that have been written since the last sync that did not fail.
    var dirty: Set<UInt64> = []
    /// Whether a sync has failed since: the system takes the pages of `dirty` for written.
    var isSyncInDoubt = false
    /// The files of replaced bodies, which go once the bodies and rows in their place are synced, and those of removed ones
    /// that could not be removed.
    var replaced: [UInt64] = []

    /// Whether an eviction has not reached its target yet; a transaction deletes a part of what it has to.
    var isEvicting = false
    /// The bytes of the reserve. The log has no more that are not in the database, so that the reserve has room for them.
    var reserve = 0

    var observers: [@Sendable (StoreEvent) -> Void] = []
    /// The events before the first observer.
    var unheard: [StoreEvent] = []
    /// Why something that was accepted is not stored; the next flush throws it.
    var failure: (any Error)?

    init(limits: StoreLimits, lastNumber: UInt64, _ seen: Change.Seen) {
      (self.limits, self.lastNumber, clock, stored) = (limits, lastNumber, seen.clock, seen.totals)
    }
  }

  /// The last few thousand entries that have changed, by number: the lengths of their bodies, or that they are removed.
  struct Latest: Sendable {
    private static let removed: Int64 = -1
    private var newer: [UInt64: Int64] = [:]
    private var older: [UInt64: Int64] = [:]

    func isRemoved(_ id: EntryID) -> Bool { length(id) == Self.removed }

    /// Whether an entry is still there and as long, as far as is known.
    func isCurrent(_ entry: StoredEntry) -> Bool { length(entry.id).map { $0 == entry.bodyLength } ?? true }

    private func length(_ id: EntryID) -> Int64? { newer[id.number] ?? older[id.number] }

    mutating func remove(_ id: EntryID) { newer[id.number] = Self.removed }
    mutating func grow(_ id: EntryID, to length: Int64) { newer[id.number] = length }

    /// Forgets the oldest; only while every removal has been written.
    mutating func trim() { if newer.count >= 4096 { (older, newer) = (newer, [:]) } }
  }
}

extension DiskStore.State {
  /// The usage that the limits are compared with.
  var counted: StoreUsage {
    var counted = stored.usage
    counted += waiting.usage
    counted.bytes += reserved
    return counted
  }

  /// Whether eviction can make room for an entry.
  func hasRoom(for totals: Totals) -> Bool {
    var least = stored.pinned
    least += waiting.pinned
    least += totals.usage
    least.bytes += reserved
    return !limits.isExceeded(by: least)
  }

  mutating func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  /// The totals of entries, as far as they are in memory.
  func totals(of ids: [EntryID]) -> Totals {
    var totals = Totals()
    for entry in ids.compactMap(tier.find) {
      totals += Totals(cost: entry.storedBytes, isPinned: entry.details.isPinned)
    }
    return totals
  }

  /// Takes entries out of sight; returns their totals.
  mutating func hide(_ ids: [EntryID]) -> Totals {
    let totals = totals(of: ids)
    for id in ids {
      latest.remove(id)
      tier.drop(id)
    }
    changes += 1
    return totals
  }

  /// Notes that jobs have been written, or have failed.
  mutating func end(_ ended: [DiskStore.Job], upTo memory: Int, isFailure: Bool) {
    for job in ended {
      waiting -= job.totals
      if let id = job.held { tier.release(id, upTo: memory) }
      guard isFailure else { continue }
      owed += job.removing
      if let id = job.held { tier.drop(id, isComplete: false) }
    }
    if jobs.isEmpty, owed.isEmpty { latest.trim() }
  }

  /// Forgets all that another process may have changed.
  mutating func forget() {
    tier.forget()
    changes += 1
  }

  /// Forgets all entries: they are on the disk, or gone with it.
  mutating func forgetAll() {
    (tier, hits) = (MemoryTier(), [:])
    changes += 1
  }
}

/// The sums of entries.
struct Totals: Sendable, Equatable {
  var usage = StoreUsage()
  /// The part of it that eviction passes over.
  var pinned = StoreUsage()

  init() {}

  /// - Parameter row: The first columns of the table `total`.
  init(_ row: DatabaseRow) {
    usage = StoreUsage(bytes: row.number(1), count: Int(row.number(0)))
    pinned = StoreUsage(bytes: row.number(3), count: Int(row.number(2)))
  }

  init(cost: Int64, isPinned: Bool) {
    usage = StoreUsage(bytes: cost, count: 1)
    if isPinned { pinned = usage }
  }

  static func += (left: inout Totals, right: Totals) {
    left.usage += right.usage
    left.pinned += right.pinned
  }

  static func -= (left: inout Totals, right: Totals) {
    left.usage -= right.usage
    left.pinned -= right.pinned
  }
}

extension StoreUsage {
  static func += (left: inout StoreUsage, right: StoreUsage) {
    left.bytes = left.bytes.saturating(adding: right.bytes)
    left.count += right.count
  }

  static func -= (left: inout StoreUsage, right: StoreUsage) {
    left.bytes = left.bytes.saturating(subtracting: right.bytes)
    left.count -= right.count
  }
}
