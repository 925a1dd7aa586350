import Crypto
import Foundation

/// Opens a directory: the lock, the identity, the key, the journal, in this order. Until the identity is known to be ours, nothing is
/// changed but the lock file.
struct Opening {
  let path: String
  let files: FileSystem
  private(set) var identity: Identity
  private(set) var sealing: Sealing
  private(set) var journal: Journal?
  private(set) var lock: FileDescriptor?
  private(set) var replay: Replay
  private(set) var generation: UInt64
  private(set) var records: UInt64

  private static let lockName = "lock"
  static let journalFolder = "journal"
  static let entriesFolder = "entries"

  init(path: String, options: DiskStore.Options, secret: [UInt8]?) throws {
    self.path = path
    files = FileSystem(fault: options.faults)
    let key = try options.encryptionKey?()
    do {
      let known = try Self.identity(path, files)
      if known == nil { try Self.prepare(path, files) }
      lock = try Self.lock(path, files, options)
      // Somebody may have made the archive while we waited for nothing but the lock.
      if let known = try known ?? Self.identity(path, files) {
        identity = known
      } else if lock == nil {
        throw ArchiveError.unusable(path, SystemError("open", code: ENOENT))
      } else {
        identity = try Self.make(path, files, Identity(secret: secret, key: key))
      }
      sealing = try identity.sealing(key, directory: path)
      let found = try Self.read(path, files, identity, repairs: lock != nil)
      replay = found.replay
      generation = found.generation
      records = found.records
      if lock != nil {
        let archive = Self.seed(identity)
        if let file = found.file {
          journal = Journal(
            folder: path + "/" + Self.journalFolder, archive: archive, files: files, file: file, generation: generation, records: records)
        } else {
          journal = try Self.begin(path, files, archive, generation)
        }
      }
    } catch let error as SystemError {
      throw ArchiveError.unusable(path, error)
    }
  }

  /// The number that new ones come after, so that none is given twice in the life of an archive.
  ///
  /// A journal has all numbers that were given since it was begun, and those before it are below its generation's first one. What a loss
  /// of power or damage took from its end is passed over.
  var lastNumber: UInt64 {
    let least = max(replay.lastNumber, generation << 32)
    return replay.isClean && replay.damaged == 0 ? least : least &+ 1 << 16
  }

  static func seed(_ identity: Identity) -> UInt64 { Checksum.of(identity.secret, seed: 0) }

  private static func identity(_ path: String, _ files: FileSystem) throws -> Identity? {
    do {
      let file = try files.openForReading(path + "/" + Identity.fileName)
      return try Identity(decoding: files.read(4096, from: file, at: 0), in: path)
    } catch let error as SystemError where error.isMissing {
      return nil
    }
  }

  /// Makes the directory, and sees that there is nothing of somebody else's in it.
  private static func prepare(_ path: String, _ files: FileSystem) throws {
    try? FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try files.makeDirectory(path)
    let ours: Set = [lockName, Identity.fileName, Identity.fileName + ".new"]
    // An archive that was killed while it was made has none of these but the lock and a draft.
    guard try files.names(in: path).allSatisfy(ours.contains) else { throw ArchiveError.foreign(path) }
  }

  private static func lock(_ path: String, _ files: FileSystem, _ options: DiskStore.Options) throws -> FileDescriptor? {
    do {
      let file = try files.openForWriting(path + "/" + lockName, creating: true)
      try file.lockExclusively()
      return file
    } catch let error as SystemError where error.isLocked {
      guard options.whenLocked.opensForReading else {
        throw ArchiveError(
          .locked,
          "the archive in \(path) is in use by another process or another store: give each a directory of its own, or open it with whenLocked: .readOnly.",
          underlying: error)
      }
      return nil
    } catch let error as SystemError where error.isForbidden && options.whenLocked.opensForReading {
      return nil
    }
  }

  private static func make(_ path: String, _ files: FileSystem, _ identity: Identity) throws -> Identity {
    let name = path + "/" + Identity.fileName
    try? files.unlink(name + ".new")
    let file = try files.create(name + ".new")
    try files.write(identity.encoded, to: file, at: 0)
    try files.synchronize(file)
    try files.rename(name + ".new", to: name)
    Protection.apply(to: path)
    return identity
  }

  static func begin(_ path: String, _ files: FileSystem, _ archive: UInt64, _ generation: UInt64) throws -> Journal {
    for name in [journalFolder, entriesFolder] { try files.makeDirectory(path + "/" + name) }
    let folder = path + "/" + journalFolder
    let name = folder + "/" + Journal.name(generation)
    try? files.unlink(name + ".new")
    let file = try files.create(name + ".new")
    try files.write(Journal.mark(generation), to: file, at: 0)
    try files.rename(name + ".new", to: name)
    return Journal(folder: folder, archive: archive, files: files, file: file, generation: generation, records: 0)
  }
}

extension Opening {
  struct Found {
    var replay = Replay()
    var generation: UInt64 = 1
    var records: UInt64 = 0
    /// The journal to go on with, where there is one.
    var file: FileDescriptor?
  }

  /// Reads the newest journal. One that cannot be read at all is an empty archive, and what entries it had are removed.
  static func read(_ path: String, _ files: FileSystem, _ identity: Identity, repairs: Bool) throws -> Found {
    let folder = path + "/" + journalFolder
    var found = Found()
    let names: [String]
    do {
      names = try files.names(in: folder)
    } catch let error as SystemError where error.isMissing {
      return found
    }
    let generations = names.compactMap(Journal.generation).sorted()
    // What a kill left: drafts, and journals that another one has taken the place of.
    if repairs {
      for name in names where Journal.generation(name).map({ $0 != generations.last }) ?? name.hasSuffix(".new") {
        try? files.unlink(folder + "/" + name)
      }
    }
    guard let last = generations.last else {
      if repairs { try? FileManager.default.removeItem(atPath: path + "/" + entriesFolder) }
      return found
    }
    found.generation = last
    let name = folder + "/" + Journal.name(last)
    let file = try repairs ? files.openForWriting(name) : files.openForReading(name)
    guard let size = file.stamp?.size else { throw SystemError("fstat") }
    do throws(FormatMark.Failure) {
      let mark: [UInt8]
      do {
        mark = try files.read(JournalRecord.size * Journal.markRecords, from: file, at: 0)
      } catch {
        throw .foreign
      }
      let read = try FormatMark(decoding: mark[...], magic: Journal.magic, version: Journal.version, payload: 8)
      var source = ByteSource(read.payload[...])
      guard source.number(UInt64.self) == last else { throw .foreign }
    } catch {
      if case .version(let version) = error {
        throw ArchiveError(
          .foreignFormat,
          "the journal of the archive in \(path) has format \(version), and this version of Waylay reads format \(Journal.version): update Waylay, or use another directory."
        )
      }
      // Not to be told apart from one that was never ours, but the directory is: begin again, and leave no file behind.
      found.replay.damaged = 1
      found.generation = last &+ 1
      if repairs {
        try? FileManager.default.removeItem(atPath: path + "/" + entriesFolder)
        try? files.unlink(name)
      }
      return found
    }
    let whole = max(0, size / Int64(JournalRecord.size) - Int64(Journal.markRecords))
    found.replay = Replay(minimumCapacity: Int(min(whole, 1 << 20)))
    found.records = try replay(file, files, into: &found.replay, from: 0, seed: Journal.seed(archive: seed(identity), generation: last))
    found.replay.finish()
    found.file = file
    return found
  }

  /// Reads records to the end of a journal, and says where that is.
  static func replay(
    _ file: FileDescriptor, _ files: FileSystem, into replay: inout Replay, from start: UInt64, seed: UInt64
  ) throws -> UInt64 {
    // As much as stays in the cache of a processor: the pages of the file need not become memory of the process.
    let portion = JournalRecord.size * 4096
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: portion, alignment: 16)
    defer { buffer.deallocate() }
    var position = start
    while true {
      let offset = (Int64(clamping: position) + Int64(Journal.markRecords)) * Int64(JournalRecord.size)
      let count = try files.read(buffer, from: file, at: offset) / JournalRecord.size
      replay.add(UnsafeRawBufferPointer(rebasing: buffer[0..<count * JournalRecord.size]), from: position, seed: seed)
      position += UInt64(count)
      if count < 4096 { return position }
    }
  }
}
