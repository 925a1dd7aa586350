import Foundation

/// A store in a directory, whose contents survive the end of the process, even if it is killed.
///
/// ```swift
/// let store = try DiskStore(at: directory, options: .init(limits: StoreLimits(bytes: 1 << 30)))
/// ```
///
/// The store consists of one journal, in which every change is a record with a checksum, and one or two files per
/// entry, under names that are never reused. The index is in memory: a lookup that finds nothing needs no disk access.
/// Writing happens in the background; a killed process loses only what had not been written yet, well under a second's
/// worth. It never leaves an inconsistent entry, because every byte is verified before it is returned.
///
/// One store at a time writes to a directory (`flock`); see ``Options/whenLocked``. Only the owner can access the
/// directory and its files (0700, 0600). Opening reads the journal on the caller's thread: some milliseconds for 100
/// 000 entries.
///
/// Do not use it on a network file system, where locks and mapped files are unreliable.
public final class DiskStore: ArchiveStore {
  typealias Job = @Sendable (DiskStore) -> Void

  struct State: Sendable {
    var limits: StoreLimits
    var index: EntryIndex<DiskSlot>
    var usage: StoreUsage
    /// Entries in memory: those that were asked for lately, and all that are still to be written.
    var tier = EntryIndex<StoredEntry>()
    var tierBytes = 0
    var lastNumber: UInt64
    var partitions: [UInt64: UInt32]
    var folders: [UInt32: String]
    /// The records of partitions that are not in the journal yet.
    var unnoted: [UInt32: JournalRecord] = [:]
    /// Files that exist, or may exist, and that no entry of the journal uses.
    var loose: Set<EntryFile>
    /// The number up to which the medium has all entries.
    var safe: UInt64
    /// What is there as it was before, by the entries that the medium has to get first.
    var retired: [EntryID: [Retired]] = [:]
    /// How many flushes are under way, and up to which number what they bring to the medium is kept meanwhile.
    var passing: (count: Int, last: UInt64) = (0, 0)
    /// Files that the medium has refused.
    var refused: Set<EntryFile> = []
    /// Entries that a writer goes on with.
    var resumed: Set<EntryID> = []
    /// How long the bodies are that have grown: who still has such an entry with a shorter one has another entry.
    var grown: [EntryID: Int64] = [:]
    /// Heads that are still to be written, the newest of each entry.
    var heads: [EntryID: (head: [UInt8], details: EntryDetails)] = [:]
    /// What is to be done by the one thread that writes the journal, in this order.
    var jobs: [Job] = []
    /// How many jobs that thread has taken and not done yet.
    var taken = 0
    var isWorking = false
    /// What the jobs that write entries are to write, by their turns.
    var turns = Turns()
    /// The bytes that wait in `turns`.
    var waiting = 0
    var observers: [@Sendable (StoreEvent) -> Void] = []
    /// Files that writers have begun and no entry has yet.
    var drafts: Set<EntryFile> = []
    /// How many pieces of bodies are being written now, and how many flushes are under way.
    var writing = 0
    /// Nothing new is taken.
    var isClosed = false
    /// Nothing is changed in the directory any more: it may be another store's.
    var isSealed = false
    /// The directory was lost, and the thread of the journal has done what it had begun.
    var isLeft = false
    /// The directory is free for others.
    var isReleased = false
    /// Those who wait for the end of a close.
    var closers = Waiters()
    /// The directory went away while the store was open.
    var isLost = false
    var isSynchronizing = false
    /// Whether an eviction to the low-water mark is under way.
    var isTrimming = false
    /// How many records make the next compaction worth it, after one that failed.
    var compactAt: UInt64 = 0
    /// How many records the last journal that was written anew could not do without.
    var needed = 0
    /// The shorter journal that is under way.
    var compacting: UInt64?
    /// How many seconds to wait before the medium is asked again for what it refused, when nobody flushes, and from
    /// when on that is.
    var patience: (seconds: Int, end: ContinuousClock.Instant) = (0, .now)
    /// How far a reader has read the journal, and which.
    var replayed: (generation: UInt64, records: UInt64) = (0, 0)
  }

  let directory: String
  let options: Options
  let identity: Identity
  let hash: SipHash
  let context: DiskBody.Context
  let state: Locked<State>
  /// `nil` when the store is for reading only.
  let journal: Journal?
  let lock: DirectoryLock?
  private let worker = DispatchQueue(label: "waylay.archive.journal")
  /// Where the medium is waited for, so that the thread of the journal never does while there are entries to write.
  let medium = DispatchQueue(label: "waylay.archive.medium")
  /// Held while a store for reading reads what the writer has added.
  let following = Locked(false)
  private let keyed: KeyedDigest

  var archive: ArchiveDirectory { context.directory }
  var files: FileSystem { archive.files }

  /// Opens the archive in a directory, or creates one if there is none.
  ///
  /// - Throws: ``ArchiveError`` with ``ArchiveError/Code/locked``, ``ArchiveError/Code/directoryUnusable``,
  ///   ``ArchiveError/Code/foreignFormat``, ``ArchiveError/Code/wrongKey`` or ``ArchiveError/Code/invalidKey``; errors
  ///   of the encryption key's closure. In all cases the directory is unchanged.
  public convenience init(at directory: URL, options: Options = Options()) throws {
    try self.init(at: directory, options: options, secret: nil)
  }

  init(at directory: URL, options: Options, secret: [UInt8]?) throws {
    guard directory.isFileURL else { throw ArchiveError.notAFile(directory, "the directory of an archive") }
    let opening = try Opening(path: directory.standardizedFileURL.path, options: options, secret: secret)
    self.directory = opening.path
    self.options = options
    identity = opening.identity
    keyed = KeyedDigest(key: opening.identity.secret)
    hash = SipHash(key: Array(opening.identity.secret.prefix(16)))
    context = DiskBody.Context(directory: opening.directory, sealing: opening.sealing, pool: IOPool())
    journal = opening.journal
    lock = opening.lock
    let replay = opening.replay
    state = Locked(
      State(
        limits: options.limits, index: replay.index, usage: replay.usage, lastNumber: opening.lastNumber,
        partitions: replay.partitions,
        folders: replay.folders,
        loose: replay.loose, safe: replay.safe, replayed: (opening.generation, opening.records)))
    if replay.damaged > 0 {
      options.logger.warning(
        "\(replay.damaged) damaged records in the journal of the archive in \(opening.path) were skipped")
    }
    if journal != nil {
      for (id, items) in replay.retired { restore(id, items) }
      let kept = Set(replay.retired.values.joined().flatMap { [$0.slot.headFile($0.low), $0.slot.bodyFile($0.low)] })
      tidy(removing: replay.isClean ? [] : replay.loose.subtracting(kept))
    }
  }

  deinit {
    // Every job holds the store, so that none is left. Without this record the next opening looks for files that nobody
    // uses.
    let (isClosed, end) = state.withLock { ($0.isClosed, $0.isClosed ? nil : $0.end) }
    if let journal, let end { try? journal.append(end) }
    if !isClosed { lock?.release() }
  }

  /// The current usage of the store.
  public var usage: StoreUsage { state.withLock { $0.usage } }

  /// Whether this store only reads, because another process writes to the directory or because its options say so.
  public var isReadOnly: Bool { journal == nil }

  /// Returns a digest under the archive's own key.
  public func digest(_ bytes: [UInt8]) -> [UInt8] {
    keyed.of(bytes)
  }

  /// Calls a closure for evictions, refusals and damage.
  public func observe(_ handler: @escaping @Sendable (StoreEvent) -> Void) {
    state.withLock { $0.observers.append(handler) }
  }
}

extension DiskStore {
  /// Has the thread of the journal do something, after what it was given before.
  func enqueue(_ job: @escaping Job) {
    state.withLock { $0.jobs.append(job) }
    work()
  }

  /// Has the thread of the journal do something, and waits for it.
  func perform<Value: Sendable>(_ job: @escaping @Sendable (DiskStore) throws -> Value) async throws -> Value {
    let promise = Promise<Value>()
    return try await promise.value { enqueue { store in promise.settle(Result { try job(store) }) } }
  }

  /// Has the thread of the journal do what is there to be done; whoever has added a job calls this, not holding the
  /// lock.
  func work() {
    let starts = state.withLock { state in
      guard !state.jobs.isEmpty, !state.isWorking else { return false }
      state.isWorking = true
      return true
    }
    guard starts else { return }
    worker.async { [self] in
      while true {
        let jobs = state.withLock { state in
          defer { state.jobs = [] }
          if state.jobs.isEmpty { state.isWorking = false }
          state.taken = state.jobs.count
          return state.jobs
        }
        if jobs.isEmpty { break }
        // Once for all that waits: nothing is written where somebody else may be.
        if journal != nil { _ = isGone() }
        for (index, job) in jobs.enumerated() {
          job(self)
          if index % 64 == 63 { state.withLock { $0.taken -= 64 } }
        }
        if !state.withLock({ $0.isClosed }) { compactIfWorthIt() }
      }
      synchronizeSoon()
    }
  }

  /// A loss of power costs about a second; nobody waits for the medium.
  private func synchronizeSoon() {
    let isNeeded = state.withLock { state in
      defer { state.isSynchronizing = true }
      return !state.isSynchronizing && !state.isClosed && journal != nil
    }
    guard isNeeded else { return }
    medium.asyncAfter(deadline: .now() + 1) { [weak self] in
      guard let self else { return }
      let isNeeded = state.withLock { state in
        state.isSynchronizing = false
        return !state.retired.isEmpty && !state.isClosed && !state.isLost && state.patience.end <= .now
      }
      // Nothing else may ever ask: a directory that was renamed takes everything.
      if isGone() { return }
      // What the journal says of failures, whoever flushes is told.
      if isNeeded { enqueue { $0.passRetired() } } else { try? journal?.synchronize() }
    }
  }

  /// Tells the observers.
  func report(_ event: StoreEvent) {
    let observers = state.withLock { $0.observers }
    for observer in observers { observer(event) }
  }
}

extension DiskStore.State {
  mutating func number() -> UInt64 {
    lastNumber &+= 1
    return lastNumber
  }

  /// The record of an orderly end, where there is nothing left to clear away.
  var end: JournalRecord? {
    guard loose.isEmpty, !isLost else { return nil }
    var record = JournalRecord(.clean)
    record.number = lastNumber
    return record
  }

  /// The jobs that are still to be done.
  var outstanding: Int { jobs.count + taken }

  /// Where an entry is in the index.
  func find(_ id: EntryID) -> EntryIndex<DiskSlot>.Handle? {
    index.first(id.hash) { $0.number == id.number }
  }
}
