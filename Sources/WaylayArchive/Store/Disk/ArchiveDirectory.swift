import Foundation

/// The directory of an archive, held open: everything in it is reached through its descriptor, so that whatever the
/// path leads to one day, no file of another archive is ever touched.
final class ArchiveDirectory: Sendable {
  static let logFolder = "log"
  static let entriesFolder = "entries"
  /// How many folders of partitions are held open at once.
  private static let mostFolders = 32

  private struct State {
    /// The folders that are open, by their names: those of the archive itself, and those of partitions.
    var own: [String: FileDescriptor] = [:]
    var partitions: [String: FileDescriptor] = [:]
    /// How often folders that were open have been closed because they went away.
    var departures = 0
    /// The file that says which archive it is; open, so that no other file gets its number.
    var mark: (file: FileDescriptor, identity: FileStatus.Identity)?
    /// Directories whose names the disk has refused.
    var refused: Set<FileStatus.Identity> = []
    /// Whether the disk has the names that lead here.
    var isPathSynchronized = false

    /// Closes the folder of a partition.
    mutating func forget(_ name: String) {
      departures += 1
      partitions[name] = nil
    }
  }

  let path: String
  let files: FileSystem
  let root: FileDescriptor
  private let identity: FileStatus.Identity
  private let state = Locked(State())

  /// Opens a directory; the path may lead there by way of links.
  init(path: String, _ files: FileSystem) throws(SystemError) {
    self.path = path
    self.files = files
    root = try files.openDirectory(path: path)
    identity = try files.status(of: root).identity
  }

  /// Notes which file says which archive it is; once it is another one, so is the archive.
  func note(mark: FileDescriptor) throws(SystemError) {
    let identity = try files.status(of: mark).identity
    state.withLock { $0.mark = (mark, identity) }
  }

  /// Whether another path leads here as well.
  func isSame(as other: ArchiveDirectory) -> Bool { identity == other.identity }

  /// Whether the path leads to this directory.
  func isAtItsPath() throws(SystemError) -> Bool {
    try files.status(of: path, in: nil, followingLinks: true)?.identity == identity
  }

  /// Whether the path still leads here, and this is still the archive that was opened.
  func isOurs() throws(SystemError) -> Bool {
    guard try isAtItsPath() else { return false }
    let mark = try files.status(of: Identity.fileName, in: root)?.identity
    guard let known = state.withLock({ $0.mark?.identity }) else { return true }
    return mark == known
  }

  // MARK: Folders

  /// The folder of the log.
  func log() throws(SystemError) -> FileDescriptor { try folder(Self.logFolder) }

  private func folder(_ name: String) throws(SystemError) -> FileDescriptor {
    if let folder = state.withLock({ $0.own[name] }) { return folder }
    let folder = try files.openFolder(name, in: root)
    state.withLock { $0.own[name] = folder }
    return folder
  }

  /// Makes the folders of an archive where they do not exist yet.
  func makeFolders() throws(SystemError) {
    for name in [Self.logFolder, Self.entriesFolder] { try files.makeFolder(name, in: root) }
  }

  /// The folder of a partition.
  func partition(_ name: String) throws(SystemError) -> FileDescriptor {
    let (known, departures) = state.withLock { ($0.partitions[name], $0.departures) }
    if let known { return known }
    let folder = try files.openFolder(name, in: self.folder(Self.entriesFolder))
    state.withLock { state in
      // It may be one of those that have gone since, and another one there by now.
      guard state.departures == departures else { return }
      if state.partitions.count >= Self.mostFolders { state.partitions = [:] }
      state.partitions[name] = folder
    }
    return folder
  }

  /// Does something in the folder of a partition; once more when the folder that was open has been removed and made
  /// again.
  private func inPartition<Value>(
    _ name: String, _ work: (FileDescriptor) throws(SystemError) -> Value
  ) throws(SystemError) -> Value {
    let folder = try partition(name)
    do {
      return try work(folder)
    } catch {
      guard error.isMissing else { throw error }
      state.withLock { $0.forget(name) }
      let now = try partition(name)
      guard try files.status(of: now).identity != files.status(of: folder).identity else { throw error }
      return try work(now)
    }
  }

  // MARK: Files of entries

  /// Opens the file of an entry to read it.
  func openForReading(_ file: EntryFile, _ folder: String) throws(SystemError) -> FileDescriptor {
    try inPartition(folder) { folder throws(SystemError) in try files.openForReading(file.name, in: folder) }
  }

  /// Opens the file of an entry to go on with it.
  func openForWriting(_ file: EntryFile, _ folder: String) throws(SystemError) -> FileDescriptor {
    try inPartition(folder) { folder throws(SystemError) in try files.openForWriting(file.name, in: folder) }
  }

  /// Whether the file of an entry is surely not there: asked once more, because one answer may be a mistake.
  func isMissing(_ file: EntryFile, _ folder: String) throws(SystemError) -> Bool {
    guard let entries = try files.status(of: Self.entriesFolder, in: root) else { return true }
    guard entries.isDirectory else { throw SystemError("open", code: ENOTDIR) }
    let folders = try self.folder(Self.entriesFolder)
    guard let status = try files.status(of: folder, in: folders) else { return true }
    guard status.isDirectory else { throw SystemError("open", code: ENOTDIR) }
    return try files.status(of: file.name, in: files.openFolder(folder, in: folders)) == nil
  }

  /// Makes the file of an entry, and its folder where it is the first.
  func create(_ file: EntryFile, _ folder: String) throws(SystemError) -> FileDescriptor {
    do {
      return try inPartition(folder) { folder throws(SystemError) in try files.create(file.name, in: folder) }
    } catch {
      switch error.code {
      case ENOENT:
        // A loss of power may have taken the folder of all folders, too.
        state.withLock { state in
          state.forget(folder)
          state.own[Self.entriesFolder] = nil
        }
        try files.makeFolder(Self.entriesFolder, in: root)
        try files.makeFolder(folder, in: self.folder(Self.entriesFolder))
        return try files.create(file.name, in: partition(folder))
      case EEXIST:
        // Only a log that lost records does not know of it, and then nobody else does.
        let folder = try partition(folder)
        try files.remove(file.name, in: folder)
        return try files.create(file.name, in: folder)
      default: throw error
      }
    }
  }

  /// Removes the file of an entry, where it exists.
  func remove(_ file: EntryFile, _ folder: String) throws(SystemError) {
    do {
      try files.remove(file.name, in: partition(folder))
    } catch {
      guard error.code == ENOENT else { throw error }
    }
  }

  /// Removes the folder of a partition, if nothing is in it.
  func removePartition(_ folder: String) {
    guard let entries = try? self.folder(Self.entriesFolder) else { return }
    guard (try? files.removeFolder(folder, in: entries)) != nil else { return }
    state.withLock { $0.forget(folder) }
  }

  /// Removes all files of entries.
  func removeEntries() throws(SystemError) {
    state.withLock { state in
      state.own[Self.entriesFolder] = nil
      state.partitions = [:]
    }
    try files.removeTree(Self.entriesFolder, in: root)
  }

  // MARK: The disk

  /// Syncs the names in a partition's folder to the disk.
  func synchronize(partition folder: String) throws(SystemError) {
    do {
      try synchronize(partition(folder))
    } catch {
      // With nothing in it, it need not be there.
      guard error.isMissing, try isMissing(folder: folder) else { throw error }
    }
  }

  private func isMissing(folder: String) throws(SystemError) -> Bool {
    guard try files.status(of: Self.entriesFolder, in: root) != nil else { return true }
    return try files.status(of: folder, in: self.folder(Self.entriesFolder)) == nil
  }

  /// Syncs the names of the archive's own folders and files to the disk, and its own name where that is allowed.
  func synchronize() throws(SystemError) {
    try synchronize(log())
    if try files.status(of: Self.entriesFolder, in: root) != nil { try synchronize(folder(Self.entriesFolder)) }
    try synchronize(root)
    guard !state.withLock({ $0.isPathSynchronized }) else { return }
    // Once: any of the directories above may have been made for this one.
    var above = (path as NSString).deletingLastPathComponent
    while !above.isEmpty {
      do {
        try files.synchronize(directory: files.openDirectory(path: above))
      } catch {
        // Those of others may not let themselves be opened, and are old.
        guard error.isForbidden || error.code == EINVAL else { throw error }
      }
      let next = (above as NSString).deletingLastPathComponent
      if next == above { break }
      above = next
    }
    state.withLock { $0.isPathSynchronized = true }
  }

  private func synchronize(_ directory: FileDescriptor) throws(SystemError) {
    let identity = try files.status(of: directory).identity
    if state.withLock({ $0.refused.contains(identity) }) {
      // The system tells of a failure once, and then takes what was lost for written: unless something is written
      // again.
      let name = ".synchronized"
      try files.remove(name, in: directory)
      _ = try files.create(name, in: directory)
      try files.remove(name, in: directory)
    }
    do {
      try files.synchronize(directory: directory)
      state.withLock { _ = $0.refused.remove(identity) }
    } catch {
      state.withLock { _ = $0.refused.insert(identity) }
      throw error
    }
  }
}

/// What keeps a second writer from a directory: the lock of the directory itself. There is no file that somebody could
/// remove to open the door, and where a directory takes the place of another one, its lock is another one, too.
final class DirectoryLock: Sendable {
  private let directory: ArchiveDirectory

  /// Takes the lock, unless somebody else has it.
  init(_ directory: ArchiveDirectory) throws(SystemError) {
    self.directory = directory
    try directory.files.lock(directory.root)
  }

  deinit {
    // Closing would not do: a process that is just being started may have the descriptor for a moment, too.
    release()
  }

  /// Lets others in; twice does no harm.
  func release() { directory.files.unlock(directory.root) }
}
