import Foundation

/// Opens a directory: the lock, the identity, the key, the log, in this order. Until the identity is known to be
/// ours, nothing is changed.
struct Opening {
  /// How often it is begun anew because the directory was replaced meanwhile.
  private static let mostAttempts = 16
  /// How long another one may take to make an archive: so many times two milliseconds.
  private static let mostWaits = 1000

  let path: String
  let files: FileSystem
  let directory: ArchiveDirectory
  private(set) var identity: Identity
  private(set) var sealing: Sealing
  private(set) var log: StoreLog?
  private(set) var lock: DirectoryLock?
  private(set) var replay: Replay
  private(set) var generation: UInt64
  private(set) var records: UInt64

  /// Opens the directory that a path leads to, when this has been done: one that was moved or removed meanwhile is
  /// closed again.
  init(path: String, options: DiskStore.Options, secret: [UInt8]?) throws {
    let key: EncryptionKey? = try options.encryptionKey?().longEnough()
    do {
      self = try Self.open(path, key, secret, options)
    } catch let error as SystemError {
      throw ArchiveError.unusable(path, error)
    }
  }

  private static func open(
    _ path: String, _ key: EncryptionKey?, _ secret: [UInt8]?, _ options: DiskStore.Options
  ) throws -> Opening {
    let files = FileSystem(options.system)
    var (attempts, waits) = (0, 0)
    while attempts < mostAttempts {
      guard let held = try hold(path, files, options, mayWait: waits < mostWaits) else {
        attempts += 1
        continue
      }
      guard !held.isBeingMade else {
        usleep(2000)
        waits += 1
        continue
      }
      attempts += 1
      do {
        let opening = try Opening(held, key, secret, options)
        if try held.directory.isOurs() { return opening }
      } catch {
        // The writer may have put a shorter log in the place of the one that was just listed.
        if held.lock == nil, (error as? SystemError)?.isMissing == true { continue }
        // Somebody may have been removing it.
        guard (try? held.directory.isOurs()) == false else { throw error }
      }
    }
    throw SystemError("open", code: EAGAIN)
  }

  /// Opens for reading what may not be written to.
  private init(_ held: Held, _ key: EncryptionKey?, _ secret: [UInt8]?, _ options: DiskStore.Options) throws {
    do {
      self = try Self(held, key, secret)
    } catch let error as SystemError
      where error.isForbidden && options.whenLocked.opensForReading && held.identity != nil
    {
      held.lock?.release()
      self = try Self(Held(directory: held.directory, lock: nil, identity: held.identity), key, secret)
    }
  }

  private init(_ held: Held, _ key: EncryptionKey?, _ secret: [UInt8]?) throws {
    directory = held.directory
    (path, files) = (directory.path, directory.files)
    lock = held.lock
    identity = try held.identity ?? Self.make(directory, Identity(secret: secret, key: key))
    sealing = try identity.sealing(key, directory: path)
    if lock != nil { try Self.tighten(directory) }
    let found = try Self.read(directory, identity, repairs: lock != nil)
    replay = found.replay
    generation = found.generation
    records = found.records
    guard lock != nil else { return }
    let archive = Self.seed(identity)
    if let file = found.file {
      // A loss of power may have left one without the other.
      try directory.makeFolders()
      log = StoreLog(
        folder: try directory.log(), archive: archive, files: files, file: file, generation: generation,
        records: records)
    } else {
      log = try Self.begin(directory, archive, generation)
    }
  }

  /// The number that new ones come after, so that none is given twice in the life of an archive.
  ///
  /// A log has all numbers that were given since it was begun, and those before it are below its generation's first
  /// one. What a loss of power or damage took from its end is passed over.
  var lastNumber: UInt64 {
    let least = max(replay.lastNumber, generation << 32)
    return replay.isClean && replay.damaged == 0 ? least : least &+ 1 << 16
  }

  static func seed(_ identity: Identity) -> UInt64 { identity.seed }
}

// MARK: The directory

extension Opening {
  /// A directory with its lock, or without and with an identity.
  private struct Held {
    var directory: ArchiveDirectory
    var lock: DirectoryLock?
    var identity: Identity?
    /// Somebody else is about to make an archive of it.
    var isBeingMade = false
  }

  /// Opens the directory, locks it, and sees that there is nothing of somebody else's in it; `nil` when it went away
  /// meanwhile.
  ///
  /// The directory may be removed, and made anew by somebody else, at any moment: a lock counts only while the path
  /// leads to what is locked.
  private static func hold(
    _ path: String, _ files: FileSystem, _ options: DiskStore.Options, mayWait: Bool
  ) throws -> Held? {
    if options.isReadOnly { return try holdForReading(path, files) }
    guard let directory = try open(path, files) else { return nil }
    let (lock, refusal) = try lock(directory)
    guard try directory.isAtItsPath() else { return nil }
    let known = try identity(directory)
    if known == nil, try isForeign(directory) {
      // Without the lock, what another one makes is seen in any order.
      if lock == nil, try identity(directory) != nil { return nil }
      throw ArchiveError.foreign(path)
    }
    if let refusal, refusal.isLocked, known == nil, mayWait { return Held(directory: directory, isBeingMade: true) }
    if let refusal, known == nil || !options.whenLocked.opensForReading {
      throw refusal.isLocked ? ArchiveError.locked(path, refusal) : refusal
    }
    return Held(directory: directory, lock: lock, identity: known)
  }

  /// Opens a directory in which nothing is to be changed.
  private static func holdForReading(_ path: String, _ files: FileSystem) throws -> Held? {
    let directory: ArchiveDirectory
    do {
      directory = try ArchiveDirectory(path: path, files)
    } catch {
      guard error.code == ENOENT else { throw error }
      throw ArchiveError(
        .directoryUnusable, "there is no directory \(path), and a read-only store creates none: check the path.",
        underlying: error)
    }
    guard try directory.isAtItsPath() else { return nil }
    guard let identity = try identity(directory) else {
      if try isForeign(directory) { throw ArchiveError.foreign(path) }
      throw ArchiveError(
        .directoryUnusable, "there is no archive in \(path), and a read-only store creates none: check the path.")
    }
    return Held(directory: directory, lock: nil, identity: identity)
  }

  private static func open(_ path: String, _ files: FileSystem) throws(SystemError) -> ArchiveDirectory? {
    for isMade in [false, true] {
      do {
        return try ArchiveDirectory(path: path, files)
      } catch {
        guard error.code == ENOENT else { throw error }
        if !isMade { try files.makeDirectory(path: path) }
      }
    }
    return nil
  }

  private static func identity(_ directory: ArchiveDirectory) throws -> Identity? {
    do {
      let file = try directory.files.openForReading(Identity.fileName, in: directory.root)
      let identity = try Identity(decoding: directory.files.read(4096, from: file, at: 0), in: directory.path)
      try directory.note(mark: file)
      return identity
    } catch let error as SystemError where error.isMissing {
      return nil
    }
  }

  /// Whether a directory without an identity has anything in it. An archive that was killed while it was made has
  /// nothing but a draft.
  private static func isForeign(_ directory: ArchiveDirectory) throws -> Bool {
    try !directory.files.names(in: directory.root).allSatisfy {
      [Identity.fileName, Identity.fileName + ".new"].contains($0)
    }
  }

  /// The lock of a directory, or why there is none: somebody else has it, or this process may not write there.
  private static func lock(_ directory: ArchiveDirectory) throws(SystemError) -> (DirectoryLock?, SystemError?) {
    do throws(SystemError) {
      let status = try directory.files.status(of: directory.root)
      // The owner of a directory can put links and other files in it at any time.
      guard status.owner == directory.files.system.user else {
        throw SystemError("open, as it belongs to another user", code: EPERM)
      }
      return (try DirectoryLock(directory), nil)
    } catch {
      guard error.isLocked || error.isForbidden else { throw error }
      return (nil, error)
    }
  }

  /// Keeps everybody else out of a directory that was there before.
  private static func tighten(_ directory: ArchiveDirectory) throws(SystemError) {
    let mode = try directory.files.status(of: directory.root).mode
    if mode & 0o077 != 0 { try directory.files.setMode(of: directory.root, to: mode & 0o700) }
  }

  /// Makes an archive of an empty directory that is locked.
  private static func make(_ directory: ArchiveDirectory, _ identity: Identity) throws -> Identity {
    let (files, root, name) = (directory.files, directory.root, Identity.fileName)
    try files.remove(name + ".new", in: root)
    let file = try files.create(name + ".new", in: root)
    try files.write(identity.encoded, to: file, at: 0)
    try files.synchronize(file)
    try files.rename(name + ".new", to: name, in: root)
    // Before there is anything else: without its mark, a loss of power would leave a directory that is nobody's,
    // forever.
    try files.synchronize(directory: root)
    try directory.note(mark: file)
    Protection.apply(to: directory.path)
    return identity
  }
}

// MARK: The log

extension Opening {
  static func begin(_ directory: ArchiveDirectory, _ archive: UInt64, _ generation: UInt64) throws -> StoreLog {
    let files = directory.files
    try directory.makeFolders()
    let folder = try directory.log()
    let name = StoreLog.name(generation)
    // Nobody's log is written over, whatever we were told when we looked for it.
    guard try files.status(of: name, in: folder) == nil else { throw SystemError("create", code: EEXIST) }
    try files.remove(name + ".new", in: folder)
    let file = try files.create(name + ".new", in: folder)
    try files.write(StoreLog.mark(generation), to: file, at: 0)
    try files.rename(name + ".new", to: name, in: folder)
    return StoreLog(folder: folder, archive: archive, files: files, file: file, generation: generation, records: 0)
  }

  struct Found {
    var replay = Replay()
    var generation: UInt64 = 1
    var records: UInt64 = 0
    /// The log to go on with, where there is one.
    var file: FileDescriptor?
  }

  /// Reads the newest log whose mark is ours. Where none is, the archive is empty, and what entries it had are
  /// removed.
  ///
  /// What the system cannot read is an error, and everything stays as it is: only what was read and is not ours goes.
  static func read(_ directory: ArchiveDirectory, _ identity: Identity, repairs: Bool) throws -> Found {
    let (files, path) = (directory.files, directory.path)
    var found = Found()
    let folder: FileDescriptor
    do {
      folder = try directory.log()
    } catch {
      guard error.isMissing, try files.status(of: ArchiveDirectory.logFolder, in: directory.root) == nil else {
        throw error
      }
      return found
    }
    let names = try files.names(in: folder)
    let generations = names.compactMap(StoreLog.generation).sorted()
    for generation in generations.reversed() {
      let name = StoreLog.name(generation)
      let file = try repairs ? files.openForWriting(name, in: folder) : files.openForReading(name, in: folder)
      let mark = try files.read(LogRecord.size * StoreLog.markRecords, from: file, at: 0)
      let isMarked = try isOurs(mark, generation, path)
      let damaged = found.replay.damaged + (isMarked ? 0 : 1)
      let size = try files.status(of: file).size
      let whole = max(0, size / Int64(LogRecord.size) - Int64(StoreLog.markRecords))
      found.generation = generation
      found.replay = Replay(minimumCapacity: Int(min(whole, 1 << 20)))
      found.records = try replay(
        file, files, into: &found.replay, from: 0, seed: StoreLog.seed(archive: seed(identity), generation: generation))
      // A mark that is damaged costs nothing, where there is a record that only this archive can have. Without one, it
      // is not to be told apart from a log that was never ours: go on with an older one, or begin again.
      guard isMarked || UInt64(found.replay.damaged) < found.records else {
        found = Found(replay: Replay())
        found.replay.damaged = damaged
        continue
      }
      found.replay.damaged += damaged
      found.replay.finish()
      found.file = file
      break
    }
    if repairs {
      // What a kill left: drafts, and logs that another one has taken the place of, once that is sure to be there.
      if generations.count > 1 { try files.synchronize(directory: folder) }
      if found.file == nil { try directory.removeEntries() }
      for name in names
      where StoreLog.generation(name).map({ found.file == nil || $0 != found.generation }) ?? name.hasSuffix(".new") {
        try? files.remove(name, in: folder)
      }
    }
    if found.file == nil, let last = generations.last { found.generation = last &+ 1 }
    return found
  }

  /// Whether the beginning of a log is that of ours.
  private static func isOurs(_ bytes: [UInt8], _ generation: UInt64, _ path: String) throws -> Bool {
    do throws(FormatMark.Failure) {
      let mark = try FormatMark(decoding: bytes[...], magic: StoreLog.magic, version: StoreLog.version, payload: 8)
      var source = ByteSource(mark.payload[...])
      return source.number(UInt64.self) == generation
    } catch {
      guard case .version(let version) = error else { return false }
      throw ArchiveError(
        .foreignFormat,
        "the log of the archive in \(path) has format \(version), and this version of Waylay reads format "
          + "\(StoreLog.version): update Waylay, or use another directory.")
    }
  }

  /// Reads records to the end of a log, and says where that is.
  static func replay(
    _ file: FileDescriptor, _ files: FileSystem, into replay: inout Replay, from start: UInt64, seed: UInt64
  ) throws -> UInt64 {
    // As much as stays in the cache of a processor: the pages of the file need not become memory of the process.
    let portion = LogRecord.size * 4096
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: portion, alignment: 16)
    defer { buffer.deallocate() }
    var position = start
    while true {
      let offset = (Int64(clamping: position) + Int64(StoreLog.markRecords)) * Int64(LogRecord.size)
      let count = try files.read(buffer, from: file, at: offset) / LogRecord.size
      replay.add(UnsafeRawBufferPointer(rebasing: buffer[0..<count * LogRecord.size]), from: position, seed: seed)
      position += UInt64(count)
      if count < 4096 { return position }
    }
  }
}
