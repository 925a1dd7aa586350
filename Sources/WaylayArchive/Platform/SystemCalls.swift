import Foundation

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
  /// Asks the system to bring what was written to the medium: the contents of a file, or the names in a directory.
  func synchronize(_ file: Int32, isDirectory: Bool) throws(SystemError)
  /// Takes the lock of a file or a directory, unless another open one has it.
  func lock(_ file: Int32) throws(SystemError)
  func unlock(_ file: Int32)
  func map(_ file: Int32, length: Int) throws(SystemError) -> UnsafeRawPointer
  func unmap(_ start: UnsafeRawPointer, length: Int)
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

  package func close(_ file: Int32) { _ = Foundation.close(file) }

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
    let count = pread(file, bytes.baseAddress, bytes.count, off_t(offset))
    guard count >= 0 else { throw SystemError("read") }
    return count
  }

  package func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
    let count = pwrite(file, bytes.baseAddress, bytes.count, off_t(offset))
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

  package func map(_ file: Int32, length: Int) throws(SystemError) -> UnsafeRawPointer {
    #if canImport(Darwin)
      let flags = MAP_PRIVATE
    #else
      // The pages in one go: a fault for each would take longer than the check of what is in them.
      let flags = MAP_PRIVATE | Int32(MAP_POPULATE)
    #endif
    guard let start = mmap(nil, length, PROT_READ, flags, file, 0), start != MAP_FAILED else {
      throw SystemError("mmap")
    }
    return UnsafeRawPointer(start)
  }

  package func unmap(_ start: UnsafeRawPointer, length: Int) {
    munmap(UnsafeMutableRawPointer(mutating: start), length)
  }

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
