import Foundation

/// A store in a directory, whose contents survive the end of the process, even if it is killed.
///
/// ```swift
/// let store = try DiskStore(at: directory, options: .init(limits: StoreLimits(bytes: 1 << 30)))
/// ```
///
/// The store consists of one log, in which every change is a record with a checksum, and one or two files per
/// entry, under names that are never reused. The index is in memory: a lookup that finds nothing needs no disk access.
/// Writing happens in the background; a killed process loses only what had not been written yet, well under a second's
/// worth. It never leaves an inconsistent entry, because every byte is verified before it is returned.
///
/// One store at a time writes to a directory (`flock`); see ``Options/whenLocked``. Only the owner can access the
/// directory and its files (0700, 0600). Opening reads the log on the caller's thread: some milliseconds for 100
/// 000 entries.
///
/// Do not use it on a network file system, where locks are unreliable.
package final class DiskStore: ArchiveStore {
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
    /// The records of partitions that are not in the log yet.
    var unnoted: [UInt32: LogRecord] = [:]
    /// Files that exist, or may exist, and that no entry of the log uses.
    var loose: Set<EntryFile>
    /// The number up to which the disk has all entries.
    var safe: UInt64
    /// What is there as it was before, by the entries that the disk has to get first.
    var superseded: [EntryID: [Superseded]] = [:]
    /// How many flushes are under way, and up to which number what they bring to the disk is kept meanwhile.
    var syncing: (count: Int, last: UInt64) = (0, 0)
    /// Files that the disk has refused.
    var refused: Set<EntryFile> = []
    /// Entries that a writer goes on with.
    var resumed: Set<EntryID> = []
    /// How long the bodies are that have grown: who still has such an entry with a shorter one has another entry.
    var grown: [EntryID: Int64] = [:]
    /// Heads that are still to be written, the newest of each entry.
    var heads: [EntryID: (head: [UInt8], details: EntryDetails)] = [:]
    /// What is to be done by the one thread that writes the log, in this order.
    var jobs: [Job] = []
    /// How many jobs that thread has taken and not done yet.
    var taken = 0
    var isWorking = false
    /// What the jobs that write entries are to write.
    var queue = WriteQueue()
    /// The bytes that wait in `queue`.
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
    /// The directory was lost, and the thread of the log has done what it had begun.
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
    /// How many records the last log that was written anew could not do without.
    var needed = 0
    /// The shorter log that is under way.
    var compacting: UInt64?
    /// How many seconds to wait before the disk is asked again for what it refused, when nobody flushes, and from
    /// when on that is.
    var retry: (seconds: Int, end: ContinuousClock.Instant) = (0, .now)
    /// Why something that was accepted has not been written since the last flush; that one says so.
    var givenUp: (any Error)?
    /// How far a reader has read the log, and which.
    var replayed: (generation: UInt64, records: UInt64) = (0, 0)
  }

  let directory: String
  let options: Options
  let identity: Identity
  let hash: SipHash
  let context: DiskBody.Context
  let state: Locked<State>
  /// `nil` when the store is for reading only.
  let log: StoreLog?
  let lock: DirectoryLock?
  private let worker = DispatchQueue(label: "waylay.archive.log")
  /// Where the disk is waited for, so that the thread of the log never does while there are entries to write.
  let syncQueue = DispatchQueue(label: "waylay.archive.sync")
  /// Held while a store for reading reads what the writer has added.
  let following = Locked(false)
  /// The key of its digests.
  let secretBytes: [UInt8]
  private let keyed: KeyedDigest

  var archive: ArchiveDirectory { context.directory }
  var files: FileSystem { archive.files }

  /// Opens the archive in a directory, or creates one if there is none.
  ///
  /// - Throws: ``ArchiveError`` with `ArchiveError.locked`, `ArchiveError.directoryUnusable`,
  ///   `ArchiveError.foreignFormat`, `ArchiveError.wrongKey` or `ArchiveError.invalidKey`; errors
  ///   of the encryption key's closure. In all cases the directory is unchanged.
  package convenience init(at directory: URL, options: Options = Options()) throws {
    try self.init(at: directory, options: options, secret: nil)
  }

  init(at directory: URL, options: Options, secret: [UInt8]?) throws {
    guard directory.isFileURL else { throw ArchiveError.notAFile(directory, "the directory of an archive") }
    let opening = try Opening(path: directory.standardizedFileURL.path, options: options, secret: secret)
    self.directory = opening.path
    self.options = options
    identity = opening.identity
    secretBytes = opening.identity.secret(opening.sealing)
    keyed = KeyedDigest(key: secretBytes)
    hash = SipHash(key: Array(secretBytes.prefix(16)))
    context = DiskBody.Context(directory: opening.directory, sealing: opening.sealing, pool: IOPool())
    log = opening.log
    lock = opening.lock
    let replay = opening.replay
    state = Locked(
      State(
        limits: options.limits, index: replay.index, usage: replay.usage, lastNumber: opening.lastNumber,
        partitions: replay.partitions, folders: replay.folders, loose: replay.loose, safe: replay.safe,
        replayed: (opening.generation, opening.records)))
    if replay.damaged > 0 {
      options.logger.warning(
        "\(replay.damaged) damaged records in the log of the archive in \(opening.path) were skipped")
    }
    if log != nil {
      for (id, items) in replay.superseded { restore(id, items) }
      let kept = Set(
        replay.superseded.values.joined().flatMap { [$0.slot.headFile($0.low), $0.slot.bodyFile($0.low)] })
      tidy(removing: replay.isClean ? [] : replay.loose.subtracting(kept))
    }
  }

  deinit {
    // Every job holds the store, so that none is left. Without this record the next opening looks for files that nobody
    // uses.
    let (isClosed, end) = state.withLock { ($0.isClosed, $0.isClosed ? nil : $0.end) }
    if let log, let end { try? log.append(end) }
    if !isClosed { lock?.release() }
  }

  /// The current usage of the store.
  package var usage: StoreUsage { state.withLock { $0.usage } }

  /// Whether the directory is still there, and the store has not been closed.
  var isOpen: Bool { state.withLock { !$0.isClosed && !$0.isLost } }

  /// Whether this store only reads, because another process writes to the directory or because its options say so.
  package var isReadOnly: Bool { log == nil }

  /// Returns a digest under the archive's own key.
  package func digest(_ bytes: [UInt8]) -> [UInt8] { keyed.of(bytes) }

  /// Calls a closure for evictions, refusals and damage.
  package func observe(_ handler: @escaping @Sendable (StoreEvent) -> Void) {
    state.withLock { $0.observers.append(handler) }
  }
}

extension DiskStore {
  /// Has the thread of the log do something, after what it was given before.
  func enqueue(_ job: @escaping Job) {
    state.withLock { $0.jobs.append(job) }
    work()
  }

  /// Has the thread of the log do something, and waits for it.
  func perform<Value: Sendable>(_ job: @escaping @Sendable (DiskStore) throws -> Value) async throws -> Value {
    let promise = Promise<Value>()
    return try await promise.value { enqueue { store in promise.settle(Result { try job(store) }) } }
  }

  /// Has the thread of the log do what is there to be done; the caller that added a job calls this, not holding the
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
        if log != nil { _ = isGone() }
        for (index, job) in jobs.enumerated() {
          job(self)
          if index % 64 == 63 { state.withLock { $0.taken -= 64 } }
        }
        if !state.withLock({ $0.isClosed }) { compactIfWorthIt() }
      }
      synchronizeSoon()
    }
  }

  /// A loss of power costs about a second; nobody waits for the disk.
  private func synchronizeSoon() {
    let isNeeded = state.withLock { state in
      defer { state.isSynchronizing = true }
      return !state.isSynchronizing && !state.isClosed && log != nil
    }
    guard isNeeded else { return }
    syncQueue.asyncAfter(deadline: .now() + 1) { [weak self] in
      guard let self else { return }
      let isNeeded = state.withLock { state in
        state.isSynchronizing = false
        return !state.superseded.isEmpty && !state.isClosed && !state.isLost && state.retry.end <= .now
      }
      // Nothing else may ever ask: a directory that was renamed takes everything.
      if isGone() { return }
      // What the log says of failures, the caller of flush is told.
      if isNeeded { enqueue { $0.syncSuperseded() } } else { try? log?.synchronize() }
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
  var end: LogRecord? {
    guard loose.isEmpty, !isLost else { return nil }
    var record = LogRecord(.clean)
    record.number = lastNumber
    return record
  }

  /// The jobs that are still to be done.
  var outstanding: Int { jobs.count + taken }

  /// Where an entry is in the index.
  func find(_ id: EntryID) -> EntryIndex<DiskSlot>.Handle? { index.first(id.hash) { $0.number == id.number } }
}

extension DiskStore {
  /// The options of a store on disk.
  ///
  /// ```swift
  /// let options = DiskStore.Options(limits: StoreLimits(bytes: 1 << 30), compressesText: true)
  /// ```
  package struct Options: Sendable {
    /// The limits of the store.
    package var limits: StoreLimits
    /// The number of entry bytes to keep in memory as well, for answers without waiting. Pending writes are not
    /// included.
    package var memory: Int
    /// Whether to compress textual bodies (zlib) before they are written.
    package var compressesText: Bool
    /// What to do if another process, or another store in this process, writes to the directory.
    package var whenLocked: Lock
    /// Whether the store only reads: it takes no lock, creates no archive, and changes nothing in the directory,
    /// even while another process uses it. For tools that inspect an app's archive. What another process stores is
    /// visible as with ``Lock/readOnly``.
    package var isReadOnly = false
    /// Returns the key for encrypting heads and bodies (AES-GCM); called once, when the store is opened. Without a key,
    /// nothing is encrypted. At least 16 bytes; 32 are usual.
    package var encryptionKey: (@Sendable () throws -> EncryptionKey)?
    /// Names the folder of a partition. At most 48 letters, digits, hyphens, underscores and dots; for anything else,
    /// and for `nil`, a keyed digest of the partition is used. A name already used by another partition would mix their
    /// files, though not their responses.
    package var folderName: (@Sendable (ArchivePartition) -> String?)?
    /// The logger for failures and damage.
    package var logger: Logger
    /// The calls to the system, which a test may put its own in the place of.
    package var system: any SystemCalls = PosixCalls()
    /// How many records in vain a log may have whatever the number of entries, before a shorter one is worth it.
    package var slack = 1024

    /// Makes options.
    package init(
      limits: StoreLimits = StoreLimits(), memory: Int = 8 << 20, compressesText: Bool = false,
      whenLocked: Lock = .fail, encryptionKey: (@Sendable () throws -> EncryptionKey)? = nil,
      folderName: (@Sendable (ArchivePartition) -> String?)? = nil, logger: Logger? = nil
    ) {
      self.limits = limits
      self.memory = memory
      self.compressesText = compressesText
      self.whenLocked = whenLocked
      self.encryptionKey = encryptionKey
      self.folderName = folderName
      self.logger = logger ?? Logger(label: "waylay.archive.store")
    }
  }

  /// What to do if the directory is locked by another writer, or not writable.
  package struct Lock: Hashable, Sendable {
    let opensForReading: Bool

    /// Fail with `ArchiveError.locked`, or `ArchiveError.directoryUnusable` if permissions are missing.
    package static let fail = Lock(opensForReading: false)
    /// Open for reading, and follow what the other process stores, changes and removes. A change is visible at the next
    /// lookup after it is in the log: after ``DiskStore/flush()``, ``DiskStore/removeAll(_:)`` and
    /// ``DiskStore/close()`` of the other process, and otherwise moments later.
    package static let readOnly = Lock(opensForReading: true)
  }

  /// The limits of the store; see ``ArchiveStore/limits``. A read-only store evicts nothing.
  package var limits: StoreLimits {
    get { state.withLock { $0.limits } }
    set {
      state.withLock { state in
        state.limits = newValue
        if log != nil, !state.isClosed, newValue.isExceeded(by: state.usage) { trimLater(in: &state) }
      }
      work()
    }
  }

  /// Evicts until so much more of the disk fits; what is evicted goes from the disk before anything that is written after this
  /// call.
  ///
  /// Only as much as is needed: the rest of the way to the low-water mark is not the caller's time.
  func makeRoom(for bytes: Int64, count: Int, in state: inout State) -> Bool {
    var wanted = state.usage
    wanted.blocks += bytes
    wanted.count += count
    guard state.limits.isExceeded(by: wanted) else { return true }
    while state.limits.isExceeded(by: wanted) {
      guard evictOne(in: &state) else { return false }
      wanted.blocks = state.usage.blocks + bytes
      wanted.count = state.usage.count + count
    }
    trimLater(in: &state)
    return true
  }

  /// Has the rest of the way to the low-water mark be done behind.
  private func trimLater(in state: inout State) {
    guard !state.isTrimming else { return }
    state.isTrimming = true
    state.jobs.append { $0.trim(to: $0.limits.low) }
  }

  /// Evicts down to a mark, a few at a time, so that nobody waits for the lock.
  func trim(to mark: StoreLimits) {
    var goesOn = true
    while goesOn {
      goesOn = state.withLock { state in
        for _ in 0..<16 where mark.isExceeded(by: state.usage) {
          guard evictOne(in: &state) else { break }
        }
        let isDone = !mark.isExceeded(by: state.usage) || state.index.pinned == state.index.count
        if isDone { state.isTrimming = false }
        return !isDone
      }
    }
    work()
  }

  private func evictOne(in state: inout State) -> Bool {
    guard let handle = state.index.victim() else { return false }
    let low = state.index.hash(handle)
    let slot = state.index[handle]
    let id = EntryID(number: slot.number, hash: low)
    let url = state.observers.isEmpty ? nil : state.tier.first(low) { $0.id == id }.map { state.tier[$0].details.url }
    state.take(handle, low)
    let event = StoreEvent(.evicted, id: id, url: url, bytes: slot.cost, reason: "made room for other entries")
    state.jobs.append { $0.drop(slot, low, event) }
    return true
  }

  /// Counts bytes of a body on its way, or gives them back.
  func reserve(_ bytes: Int64, of total: Int64) throws {
    defer { work() }
    try state.withLock { state in
      if bytes > 0 {
        try check(state, head: 0, bytes: total)
        guard makeRoom(for: bytes, count: 0, in: &state) else { throw ArchiveError.storeFull }
      }
      // What was lost or closed is counted no more.
      if !state.isLost, !state.isClosed { state.usage.reserve(bytes) }
    }
  }
}
