import Foundation

/// What a store does with files, made of the system's calls: interrupted calls are made again, and what was cut short
/// goes on.
///
/// A name belongs to the open directory that it is given with, and no link is followed; without a directory it is a
/// path.
struct FileSystem: Sendable {
  let system: any SystemCalls

  init(_ system: any SystemCalls = PosixCalls()) { self.system = system }

  private func repeating<Value>(_ call: () throws(SystemError) -> Value) throws(SystemError) -> Value {
    while true {
      do throws(SystemError) {
        return try call()
      } catch {
        guard error.code == EINTR else { throw error }
      }
    }
  }

  private func open(_ name: String, _ directory: FileDescriptor?, _ flags: Int32) throws(SystemError) -> FileDescriptor
  {
    let number = directory?.raw ?? PosixCalls.workingDirectory
    let file = try repeating { () throws(SystemError) in
      try system.open(name, in: number, flags: flags | O_CLOEXEC, mode: 0o600)
    }
    return FileDescriptor(file, system)
  }

  // MARK: Files

  /// Makes a file that must not exist yet.
  func create(_ name: String, in directory: FileDescriptor?) throws(SystemError) -> FileDescriptor {
    try open(name, directory, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
  }

  func openForReading(_ name: String, in directory: FileDescriptor?) throws(SystemError) -> FileDescriptor {
    try open(name, directory, O_RDONLY | O_NOFOLLOW)
  }

  func openForWriting(
    _ name: String, in directory: FileDescriptor?, creating: Bool = false
  ) throws(SystemError) -> FileDescriptor {
    try open(name, directory, O_RDWR | O_NOFOLLOW | (creating ? O_CREAT : 0))
  }

  /// Writes all of `bytes` at `offset`.
  func write(_ bytes: UnsafeRawBufferPointer, to file: FileDescriptor, at offset: Int64) throws(SystemError) {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = try repeating { () throws(SystemError) in try system.write(file.raw, rest, at: offset + Int64(done)) }
      guard count > 0 else { throw SystemError("write", code: ENOSPC) }
      done += count
    }
  }

  func write(_ bytes: [UInt8], to file: FileDescriptor, at offset: Int64) throws {
    try bytes.withUnsafeBytes { try write($0, to: file, at: offset) }
  }

  func write(_ bytes: Data, to file: FileDescriptor, at offset: Int64) throws {
    try bytes.withUnsafeBytes { try write($0, to: file, at: offset) }
  }

  /// Reads up to the end of `bytes` or of the file, and says how much there was.
  func read(
    _ bytes: UnsafeMutableRawBufferPointer, from file: FileDescriptor, at offset: Int64
  ) throws(SystemError) -> Int {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
      let count = try repeating { () throws(SystemError) in
        try system.read(file.raw, into: rest, at: offset + Int64(done))
      }
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Reads at most `count` bytes.
  func read(_ count: Int, from file: FileDescriptor, at offset: Int64) throws -> [UInt8] {
    // All arrays without elements are one object, which the standard library would write to here.
    guard count > 0 else { return [] }
    return try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = try read(UnsafeMutableRawBufferPointer(buffer), from: file, at: offset)
    }
  }

  func truncate(_ file: FileDescriptor, to length: Int64) throws(SystemError) {
    try repeating { () throws(SystemError) in try system.truncate(file.raw, to: length) }
  }

  func status(of file: FileDescriptor) throws(SystemError) -> FileStatus {
    try repeating { () throws(SystemError) in try system.status(of: file.raw) }
  }

  /// What the system says of a name; `nil` where there is none.
  func status(
    of name: String, in directory: FileDescriptor?, followingLinks: Bool = false
  ) throws(SystemError) -> FileStatus? {
    let number = directory?.raw ?? PosixCalls.workingDirectory
    do {
      return try repeating { () throws(SystemError) in
        try system.status(of: name, in: number, followingLinks: followingLinks)
      }
    } catch {
      guard error.isMissing else { throw error }
      return nil
    }
  }

  func synchronize(_ file: FileDescriptor) throws(SystemError) {
    try repeating { () throws(SystemError) in try system.synchronize(file.raw, isDirectory: false) }
  }

  /// Takes the lock of a file or a directory unless somebody else has it; it lasts as long as the descriptor.
  func lock(_ file: FileDescriptor) throws(SystemError) {
    try repeating { () throws(SystemError) in try system.lock(file.raw) }
  }

  /// Gives the lock back; closing would do, but somebody may still hold the descriptor.
  func unlock(_ file: FileDescriptor) { system.unlock(file.raw) }

  // MARK: Names

  /// Removes a file, where it exists.
  func remove(_ name: String, in directory: FileDescriptor?) throws(SystemError) {
    let number = directory?.raw ?? PosixCalls.workingDirectory
    do {
      try repeating { () throws(SystemError) in try system.remove(name, in: number, isDirectory: false) }
    } catch {
      guard error.code == ENOENT else { throw error }
    }
  }

  /// Gives a file another name; a file that has that name is no more.
  func rename(_ name: String, to new: String, in directory: FileDescriptor?) throws(SystemError) {
    let number = directory?.raw ?? PosixCalls.workingDirectory
    try repeating { () throws(SystemError) in try system.rename(name, to: new, in: number) }
  }

  // MARK: Directories

  /// Opens a directory that a path leads to, also by way of links.
  func openDirectory(path: String) throws(SystemError) -> FileDescriptor {
    try open(path, nil, O_RDONLY | O_DIRECTORY)
  }

  /// Opens a folder in a directory; a link is none.
  func openFolder(_ name: String, in directory: FileDescriptor) throws(SystemError) -> FileDescriptor {
    try open(name, directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  }

  /// Makes a folder that only its owner may enter, where it does not exist yet.
  func makeFolder(_ name: String, in directory: FileDescriptor?) throws(SystemError) {
    try makeFolder(name, directory, mode: 0o700)
  }

  private func makeFolder(_ name: String, _ directory: FileDescriptor?, mode: UInt32) throws(SystemError) {
    let number = directory?.raw ?? PosixCalls.workingDirectory
    do {
      try repeating { () throws(SystemError) in try system.makeDirectory(name, in: number, mode: mode) }
    } catch {
      guard error.code == EEXIST else { throw error }
    }
  }

  /// Makes a directory at a path, for its owner alone, and those above it, as everybody's directories are.
  func makeDirectory(path: String) throws(SystemError) {
    do {
      try makeFolder(path, in: nil)
    } catch {
      let above = (path as NSString).deletingLastPathComponent
      guard error.code == ENOENT, above != path, !above.isEmpty else { throw error }
      try makeParents(above)
      try makeFolder(path, in: nil)
    }
  }

  private func makeParents(_ path: String) throws(SystemError) {
    do {
      try makeFolder(path, nil, mode: 0o777)
    } catch {
      let above = (path as NSString).deletingLastPathComponent
      guard error.code == ENOENT, above != path, !above.isEmpty else { throw error }
      try makeParents(above)
      try makeFolder(path, nil, mode: 0o777)
    }
  }

  func setMode(of file: FileDescriptor, to mode: UInt32) throws(SystemError) {
    try repeating { () throws(SystemError) in try system.setMode(of: file.raw, to: mode) }
  }

  /// Syncs the names in a directory to the disk.
  func synchronize(directory: FileDescriptor) throws(SystemError) {
    try repeating { () throws(SystemError) in try system.synchronize(directory.raw, isDirectory: true) }
  }

  /// The names in a directory.
  func names(in directory: FileDescriptor) throws(SystemError) -> [String] {
    try repeating { () throws(SystemError) in try system.names(in: directory.raw) }
  }

  /// Removes a folder that has nothing in it.
  func removeFolder(_ name: String, in directory: FileDescriptor) throws(SystemError) {
    try repeating { () throws(SystemError) in try system.remove(name, in: directory.raw, isDirectory: true) }
  }

  /// Removes a folder and all that is in it, where it exists; links are removed, not followed.
  func removeTree(_ name: String, in directory: FileDescriptor) throws(SystemError) {
    do {
      let folder = try openFolder(name, in: directory)
      for name in try names(in: folder) {
        if try status(of: name, in: folder)?.isDirectory == true {
          try removeTree(name, in: folder)
        } else {
          try remove(name, in: folder)
        }
      }
      try removeFolder(name, in: directory)
    } catch {
      guard error.code == ENOENT else { throw error }
    }
  }
}

/// The calls to the system that a store makes: all of them, so that a test can have any of them fail, and can be the
/// disk.
///
/// Names are relative to an open directory; in ``SystemCalls/workingDirectory`` they are paths. Each call does what the
/// POSIX call of the same meaning does, once: it may be interrupted, and it may read or write less than it was asked
/// to.
package protocol SystemCalls: Sendable {
  func open(_ name: String, in directory: Int32, flags: Int32, mode: UInt32) throws(SystemError) -> Int32
  func close(_ file: Int32)
  func status(of file: Int32) throws(SystemError) -> FileStatus
  func status(of name: String, in directory: Int32, followingLinks: Bool) throws(SystemError) -> FileStatus
  func read(_ file: Int32, into bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int
  func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) -> Int
  func truncate(_ file: Int32, to length: Int64) throws(SystemError)
  func setMode(of file: Int32, to mode: UInt32) throws(SystemError)
  /// Asks the system to write what is buffered to the disk: the contents of a file, or the names in a directory.
  func synchronize(_ file: Int32, isDirectory: Bool) throws(SystemError)
  /// Takes the lock of a file or a directory, unless another open one has it.
  func lock(_ file: Int32) throws(SystemError)
  func unlock(_ file: Int32)
  func names(in directory: Int32) throws(SystemError) -> [String]
  func makeDirectory(_ name: String, in directory: Int32, mode: UInt32) throws(SystemError)
  func remove(_ name: String, in directory: Int32, isDirectory: Bool) throws(SystemError)
  func rename(_ name: String, to new: String, in directory: Int32) throws(SystemError)
  /// Whose files this process makes.
  var user: UInt32 { get }
}

extension SystemCalls {
  /// Stands for the directory that paths are relative to which do not begin with a slash.
  package static var workingDirectory: Int32 { AT_FDCWD }
}

/// The system's own calls.
package struct PosixCalls: SystemCalls {
  package init() {}

  package var user: UInt32 { UInt32(geteuid()) }

  package func open(_ name: String, in directory: Int32, flags: Int32, mode: UInt32) throws(SystemError) -> Int32 {
    let file = openat(directory, name, flags, mode_t(mode))
    guard file >= 0 else { throw SystemError(flags & O_CREAT == 0 ? "open" : "create") }
    return file
  }

  package func close(_ file: Int32) { _ = WaylayCore.close(file) }

  package func status(of file: Int32) throws(SystemError) -> FileStatus {
    var status = stat()
    guard fstat(file, &status) == 0 else { throw SystemError("fstat") }
    return FileStatus(status)
  }

  package func status(of name: String, in directory: Int32, followingLinks: Bool) throws(SystemError) -> FileStatus {
    var status = stat()
    guard fstatat(directory, name, &status, followingLinks ? 0 : AT_SYMLINK_NOFOLLOW) == 0 else {
      throw SystemError("stat")
    }
    return FileStatus(status)
  }

  package func read(
    _ file: Int32, into bytes: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int {
    guard let start = bytes.baseAddress else { return 0 }
    let count = pread(file, start, bytes.count, off_t(offset))
    guard count >= 0 else { throw SystemError("read") }
    return count
  }

  package func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
    guard let start = bytes.baseAddress else { return 0 }
    let count = pwrite(file, start, bytes.count, off_t(offset))
    guard count >= 0 else { throw SystemError("write") }
    return count
  }

  package func truncate(_ file: Int32, to length: Int64) throws(SystemError) {
    guard ftruncate(file, off_t(length)) == 0 else { throw SystemError("truncate") }
  }

  package func setMode(of file: Int32, to mode: UInt32) throws(SystemError) {
    guard fchmod(file, mode_t(mode)) == 0 else { throw SystemError("chmod") }
  }

  package func synchronize(_ file: Int32, isDirectory: Bool) throws(SystemError) {
    #if canImport(Darwin)
      if fcntl(file, F_FULLFSYNC) == 0 { return }
      guard fsync(file) == 0 else { throw SystemError("sync") }
    #else
      guard (isDirectory ? fsync(file) : fdatasync(file)) == 0 else { throw SystemError("sync") }
    #endif
  }

  package func lock(_ file: Int32) throws(SystemError) {
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else { throw SystemError("flock") }
  }

  package func unlock(_ file: Int32) { _ = flock(file, LOCK_UN) }

  package func names(in directory: Int32) throws(SystemError) -> [String] {
    // A descriptor of its own: the place in a directory belongs to the open one.
    let file = try open(".", in: directory, flags: O_RDONLY | O_DIRECTORY | O_CLOEXEC, mode: 0)
    guard let stream = fdopendir(file) else {
      let error = SystemError("readdir")
      close(file)
      throw error
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else { throw SystemError("readdir") }
        return names
      }
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
          String(cString: $0)
        }
      }
      if name != ".", name != ".." { names.append(name) }
    }
  }

  package func makeDirectory(_ name: String, in directory: Int32, mode: UInt32) throws(SystemError) {
    guard mkdirat(directory, name, mode_t(mode)) == 0 else { throw SystemError("mkdir") }
  }

  package func remove(_ name: String, in directory: Int32, isDirectory: Bool) throws(SystemError) {
    guard unlinkat(directory, name, isDirectory ? AT_REMOVEDIR : 0) == 0 else { throw SystemError("unlink") }
  }

  package func rename(_ name: String, to new: String, in directory: Int32) throws(SystemError) {
    guard renameat(directory, name, directory, new) == 0 else { throw SystemError("rename") }
  }
}

/// An open file or directory, closed when nobody holds it any more.
final class FileDescriptor: Sendable {
  let raw: Int32
  private let system: any SystemCalls

  init(_ raw: Int32, _ system: any SystemCalls) {
    self.raw = raw
    self.system = system
  }

  deinit { system.close(raw) }
}
