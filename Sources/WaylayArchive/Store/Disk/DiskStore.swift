import Foundation

/// A store in a directory. Its contents survive the end of the process, even if it is killed, and several processes can
/// share it.
///
/// ```swift
/// let store = try DiskStore(at: directory, options: .init(limits: StoreLimits(bytes: 1 << 30)))
/// ```
///
/// An SQLite index holds the heads and the small bodies of entries; each larger body is a file that is only appended
/// to. One queue writes, with all pending changes in one transaction; reads are short. An entry in memory is returned
/// only after a check that no other process has written. Only the owner can access the directory and its files (0700,
/// 0600).
///
/// Do not use it on a network file system, where locks are unreliable.
package final class DiskStore: ArchiveStore {
  /// The largest body that is kept in its entry's row.
  static let inline: Int64 = 16_384

  let options: Options
  let directory: StoreDirectory
  let identity: Identity
  let bodies: FileBody.Context
  let connections: Connections
  /// The identities of the directory, of the index, and of the other files when they were opened.
  let place: (directory: FileStatus.Identity, index: FileStatus, parts: [FileStatus.Identity?])
  let state: Locked<State>
  /// The files that writers of this store have locked, by number.
  let locked = Locked<[UInt64: FileDescriptor]>([:])
  /// The connection that writes is used on this queue only.
  let queue = DispatchQueue(label: "waylay.archive.writer")
  /// The key of the archive's digests.
  package let secretBytes: [UInt8]
  private let watch: Locked<Watch>
  private let suspension = Locked<Suspension?>(nil)
  /// Identifies this store as the author of a change.
  let writer = Int64.random(in: 1 ... .max)

  var path: String { directory.path }
  var files: FileSystem { directory.files }

  /// Opens the archive in a directory, or creates one if there is none.
  ///
  /// - Throws: ``ArchiveError`` with `ArchiveError.unavailable`, `.directoryUnusable`, `.foreignFormat`, `.wrongKey` or
  ///   `.invalidKey`, with the directory unchanged; errors of the encryption key's closure.
  package init(at directory: URL, options: Options = Options()) throws {
    let opening = try IndexOpening.open(directory, options)
    (self.options, self.directory, identity) = (options, opening.directory, opening.identity)
    (connections, place) = (opening.connections, opening.place)
    bodies = FileBody.Context(directory: opening.directory, sealing: opening.sealing)
    secretBytes = opening.identity.secret(opening.sealing)
    watch = Locked(Watch(database: opening.watch))
    state = Locked(State(limits: options.limits, lastNumber: UInt64(opening.number) << 32, opening.seen))
    if let damage = opening.damage {
      options.logger.warning("\(damage)")
      state.withLock { $0.unheard = StoreEvent(kind: .damaged, reason: damage) }
    }
    // The next load opens the store again.
    suspension.withLock { $0 = Suspension { [weak self] in self?.leave(as: .lost) } }
    if !isReadOnly { queue.async { [weak self] in self?.clearAway() } }
  }

  deinit { finish() }

  /// Closes the connections, except in a child made by `fork`: that would change the files that the parent has open.
  func finish() {
    guard isThisProcess else { return }
    connections.close()
    watch.withLock { $0.database.close() }
  }

  /// Whether the store was opened in this process; a child made by `fork` lacks its threads.
  var isThisProcess: Bool { getpid() == IndexOpening.process }

  package var isReadOnly: Bool { connections.writer == nil }

  /// Whether the store is usable: neither closed nor lost, and opened in this process.
  var isOpen: Bool { isThisProcess && state.withLock { $0.life == .open } }

  package func observe(_ handler: @escaping @Sendable (StoreEvent) -> Void) {
    let unheard = state.withLock { state in
      state.observers.append(handler)
      return state.unheard.take()
    }
    if let unheard { handler(unheard) }
  }

  func report(_ events: [StoreEvent]) { for observer in state.withLock({ $0.observers }) { events.forEach(observer) } }

  /// Throws if the store is closed or lost.
  func checkLife() throws {
    guard isThisProcess else { throw ArchiveError.forked }
    let life = state.withLock { $0.life }
    if life == .closed { throw ArchiveError.closed }
    if life == .lost { throw ArchiveError.unusable(path, SystemError("open", code: ENOENT)) }
  }

  /// Throws if nothing, or no entry of this size, can be stored.
  func check(bytes: Int64 = 0) throws {
    if isReadOnly { throw ArchiveError.readOnly }
    try checkLife()
    let most = limits.entryBytes
    if bytes > most { throw ArchiveError.entryTooLarge(bytes, most) }
  }

  package var usage: StoreUsage {
    // Includes the changes of other processes.
    _ = look()
    return state.withLock { $0.life == .open ? $0.counted : StoreUsage() }
  }

  package var moment: Int64 {
    // Include removals by other processes, so that they count as earlier than this moment.
    _ = look()
    return state.withLock { $0.clock }
  }

  package var limits: StoreLimits {
    get { state.withLock { $0.limits } }
    set {
      state.withLock { $0.limits = newValue }
      makeRoom()
    }
  }
}

extension DiskStore {
  /// The options of a store on disk.
  package struct Options: Sendable {
    /// The limits of the store.
    package var limits: StoreLimits
    /// The number of entry bytes to keep in memory as well, for responses without waiting. Pending writes are not
    /// included.
    package var memory: Int
    /// Whether to compress textual bodies (zlib) before they are written.
    package var compressesText: Bool
    /// Whether the store only reads, and creates and changes nothing.
    package var isReadOnly: Bool
    /// Returns the key for encrypting heads and bodies (AES-GCM); called once, when the store is opened. Without a key,
    /// nothing is encrypted. At least 16 bytes; 32 are usual.
    package var encryptionKey: (@Sendable () throws -> EncryptionKey)?
    /// The logger for failures and damage.
    package var logger: Logger
    /// The system calls for everything but the index; tests inject a fake.
    package var system: any SystemCalls = PosixCalls()
    /// The name of the SQLite VFS of the index; `nil` for the system's.
    var vfs: String?

    /// Makes options.
    package init(
      limits: StoreLimits = StoreLimits(), memory: Int = 8 << 20, compressesText: Bool = false,
      isReadOnly: Bool = false, encryptionKey: (@Sendable () throws -> EncryptionKey)? = nil, logger: Logger? = nil
    ) {
      (self.limits, self.memory, self.compressesText) = (limits, memory, compressesText)
      (self.isReadOnly, self.encryptionKey) = (isReadOnly, encryptionKey)
      self.logger = logger ?? Logger(label: "waylay.archive.store")
    }

    /// The names of the options that differ.
    func differences(_ other: Options, limits: StoreLimits) -> [String] {
      [
        ("limits", other.limits == limits), ("memory", other.memory == memory),
        ("compressesText", other.compressesText == compressesText),
      ].filter { !$0.1 }.map(\.0)
    }
  }

  /// Detects changes by other processes.
  fileprivate struct Watch {
    let database: Database
    /// ``Database/logHeader`` at the last check.
    var header: [UInt8] = []
    /// When the path of the index was last checked, in nanoseconds.
    var checked: UInt64 = 0
  }
}

// MARK: Looking for other processes

extension DiskStore {
  /// The interval of checks whether the directory still exists, in nanoseconds.
  private static let checkInterval: UInt64 = 100_000_000

  /// Checks whether another process has written since the last check; if so, drops the entries in memory that may have
  /// changed.
  ///
  /// - Returns: Whether the entries in memory may be returned.
  func look() -> Bool {
    guard isThisProcess else { return false }
    let now = DispatchTime.now().uptimeNanoseconds
    // The lock is held while a row is read if the log has changed. Otherwise a concurrent check could find nothing new
    // before the entries in memory are dropped.
    var isKnown = true
    let isDue = watch.withLock { watch in
      let isDue = connections.mode == .immutable || now &- watch.checked > Self.checkInterval
      if isDue { watch.checked = now }
      // Before the row is read, so that the next check detects a change between the two.
      let header = watch.database.logHeader
      if !header.isEmpty, header == watch.header { return isDue }
      do {
        adopt(try Change.Seen(watch.database))
        watch.header = header
      } catch {
        isKnown = false
        state.withLock { $0.forget() }
      }
      return isDue
    }
    return !(isDue && isGone()) && isKnown
  }

  /// Drops the entries in memory that another process may have changed.
  func adopt(_ seen: Change.Seen) {
    state.withLock { state in
      guard seen.writer != writer, seen.clock > state.clock else { return }
      state.forget()
      state.hasOthers = true
      (state.clock, state.stored) = (seen.clock, seen.totals)
    }
  }

  /// Whether the index is unusable: the store was closed or lost, or another file is at its path.
  func isGone() -> Bool {
    do {
      let status = try directory.found
      guard status?.identity == place.index.identity, try !directory.isRemoved, try directory.parts == place.parts,
        // An index that was opened without locks must not have a writer.
        connections.mode != .immutable || status == place.index
      else { return end(as: .lost, "its files are gone, were replaced, or are written without their locks") }
      return state.withLock { $0.life == .lost }
    } catch {
      // The system call failed, so the state is unknown.
      return false
    }
  }

  /// Closes the store for good; later calls find and store nothing.
  @discardableResult
  func end(as life: State.Life, _ reason: String? = nil) -> Bool {
    let isFirst = state.withLock { state in
      guard state.life == .open else { return false }
      state.life = life
      state.forgetAll()
      return true
    }
    if isFirst, let reason {
      options.logger.error(
        "the archive in \(path) is lost (\(reason)): nothing is stored or found until it is opened again")
    }
    return true
  }

  /// Puts a damaged index aside; the next opening creates a new one.
  func putAside(_ error: any Error) {
    guard isOpen else { return }
    if !isReadOnly, let lock = try? directory.locked() {
      try? directory.putAside(place.index.identity)
      withExtendedLifetime(lock) {}
    }
    end(as: .lost, "its index is damaged")
    report([
      StoreEvent(
        kind: .damaged, reason: "the index of the archive in \(path) is damaged (\(error)): the archive starts empty")
    ])
  }
}

extension ArchiveError {
  static let forked = ArchiveError(
    .unavailable,
    "archives were opened before fork(), and this is the child: open archives only after fork(), or call exec.")
}
