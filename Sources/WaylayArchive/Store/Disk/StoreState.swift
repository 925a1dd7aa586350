extension DiskStore {
  /// A pending change.
  struct Job: Sendable {
    var change: @Sendable (Change) throws -> Void = { _ in }
    /// The bytes that the job adds to the log.
    var bytes = 0
    /// The change of the totals, counted in ``State/waiting`` until it is written.
    var totals = Totals()
    /// The entry that is held in memory until the change is written.
    var held: EntryID?
    /// The entries that the job has hidden: if it fails, the next transaction deletes them.
    var removing: [EntryID] = []
    /// The completion handler, called without a lock.
    var ended: @Sendable (Result<Void, any Error>) -> Void = { _ in }
  }

  /// The entries in memory and the pending changes, behind one lock, under which no system call is made.
  struct State: Sendable {
    enum Life { case open, closed, lost }

    /// Changes from `open` only once; after that, the store finds and stores nothing.
    var life = Life.open
    var limits: StoreLimits
    /// The last number assigned to an entry; numbers are never reused. The upper half is the number of the opening.
    var lastNumber: UInt64

    // The usage of the index: `stored` is as of the change `clock`, the last one that this store has seen.
    var clock: Int64
    var stored: Totals
    /// The totals of pending jobs, including those of the running transaction.
    var waiting = Totals()
    /// The bytes of writers that are in no job and no entry.
    var reserved: Int64 = 0

    /// The entries in memory, in the state that the index will have after all pending jobs, but without entries that
    /// are not committed yet, and without those removed according to `latest`.
    var tier = MemoryTier()
    /// Counts changes: a read discards its result if it differs before and after.
    var changes: UInt64 = 0
    /// The recent changes of this store, by which an outdated `StoredEntry` is recognized.
    var latest = Latest()
    /// The entries to which a writer of this store appends, at most one each; eviction skips them.
    var resumed: Set<UInt64> = []
    /// The hits since the last transaction, of at most ``DiskStore/mostHits`` entries. A failed transaction loses them.
    var hits: [UInt64: Int] = [:]

    /// The pending jobs in the order of writing; the queue alone removes them.
    var jobs: [Job] = []
    /// Removed entries whose deletion failed: the next transaction deletes them.
    var owed: [EntryID] = []

    /// The files of bodies that have been written since the last successful sync.
    var dirty: Set<UInt64> = []
    /// Whether another process may have written bodies since the last sync.
    var hasOthers = true
    /// Whether a sync has failed: the system may consider the pages of `dirty` clean.
    var isSyncInDoubt = false
    /// The files to remove after the next sync: those of replaced bodies, and those whose removal failed.
    var replaced: [UInt64] = []

    /// Whether an eviction has not reached its target: one transaction deletes only a part.
    var isEvicting = false
    /// The size of the reserve file. It limits the bytes of the log that are not yet in the database, so that removing
    /// the reserve makes room for a checkpoint.
    var reserve = 0

    var observers: [@Sendable (StoreEvent) -> Void] = []
    /// The event before the first observer.
    var unheard: StoreEvent?
    /// The error of an accepted change that is not stored; the next flush throws it.
    var failure: (any Error)?

    init(limits: StoreLimits, lastNumber: UInt64, _ seen: Change.Seen) {
      (self.limits, self.lastNumber, clock, stored) = (limits, lastNumber, seen.clock, seen.totals)
    }
  }

  /// The most recently changed entries, some thousands, by number: the length of the body, or that the entry is
  /// removed.
  struct Latest: Sendable {
    private static let removed: Int64 = -1
    private var lengths: [UInt64: Int64] = [:]

    func isRemoved(_ id: EntryID) -> Bool { lengths[id.number] == Self.removed }

    /// Whether an entry is neither removed nor longer, as far as known.
    func isCurrent(_ entry: StoredEntry) -> Bool { [nil, entry.bodyLength].contains(lengths[entry.id.number]) }

    mutating func remove(_ id: EntryID) { lengths[id.number] = Self.removed }
    mutating func grow(_ id: EntryID, to length: Int64) { lengths[id.number] = length }

    /// Drops everything if the list is long. Call only if every removal has been written.
    mutating func trim() { if lengths.count >= 8192 { lengths = [:] } }
  }
}

extension DiskStore.State {
  /// The usage that counts against the limits.
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

  /// The totals of those entries that are in memory.
  func totals(of ids: [EntryID]) -> Totals {
    var totals = Totals()
    for entry in ids.compactMap(tier.find) {
      totals += Totals(cost: entry.storedBytes, isPinned: entry.details.isPinned)
    }
    return totals
  }

  /// Hides entries from lookups; returns their totals.
  mutating func hide(_ ids: [EntryID]) -> Totals {
    let totals = totals(of: ids)
    for id in ids {
      latest.remove(id)
      tier.drop(id)
    }
    changes += 1
    return totals
  }

  /// Removes jobs that have been written or have failed.
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

  /// Drops the entries in memory that another process may have changed.
  mutating func forget() {
    tier.forget()
    changes += 1
  }

  /// Drops all entries in memory: they are on the disk, or lost.
  mutating func forgetAll() {
    (tier, hits) = (MemoryTier(), [:])
    changes += 1
  }
}

/// The usage of entries.
struct Totals: Sendable, Equatable {
  var usage = StoreUsage()
  /// The part of it that is pinned or in use, which eviction skips.
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
