import Foundation

/// The directory of an archive: the file of its index, which SQLite alone opens, and the files of its larger bodies.
struct StoreDirectory: Sendable {
  static let index = "index.sqlite"
  static let log = index + "-wal"
  static let journal = index + "-journal"
  /// An index that was damaged, put aside.
  static let damaged = "index.damaged"
  /// A file that takes some of the volume, for an eviction when the volume is full.
  static let reserve = "reserve"
  private static let reserveSizes = [1 << 20, 256 << 10, 64 << 10]
  private static let bodies = "bodies"
  private static let companions = [log, index + "-shm", journal]

  let path: String
  let files: FileSystem
  private let directory: FileDescriptor
  private var bodies: FileDescriptor?

  /// Opens a directory.
  ///
  /// - Parameter isMade: Whether it is made where it is missing.
  init(_ path: String, _ files: FileSystem, isMade: Bool) throws {
    (self.path, self.files) = (path, files)
    if isMade, try files.status(of: path, followingLinks: true) == nil { try files.makeDirectory(path: path) }
    directory = try files.openDirectory(path: path)
    try Self.check(files.names(in: directory), path)
  }

  /// Opens the folder of the bodies, once the directory is known to be an archive's.
  ///
  /// - Parameter isMade: Whether it is made where it is missing, and all is for its owner alone.
  mutating func prepare(isMade: Bool) throws {
    guard isMade else {
      bodies = try? files.openFolder(Self.bodies, in: directory)
      return
    }
    try files.setMode(of: directory, to: 0o700)
    try files.makeFolder(Self.bodies, in: directory)
    bodies = try files.openFolder(Self.bodies, in: directory)
    // The names in the directory are synced with the index, by SQLite.
    let above = try? files.openDirectory(path: (path as NSString).deletingLastPathComponent)
    if let above { try files.synchronize(directory: above) }
    Protection.apply(to: path)
  }

  var indexPath: String { path + "/" + Self.index }

  /// The device and the number of the directory.
  var identity: FileStatus.Identity { get throws { try files.status(of: directory).identity } }

  /// Whether the directory has been removed (its number may be another one's by now), or its folder of bodies moved.
  func isMoved() throws -> Bool {
    let folder = try bodies.map { try files.status(of: $0).identity }
    return try files.status(of: directory).links == 0
      || folder != nil && folder != files.status(of: Self.bodies, in: directory)?.identity
  }

  /// Whether there is a folder of bodies.
  var hasBodies: Bool { (try? files.status(of: Self.bodies, in: directory)) != nil }

  /// The file that the path of the index, or of another name beside it, leads to now.
  func status(of name: String = Self.index) throws(SystemError) -> FileStatus? {
    try files.status(of: path + "/" + name)
  }

  /// - Throws: `ArchiveError.foreignFormat` for a directory that has something else in it.
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

  /// Lets one process at a time make an index or put one aside; until the result is released.
  func locked() throws -> FileDescriptor {
    let lock = try files.openDirectory(path: path)
    try files.lock(lock, isWaiting: true)
    return lock
  }

  /// Makes an empty index for its owner alone, whose permissions its companions get.
  func makeIndex() throws {
    for name in Self.companions { try files.remove(name, in: directory) }
    _ = try files.create(Self.index, in: directory)
  }

  /// Puts a damaged index aside, unless another process has done so.
  func putAside(_ identity: FileStatus.Identity?) throws {
    guard try status()?.identity == identity else { return }
    try files.rename(Self.index, to: Self.damaged, in: directory)
    for name in Self.companions { try files.remove(name, in: directory) }
  }

  func remove(_ name: String) throws { try files.remove(name, in: directory) }

  /// Makes the reserve, as large as the volume has room for.
  ///
  /// - Returns: Its size.
  func makeReserve() throws -> Int {
    if let status = try files.status(of: Self.reserve, in: directory) { return Int(status.size) }
    for size in Self.reserveSizes {
      do {
        try files.write([UInt8](repeating: 0, count: size), to: files.create(Self.reserve, in: directory), at: 0)
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

  /// Makes a file that this process alone writes to as long as it is open.
  func makeBody() throws -> (number: UInt64, file: FileDescriptor) {
    let number = UInt64.random(in: 1...UInt64(Int64.max))
    let file = try files.create(Self.name(number), in: folder())
    // A sweep may come before the lock.
    do { try files.lock(file) } catch  where error.isLocked { return try makeBody() }
    return try files.status(of: file).links > 0 ? (number, file) : makeBody()
  }

  func openBody(_ number: UInt64) throws(SystemError) -> FileDescriptor {
    try files.openForReading(Self.name(number), in: folder())
  }

  /// Opens the file of a body to write behind its end; `nil` where another writer does.
  func openBodyForWriting(_ number: UInt64) throws -> FileDescriptor? {
    let file = try files.openForWriting(Self.name(number), in: folder())
    do { try files.lock(file) } catch  where error.isLocked { return nil }
    return file
  }

  /// Whether a writer has the file of a body.
  func isLocked(_ number: UInt64) throws -> Bool {
    do { try files.lock(openBody(number)) } catch  where error.isLocked { return true }
    return false
  }

  func removeBody(_ number: UInt64) throws { try files.remove(Self.name(number), in: folder()) }

  /// The numbers of all files of bodies; a file with another kind of name is not among them.
  func bodyNumbers() throws -> [UInt64] {
    try files.names(in: folder()).compactMap { name in
      UInt64(name, radix: 16).flatMap { Self.name($0) == name ? $0 : nil }
    }
  }

  /// Syncs bodies, as far as they are still there, and the names of all.
  func synchronize(_ numbers: Set<UInt64>) throws {
    if numbers.isEmpty { return }
    if numbers.count > 16, try synchronizeAll() { return }
    for number in numbers { try ifThere { try files.synchronize(openBody(number)) } }
    try files.synchronize(directory: folder())
  }

  /// Syncs the names of all files, and the removal of names.
  func synchronizeNames() throws { for one in [directory, try folder()] { try files.synchronize(directory: one) } }

  /// Syncs the volume; `false` where the system cannot say whether that has succeeded.
  func synchronizeAll() throws -> Bool { try files.synchronizeAll(folder()) }

  /// Writes the bytes of a body once more: after a sync that has failed, the system takes them for written.
  func rewrite(_ number: UInt64) throws {
    try ifThere {
      guard let file = try openBodyForWriting(number) else { throw SystemError("flock", code: EWOULDBLOCK) }
      var offset: Int64 = 0
      while true {
        let bytes = try files.read(1 << 20, from: file, at: offset)
        if bytes.isEmpty { return }
        try files.write(bytes, to: file, at: offset)
        offset += Int64(bytes.count)
      }
    }
  }

  /// Does something with a file, as far as it is there.
  func ifThere(_ body: () throws -> Void) throws {
    do { try body() } catch let error as SystemError where error.isMissing {}
  }
}
