import Foundation

/// An open file, closed when nobody holds it any more.
final class FileDescriptor: Sendable {
  let raw: Int32

  init(_ raw: Int32) {
    self.raw = raw
  }

  deinit {
    close(raw)
  }

  /// What identifies the contents as they are now: any write changes it.
  var stamp: FileStamp? {
    var status = stat()
    guard fstat(raw, &status) == 0 else { return nil }
    #if canImport(Darwin)
      let changed = status.st_ctimespec
    #else
      let changed = status.st_ctim
    #endif
    return FileStamp(
      size: Int64(status.st_size), changed: Int64(changed.tv_sec) &* 1_000_000_000 &+ Int64(changed.tv_nsec), links: Int(status.st_nlink))
  }

  /// Takes the lock of the file unless somebody else has it; it lasts as long as the descriptor.
  func lockExclusively() throws {
    guard flock(raw, LOCK_EX | LOCK_NB) == 0 else { throw SystemError("flock") }
  }

  /// Gives the lock back; closing would do, but somebody may still hold the descriptor.
  func unlock() {
    _ = flock(raw, LOCK_UN)
  }

  /// Asks the system to bring what was written to the medium.
  func synchronize() throws {
    #if canImport(Darwin)
      if fcntl(raw, F_FULLFSYNC) == 0 { return }
      guard fsync(raw) == 0 else { throw SystemError("fsync") }
    #else
      guard fdatasync(raw) == 0 else { throw SystemError("fdatasync") }
    #endif
  }

  /// A mapping of `length` bytes from the start of the file, for reading.
  func mapped(_ length: Int) throws -> UnsafeRawPointer {
    #if canImport(Darwin)
      let flags = MAP_PRIVATE
    #else
      // The pages in one go: a fault for each would take longer than the check of what is in them.
      let flags = MAP_PRIVATE | Int32(MAP_POPULATE)
    #endif
    guard let start = mmap(nil, length, PROT_READ, flags, raw, 0), start != MAP_FAILED else { throw SystemError("mmap") }
    return UnsafeRawPointer(start)
  }
}

/// The state of a file's contents.
struct FileStamp: Equatable, Sendable {
  var size: Int64
  var changed: Int64
  var links: Int

  /// Whether the bytes are still those of `other`; the number of names does not matter, but changes the time.
  func hasSameContents(as other: FileStamp) -> Bool { size == other.size && changed == other.changed }
}
