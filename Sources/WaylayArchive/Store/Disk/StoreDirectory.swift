import Foundation

/// The directory of an archive: the file of its index, which SQLite alone opens, and the files of its larger bodies.
struct StoreDirectory: Sendable {
  static let index = "index.sqlite"
  /// The prefix of the names of unfinished indexes, which lack some of their tables.
  private static let unfinished = ".index-"
  /// An index that was damaged, put aside.
  static let damaged = "index.damaged"
  /// A file that reserves space for an eviction on a full volume.
  static let reserve = "reserve"
  private static let reserveSizes = [1 << 20, 256 << 10, 64 << 10]
  private static let bodies = "bodies"
  private static let companions = ["-wal", "-shm", "-journal"].map { index + $0 }

  let path: String
  let files: FileSystem
  private let directory: FileDescriptor
  private var bodies: FileDescriptor?

  /// Opens a directory.
  ///
  /// - Parameter isMade: Whether to create a missing directory.
  init(_ path: String, _ files: FileSystem, isMade: Bool) throws {
    (self.path, self.files) = (path, files)
    if isMade, try files.status(of: path, followingLinks: true) == nil { try files.makeDirectory(path: path) }
    directory = try files.open(path, for: .directory)
    try Self.check(files.names(in: directory), path)
  }

  /// Opens the folder of the bodies, after the directory has been recognized as an archive.
  ///
  /// - Parameter isMade: Whether to create a missing folder, and to restrict all access to the owner.
  mutating func prepare(isMade: Bool) throws {
    guard isMade else { return bodies = try? files.open(Self.bodies, in: directory, for: .folder) }
    try files.setMode(of: directory, to: 0o700)
    try files.makeFolder(Self.bodies, in: directory)
    bodies = try files.open(Self.bodies, in: directory, for: .folder)
    // SQLite syncs the names in the directory with the index; the name of the directory itself is synced here.
    let above = try? files.open((path as NSString).deletingLastPathComponent, for: .directory)
    if let above { try files.synchronize(above, isDirectory: true) }
    Protection.apply(to: path)
  }

  var indexPath: String { path + "/" + Self.index }

  /// The device and inode of the directory.
  var identity: FileStatus.Identity { get throws { try files.status(of: directory).identity } }

  /// Whether the directory was removed (its inode may have been reused).
  var isRemoved: Bool { get throws { try files.status(of: directory).links == 0 } }

  /// Whether there is a folder of bodies.
  var hasBodies: Bool { (try? files.status(of: Self.bodies, in: directory)) != nil }

  /// The identities of the log, its shared memory and the folder of bodies, which do not change while a connection is
  /// open.
  var parts: [FileStatus.Identity?] {
    get throws { try (Self.companions.prefix(2) + [Self.bodies]).map { try status(of: $0)?.identity } }
  }

  /// The status of a file in the directory, by default the index.
  func status(of name: String = Self.index) throws(SystemError) -> FileStatus? {
    try files.status(of: name, in: directory)
  }

  /// The status of the file at the index's path. It is another file if the directory was moved and a new one took its
  /// place.
  var found: FileStatus? { get throws { try files.status(of: indexPath) } }

  /// - Throws: `ArchiveError.foreignFormat` for a directory with other files.
  private static func check(_ names: [String], _ path: String) throws(ArchiveError) {
    let ours = Set(companions + [index, damaged, reserve, bodies])
    let strangers = names.filter { !ours.contains($0) && !$0.hasPrefix(".") }
    if names.contains(index) || strangers.isEmpty { return }
    throw ArchiveError(
      .foreignFormat,
      strangers.contains("waylay-archive") || strangers.contains("entries")
        ? "\(path) contains an archive of an earlier format, whose bodies are readable: remove the directory (rm -r), "
          + "or use another one. Nothing was changed."
        : "\(path) contains something other than an archive: use an empty directory. Nothing was changed.")
  }

  /// Locks the directory while an index is created or put aside. Releasing the result unlocks it.
  func locked() throws -> FileDescriptor {
    let lock = try files.open(".", in: directory, for: .directory)
    try files.lock(lock, isWaiting: true)
    return lock
  }

  /// Creates the index for its owner alone; SQLite gives its companions the same permissions.
  ///
  /// The file is renamed to its final name after its tables exist: SQLite finds the companions by path, and if the
  /// directory is moved meanwhile, the next archive at this path has companions of the same names.
  ///
  /// - Parameter fill: Creates the tables in the empty file at a path.
  func makeIndex(_ fill: (_ path: String) throws -> Void) throws {
    for name in try files.names(in: directory) where name.hasPrefix(Self.unfinished) || Self.companions.contains(name) {
      try files.remove(name, in: directory)
    }
    let name = Self.unfinished + Self.name(.random(in: 1 ... .max))
    _ = try files.open(name, in: directory, for: .making)
    try fill(path + "/" + name)
    try files.rename(name, to: Self.index, in: directory)
  }

  /// Puts a damaged index aside, unless another process has already done so.
  func putAside(_ identity: FileStatus.Identity?) throws {
    guard try status()?.identity == identity else { return }
    try files.rename(Self.index, to: Self.damaged, in: directory)
    for name in Self.companions { try files.remove(name, in: directory) }
  }

  func remove(_ name: String) throws { try files.remove(name, in: directory) }

  /// Creates the reserve file, as large as the volume allows.
  ///
  /// - Returns: Its size.
  func makeReserve() throws -> Int {
    if let status = try files.status(of: Self.reserve, in: directory) { return Int(status.size) }
    for size in Self.reserveSizes {
      do {
        let file = try files.open(Self.reserve, in: directory, for: .making)
        try files.write([UInt8](repeating: 0, count: size), to: file, at: 0)
        return size
      } catch { try files.remove(Self.reserve, in: directory) }
    }
    return 0
  }

  // MARK: Bodies

  private static func name(_ number: UInt64) -> String { String(number, radix: 16) }

  func name(of number: UInt64) -> String { Self.bodies + "/" + Self.name(number) }

  private func folder() throws(SystemError) -> FileDescriptor {
    guard let bodies else { throw SystemError("open", code: ENOENT) }
    return bodies
  }

  /// Creates and locks the file of a body.
  func makeBody() throws -> (number: UInt64, file: FileDescriptor) {
    let number = UInt64.random(in: 1...UInt64(Int64.max))
    let file = try files.open(Self.name(number), in: folder(), for: .making)
    // The file may be removed as a stray before it is locked.
    do { try files.lock(file) } catch  where error.isLocked { return try makeBody() }
    return try files.status(of: file).links > 0 ? (number, file) : makeBody()
  }

  func openBody(_ number: UInt64) throws(SystemError) -> FileDescriptor {
    try files.open(Self.name(number), in: folder(), for: .reading)
  }

  /// Opens and locks the file of a body for appending; `nil` if another writer has locked or removed it.
  func openBodyForWriting(_ number: UInt64) throws(SystemError) -> FileDescriptor? {
    do throws(SystemError) {
      let file = try files.open(Self.name(number), in: folder(), for: .writing)
      try files.lock(file)
      return file
    } catch  where error.isLocked || error.isMissing { return nil }
  }

  /// Whether a writer has locked the file of a body.
  func isLocked(_ number: UInt64) throws -> Bool {
    do { try files.lock(openBody(number)) } catch  where error.isLocked { return true }
    return false
  }

  func removeBody(_ number: UInt64) throws { try files.remove(Self.name(number), in: folder()) }

  /// The numbers of the files of bodies; files with other names are ignored.
  func bodyNumbers() throws -> [UInt64] {
    try files.names(in: folder()).compactMap { name in
      UInt64(name, radix: 16).flatMap { Self.name($0) == name ? $0 : nil }
    }
  }

  /// Syncs bodies, if they still exist, and the names of all files.
  func synchronize(_ numbers: Set<UInt64>) throws {
    if numbers.isEmpty { return }
    if numbers.count > 16, try files.synchronizeAll(folder()) { return }
    for number in numbers { try ifThere { try files.synchronize(openBody(number)) } }
    try files.synchronize(folder(), isDirectory: true)
  }

  /// Syncs the names of all files, including removals.
  func synchronizeNames() throws {
    for one in [directory, try folder()] { try files.synchronize(one, isDirectory: true) }
  }

  /// Writes the bytes of a body again: after a failed sync, the system may consider its pages clean.
  func rewrite(_ number: UInt64) throws {
    try ifThere {
      // Do not lock the file: a writer that holds the lock only appends.
      let file = try files.open(Self.name(number), in: folder(), for: .writing)
      var offset: Int64 = 0
      while true {
        let bytes = try files.read(1 << 20, from: file, at: offset)
        if bytes.isEmpty { return }
        try files.write(bytes, to: file, at: offset)
        offset += Int64(bytes.count)
      }
    }
  }

  /// Runs a closure, and ignores that its file does not exist.
  func ifThere(_ body: () throws -> Void) throws {
    do { try body() } catch let error as SystemError where error.isMissing {}
  }
}
