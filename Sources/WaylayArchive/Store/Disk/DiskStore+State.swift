import Foundation

extension DiskStore {
  /// What a store knows of its entries, and what it has still to do: all behind one lock.
  struct State: Sendable {
    /// The limits that the usage is brought below by eviction, whenever it is above.
    var limits: StoreLimits
    /// Each entry that can be found, and nothing else.
    var index: EntryIndex<DiskSlot>
    /// The sum of what is in the index, and of what writers have reserved.
    var usage: StoreUsage
    /// Entries of the index alone; one that is still to be written is always among them.
    var tier = MemoryTier()
    /// No number and no folder is given out twice.
    var names: Names
    /// Every file that exists, or may, and that no entry of the index uses.
    var leftovers: Leftovers
    /// What the disk had before, of each entry that it is not known to have as it is now.
    var kept: Kept
    /// Each job is done once, in the order in which it came.
    var work = Work()
    /// Entries whose bodies grow, or have grown; each is in the index.
    var growing = Growing()
    /// How far the store has come to its end; it never goes back.
    var life = Life()
    /// There is one shorter log under way at most.
    var compaction = Compaction()
    /// What those who ask or listen have not been told yet.
    var reports = Reports()
  }

  /// The numbers of entries and files, and the folders of partitions.
  struct Names: Sendable {
    private(set) var last: UInt64
    /// The partitions' numbers by the digest of their names.
    private(set) var partitions: [UInt64: UInt32]
    private(set) var folders: [UInt32: String]
    /// The records of partitions that are not in the log yet.
    var unnoted: [UInt32: LogRecord] = [:]

    init(_ replay: Replay, last: UInt64) {
      (self.last, partitions, folders) = (last, replay.partitions, replay.folders)
    }

    mutating func number() -> UInt64 {
      last &+= 1
      return last
    }

    /// Gives a partition its number, and a folder.
    mutating func add(_ digest: UInt64, folder: String) -> UInt32 {
      // One that a damaged record has lost leaves a gap: never two of one number.
      let least = UInt32(folders.count) + 1
      let number = (least...).first { folders[$0] == nil } ?? least
      (partitions[digest], folders[number]) = (number, folder)
      unnoted[number] = .partition(number, digest: digest, folder: folder)
      return number
    }
  }

  /// Files that no entry uses.
  struct Leftovers: Sendable {
    /// Those that can go, or are about to be put into use.
    var loose: Set<EntryFile>
    /// Those that writers have begun and no entry has yet.
    var drafts: Set<EntryFile> = []
    /// Those that the disk has refused, of whomever they are.
    var refused: Set<EntryFile> = []

    init(loose: Set<EntryFile>) { self.loose = loose }

    /// An entry uses its files now.
    mutating func use(_ slot: DiskSlot, _ low: UInt64) {
      for file in slot.files(low) {
        loose.remove(file)
        drafts.remove(file)
      }
    }

    /// An entry uses its files no more.
    mutating func leave(_ slot: DiskSlot, _ low: UInt64) { loose.formUnion(slot.files(low)) }
  }

  /// What the thread of the log has to do.
  struct Work: Sendable {
    /// In the order in which they are to be done.
    var jobs: [Job] = []
    /// How many of them that thread has taken and not done yet.
    var taken = 0
    var isRunning = false
    /// What the jobs that write entries are to write.
    var writes = WriteQueue()
    /// The bytes that wait in `writes`.
    var waiting = 0
    /// Heads that are still to be written, the newest of each entry.
    var heads: [EntryID: (head: [UInt8], details: EntryDetails)] = [:]
    /// Whether a sync is due within a second.
    var isSyncDue = false
    /// Whether an eviction to the low-water mark is under way.
    var isTrimming = false

    /// How many are still to be done.
    var outstanding: Int { jobs.count + taken }

    mutating func add(_ job: @escaping Job) { jobs.append(job) }

    /// Whether the thread has to be woken, which counts as done.
    mutating func starts() -> Bool {
      guard !jobs.isEmpty, !isRunning else { return false }
      isRunning = true
      return true
    }

    /// Takes all that is there; with none the thread rests.
    mutating func takeAll() -> [Job] {
      if jobs.isEmpty { isRunning = false }
      taken = jobs.count
      defer { jobs = [] }
      return jobs
    }
  }

  /// Bodies that become longer.
  struct Growing: Sendable {
    /// The entries that a writer goes on with.
    var resumed: Set<EntryID> = []
    /// How long the bodies are that have grown: who still has such an entry with a shorter one has another entry.
    var lengths: [EntryID: Int64] = [:]
  }

  /// How far a store has come to its end.
  struct Life: Sendable {
    /// Nothing new is taken.
    var isClosed = false
    /// The directory went away while the store was open.
    var isLost = false
    /// Nothing is changed in the directory any more: it may be another store's.
    var isSealed = false
    /// The directory was lost, and the thread of the log has done what it had begun.
    var isLeft = false
    /// The directory is free for others.
    var isReleased = false
    /// How many pieces of bodies are being written now, and how many flushes are under way.
    var writing = 0
    /// Those who wait for the end of a close.
    var closers = Waiters()

    /// Whether entries can be found and stored.
    var isOpen: Bool { !isClosed && !isLost }
  }

  /// The shorter log that may take the place of the log.
  struct Compaction: Sendable {
    /// How many records make the next one worth it, after one that failed.
    var earliest: UInt64 = 0
    /// How many records the last log that was written anew could not do without.
    var needed = 0
    /// The one that is under way.
    var draft: UInt64?
  }

  /// What is told.
  struct Reports: Sendable {
    var observers: [@Sendable (StoreEvent) -> Void] = []
    /// Why something that was accepted has not been written since the last flush; that one says so.
    var givenUp: (any Error)?
  }
}

extension DiskStore.State {
  init(_ opening: Opening, limits: StoreLimits) {
    let replay = opening.replay
    (self.limits, index, usage) = (limits, replay.index, replay.usage)
    names = DiskStore.Names(replay, last: opening.lastNumber)
    leftovers = DiskStore.Leftovers(loose: replay.loose)
    kept = DiskStore.Kept(safe: replay.safe)
  }

  /// The record of an orderly end, where there is nothing left to clear away.
  var end: LogRecord? {
    guard leftovers.loose.isEmpty, !life.isLost else { return nil }
    var record = LogRecord(.clean)
    record.number = names.last
    return record
  }

  /// Where an entry is in the index.
  func find(_ id: EntryID) -> EntryIndex<DiskSlot>.Handle? { index.first(id.hash) { $0.number == id.number } }

  /// What is known of an entry.
  func slot(_ id: EntryID) -> DiskSlot? { find(id).map { index[$0] } }

  /// Forgets all entries: they are on the disk, or gone with it.
  mutating func forgetAll() {
    index.removeAll()
    tier.removeAll()
    usage = StoreUsage()
  }
}

/// Entries in memory in front of the disk: those that were asked for lately, and all that are still to be written.
struct MemoryTier: Sendable {
  typealias Handle = EntryIndex<StoredEntry>.Handle

  private var entries = EntryIndex<StoredEntry>()
  /// What the entries take: more than the limit only for those that are pinned.
  private var bytes = 0

  func find(_ id: EntryID) -> (handle: Handle, entry: StoredEntry)? {
    entries.first(id.hash) { $0.id.number == id.number }.map { ($0, entries[$0]) }
  }

  /// Notes a hit.
  mutating func visit(_ handle: Handle, hits: UInt32) {
    entries.visit(handle)
    entries[handle].hits = Int(hits)
  }

  /// Keeps an entry in the place of what was kept of it before.
  mutating func keep(_ entry: StoredEntry, upTo limit: Int, isPinned: Bool = false) {
    let wasPinned = forget(entry.id)
    let cost = Self.cost(entry)
    guard isPinned || wasPinned || cost <= limit / 8 else { return }
    entries.insert(entry, hash: entry.id.hash, isPinned: isPinned || wasPinned)
    bytes += cost
    while bytes > limit, let handle = entries.victim() { bytes -= Self.cost(entries.remove(handle)) }
  }

  /// Drops an entry when it has to; until now it was still to be written.
  mutating func unpin(_ entry: StoredEntry, upTo limit: Int) {
    forget(entry.id)
    keep(entry, upTo: limit)
  }

  /// Drops an entry, and says whether it was pinned.
  @discardableResult
  mutating func forget(_ id: EntryID) -> Bool {
    guard let (handle, _) = find(id) else { return false }
    let isPinned = entries.isPinned(handle)
    bytes -= Self.cost(entries.remove(handle))
    return isPinned
  }

  mutating func removeAll() { self = MemoryTier() }

  private static func cost(_ entry: StoredEntry) -> Int {
    entry.head.count + entry.key.bytes.count * 2 + 512 + (entry.contents.inMemory?.count ?? 0)
      + Int(entry.bodyLength / 4096)
  }
}
