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
  /// How far a store for reading has read the log, and which; held while it reads what the writer has added.
  let replayed: Locked<(generation: UInt64, records: UInt64)>
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
    state = Locked(State(opening, limits: options.limits))
    replayed = Locked((opening.generation, opening.records))
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
    let (isClosed, end) = state.withLock { ($0.life.isClosed, $0.life.isClosed ? nil : $0.end) }
    if let log, let end { try? log.append(end) }
    if !isClosed { lock?.release() }
  }

  /// The current usage of the store.
  package var usage: StoreUsage { state.withLock { $0.usage } }

  /// Whether the directory is still there, and the store has not been closed.
  var isOpen: Bool { state.withLock { $0.life.isOpen } }

  /// Whether this store only reads, because another process writes to the directory or because its options say so.
  package var isReadOnly: Bool { log == nil }

  /// Returns a digest under the archive's own key.
  package func digest(_ bytes: [UInt8]) -> [UInt8] { keyed.of(bytes) }

  /// Calls a closure for evictions, refusals and damage.
  package func observe(_ handler: @escaping @Sendable (StoreEvent) -> Void) {
    state.withLock { $0.reports.observers.append(handler) }
  }
}

extension DiskStore {
  /// Has the thread of the log do something, after what it was given before.
  func enqueue(_ job: @escaping Job) {
    state.withLock { $0.work.add(job) }
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
    guard state.withLock({ $0.work.starts() }) else { return }
    worker.async { [self] in
      while true {
        let jobs = state.withLock { $0.work.takeAll() }
        if jobs.isEmpty { break }
        // Once for all that waits: nothing is written where somebody else may be.
        if log != nil { _ = isGone() }
        for (index, job) in jobs.enumerated() {
          job(self)
          if index % 64 == 63 { state.withLock { $0.work.taken -= 64 } }
        }
        if !state.withLock({ $0.life.isClosed }) { compactIfWorthIt() }
      }
      synchronizeSoon()
    }
  }

  /// A loss of power costs about a second; nobody waits for the disk.
  private func synchronizeSoon() {
    let isNeeded = state.withLock { state in
      defer { state.work.isSyncDue = true }
      return !state.work.isSyncDue && !state.life.isClosed && log != nil
    }
    guard isNeeded else { return }
    syncQueue.asyncAfter(deadline: .now() + 1) { [weak self] in
      guard let self else { return }
      let isNeeded = state.withLock { state in
        state.work.isSyncDue = false
        return !state.kept.items.isEmpty && state.life.isOpen && state.kept.retry.end <= .now
      }
      // Nothing else may ever ask: a directory that was renamed takes everything.
      if isGone() { return }
      // What the log says of failures, the caller of flush is told.
      if isNeeded { enqueue { $0.syncSuperseded() } } else { try? log?.synchronize() }
    }
  }

  /// Tells the observers.
  func report(_ event: StoreEvent) {
    let observers = state.withLock { $0.reports.observers }
    for observer in observers { observer(event) }
  }
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
        if log != nil, !state.life.isClosed, newValue.isExceeded(by: state.usage) { trimLater(in: &state) }
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
    guard !state.work.isTrimming else { return }
    state.work.isTrimming = true
    state.work.add { $0.trim(to: $0.limits.low) }
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
        if isDone { state.work.isTrimming = false }
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
    let url = state.reports.observers.isEmpty ? nil : state.tier.find(id)?.entry.details.url
    state.take(handle, low)
    let event = StoreEvent(.evicted, id: id, url: url, bytes: slot.cost, reason: "made room for other entries")
    state.work.add { $0.drop(slot, low, event) }
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
      if state.life.isOpen { state.usage.reserve(bytes) }
    }
  }
}
