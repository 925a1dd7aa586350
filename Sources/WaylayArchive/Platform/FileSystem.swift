import Foundation

/// File operations over the system calls: they repeat interrupted calls, and continue short reads and writes.
///
/// A name belongs to the open directory that is passed with it, and must not be a symbolic link; without a directory it
/// is a path.
struct FileSystem: Sendable {
  private let system: any SystemCalls

  init(_ system: any SystemCalls = PosixCalls()) { self.system = system }

  private func repeating<Value>(_ call: () throws(SystemError) -> Value) throws(SystemError) -> Value {
    while true {
      do throws(SystemError) { return try call() } catch  where error.code == EINTR {}
    }
  }

  /// - Returns: `nil` if the call fails with one of the expected errors.
  private func expecting<Value>(
    _ codes: Int32..., call: () throws(SystemError) -> Value
  ) throws(SystemError) -> Value? {
    do throws(SystemError) { return try repeating(call) } catch  where codes.contains(error.code) { return nil }
  }

  // MARK: Files

  /// The purpose of opening a file; only `directory` follows symbolic links.
  struct Access {
    let flags: Int32

    static let reading = Access(flags: O_RDONLY | O_NOFOLLOW)
    static let writing = Access(flags: O_RDWR | O_NOFOLLOW)
    static let making = Access(flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
    static let folder = Access(flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    static let directory = Access(flags: O_RDONLY | O_DIRECTORY)
  }

  func open(
    _ name: String, in directory: FileDescriptor? = nil, for access: Access
  ) throws(SystemError) -> FileDescriptor {
    let directory = directory?.raw ?? PosixCalls.workingDirectory
    let file = try repeating { () throws(SystemError) in
      try system.open(name, in: directory, flags: access.flags | O_CLOEXEC, mode: 0o600)
    }
    return FileDescriptor(file, system)
  }

  /// Writes all of `bytes` at `offset`.
  func write(_ bytes: some ContiguousBytes, to file: FileDescriptor, at offset: Int64) throws {
    try bytes.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
        let count = try repeating { () throws(SystemError) in
          try system.write(file.raw, rest, at: offset + Int64(done))
        }
        guard count > 0 else { throw SystemError("write", code: ENOSPC) }
        done += count
      }
    }
  }

  /// Reads up to the end of `bytes` or of the file, and returns the number of bytes read.
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
    // All empty arrays share one object, which must not be written to.
    guard count > 0 else { return [] }
    return try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = try read(UnsafeMutableRawBufferPointer(buffer), from: file, at: offset)
    }
  }

  func status(of file: FileDescriptor) throws(SystemError) -> FileStatus {
    try repeating { () throws(SystemError) in try system.status(of: file.raw) }
  }

  /// Syncs a file, or the names in a directory, to the disk.
  func synchronize(_ file: FileDescriptor, isDirectory: Bool = false) throws(SystemError) {
    try repeating { () throws(SystemError) in try system.synchronize(file.raw, isDirectory: isDirectory) }
  }

  // MARK: Locks

  /// Locks a file or a directory, unless it is locked through another descriptor. The lock ends with the descriptor.
  ///
  /// - Parameter isWaiting: Whether to wait for the lock, up to ten seconds.
  func lock(_ file: FileDescriptor, isWaiting: Bool = false) throws(SystemError) {
    for _ in 0..<(isWaiting ? 5000 : 1) {
      let taken: Void? = try expecting(EWOULDBLOCK) { () throws(SystemError) in try system.lock(file.raw) }
      if taken != nil { return }
      if isWaiting { usleep(2000) }
    }
    throw SystemError("flock", code: EWOULDBLOCK)
  }

  /// Unlocks explicitly: a forked child may briefly share the descriptor.
  func unlock(_ file: FileDescriptor) { system.unlock(file.raw) }

  // MARK: Names and directories

  /// The status of a name; `nil` if it does not exist.
  func status(
    of name: String, in directory: FileDescriptor? = nil, followingLinks: Bool = false
  ) throws(SystemError) -> FileStatus? {
    let directory = directory?.raw ?? PosixCalls.workingDirectory
    return try expecting(ENOENT, ENOTDIR) { () throws(SystemError) in
      try system.status(of: name, in: directory, followingLinks: followingLinks)
    }
  }

  /// Removes a file, if it exists.
  func remove(_ name: String, in directory: FileDescriptor) throws(SystemError) {
    _ = try expecting(ENOENT) { () throws(SystemError) in try system.remove(name, in: directory.raw) }
  }

  /// Renames a file, and replaces a file of the new name.
  func rename(_ name: String, to new: String, in directory: FileDescriptor) throws(SystemError) {
    try repeating { () throws(SystemError) in try system.rename(name, to: new, in: directory.raw) }
  }

  /// Creates a folder, if it does not exist; by default for its owner alone.
  func makeFolder(_ name: String, in directory: FileDescriptor?, mode: UInt32 = 0o700) throws(SystemError) {
    let directory = directory?.raw ?? PosixCalls.workingDirectory
    _ = try expecting(EEXIST) { () throws(SystemError) in try system.makeDirectory(name, in: directory, mode: mode) }
  }

  /// Creates a directory at a path for its owner alone, and missing parents with default permissions.
  func makeDirectory(path: String, mode: UInt32 = 0o700) throws(SystemError) {
    let above = (path as NSString).deletingLastPathComponent
    do throws(SystemError) { try makeFolder(path, in: nil, mode: mode) } catch {
      guard error.code == ENOENT, above != path, !above.isEmpty else { throw error }
      try makeDirectory(path: above, mode: 0o777)
      try makeFolder(path, in: nil, mode: mode)
    }
    // Sync the parents' names here: `flush()` does not.
    try synchronize(open(above.isEmpty ? "." : above, for: .directory), isDirectory: true)
  }

  func setMode(of file: FileDescriptor, to mode: UInt32) throws(SystemError) {
    try repeating { () throws(SystemError) in try system.setMode(of: file.raw, to: mode) }
  }

  /// Syncs the volume of a directory; `false` if the system does not report whether that succeeded.
  func synchronizeAll(_ directory: FileDescriptor) throws(SystemError) -> Bool {
    try expecting(ENOSYS) { () throws(SystemError) in try system.synchronizeAll(directory.raw) } != nil
  }

  /// The names in a directory.
  func names(in directory: FileDescriptor) throws(SystemError) -> [String] {
    try repeating { () throws(SystemError) in try system.names(in: directory.raw) }
  }
}

/// The system calls of a store. Tests inject a fake that fails calls, or simulates a disk.
///
/// Names are relative to an open directory; in ``SystemCalls/workingDirectory`` they are paths. Each method is one
/// POSIX call, which may be interrupted, and may read or write less than requested.
package protocol SystemCalls: Sendable {
  func open(_ name: String, in directory: Int32, flags: Int32, mode: UInt32) throws(SystemError) -> Int32
  func close(_ file: Int32)
  func status(of file: Int32) throws(SystemError) -> FileStatus
  func status(of name: String, in directory: Int32, followingLinks: Bool) throws(SystemError) -> FileStatus
  func read(_ file: Int32, into bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int
  func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) -> Int
  func setMode(of file: Int32, to mode: UInt32) throws(SystemError)
  /// Syncs the contents of a file, or the names in a directory.
  func synchronize(_ file: Int32, isDirectory: Bool) throws(SystemError)
  /// Syncs a volume; `ENOSYS` if the system has no such call.
  func synchronizeAll(_ directory: Int32) throws(SystemError)
  /// Locks a file or a directory, unless it is locked through another descriptor.
  func lock(_ file: Int32) throws(SystemError)
  func unlock(_ file: Int32)
  func names(in directory: Int32) throws(SystemError) -> [String]
  func makeDirectory(_ name: String, in directory: Int32, mode: UInt32) throws(SystemError)
  func remove(_ name: String, in directory: Int32) throws(SystemError)
  func rename(_ name: String, to new: String, in directory: Int32) throws(SystemError)
}

extension SystemCalls {
  package func synchronizeAll(_ directory: Int32) throws(SystemError) { throw SystemError("syncfs", code: ENOSYS) }

  /// The working directory, where relative paths start.
  package static var workingDirectory: Int32 { AT_FDCWD }
}

/// The calls of the system.
package struct PosixCalls: SystemCalls {
  package init() {}

  @discardableResult
  private func check<Result: SignedInteger>(_ call: String, _ result: Result) throws(SystemError) -> Result {
    guard result >= 0 else { throw SystemError(call) }
    return result
  }

  package func open(_ name: String, in directory: Int32, flags: Int32, mode: UInt32) throws(SystemError) -> Int32 {
    try check(flags & O_CREAT == 0 ? "open" : "create", openat(directory, name, flags, mode_t(mode)))
  }

  package func close(_ file: Int32) { _ = WaylayCore.close(file) }

  package func status(of file: Int32) throws(SystemError) -> FileStatus {
    var status = stat()
    try check("fstat", fstat(file, &status))
    return FileStatus(status)
  }

  package func status(of name: String, in directory: Int32, followingLinks: Bool) throws(SystemError) -> FileStatus {
    var status = stat()
    try check("stat", fstatat(directory, name, &status, followingLinks ? 0 : AT_SYMLINK_NOFOLLOW))
    return FileStatus(status)
  }

  package func read(
    _ file: Int32, into bytes: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int {
    guard let start = bytes.baseAddress else { return 0 }
    return try check("read", pread(file, start, bytes.count, off_t(offset)))
  }

  package func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
    guard let start = bytes.baseAddress else { return 0 }
    return try check("write", pwrite(file, start, bytes.count, off_t(offset)))
  }

  package func setMode(of file: Int32, to mode: UInt32) throws(SystemError) {
    try check("chmod", fchmod(file, mode_t(mode)))
  }

  package func synchronize(_ file: Int32, isDirectory: Bool) throws(SystemError) {
    #if canImport(Darwin)
      if fcntl(file, F_FULLFSYNC) == 0 { return }
      try check("sync", fsync(file))
    #else
      try check("sync", isDirectory ? fsync(file) : fdatasync(file))
    #endif
  }

  #if !canImport(SQLite3)
    package func synchronizeAll(_ directory: Int32) throws(SystemError) {
      // Earlier kernels do not report failed writes.
      let least = OperatingSystemVersion(majorVersion: 5, minorVersion: 8, patchVersion: 0)
      guard ProcessInfo.processInfo.isOperatingSystemAtLeast(least) else { throw SystemError("syncfs", code: ENOSYS) }
      try check("syncfs", waylay_syncfs(directory))
    }
  #endif

  package func lock(_ file: Int32) throws(SystemError) { try check("flock", flock(file, LOCK_EX | LOCK_NB)) }

  package func unlock(_ file: Int32) { _ = flock(file, LOCK_UN) }

  package func names(in directory: Int32) throws(SystemError) -> [String] {
    // A new descriptor, because the position of a directory stream belongs to the descriptor.
    let file = try open(".", in: directory, flags: O_RDONLY | O_DIRECTORY | O_CLOEXEC, mode: 0)
    guard let stream = fdopendir(file) else {
      defer { close(file) }
      throw SystemError("readdir")
    }
    defer { closedir(stream) }
    var names: [String] = []
    errno = 0
    while let entry = readdir(stream) {
      names.append(withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
      errno = 0
    }
    guard errno == 0 else { throw SystemError("readdir") }
    return names.filter { $0 != "." && $0 != ".." }
  }

  package func makeDirectory(_ name: String, in directory: Int32, mode: UInt32) throws(SystemError) {
    try check("mkdir", mkdirat(directory, name, mode_t(mode)))
  }

  package func remove(_ name: String, in directory: Int32) throws(SystemError) {
    try check("unlink", unlinkat(directory, name, 0))
  }

  package func rename(_ name: String, to new: String, in directory: Int32) throws(SystemError) {
    try check("rename", renameat(directory, name, directory, new))
  }
}

/// An open file or directory, closed when the last reference is released.
final class FileDescriptor: Sendable {
  let raw: Int32
  private let system: any SystemCalls

  init(_ raw: Int32, _ system: any SystemCalls) { (self.raw, self.system) = (raw, system) }

  deinit { system.close(raw) }
}
