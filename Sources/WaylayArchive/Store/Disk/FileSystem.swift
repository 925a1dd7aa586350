import Foundation

/// What a store does with files, made of the system's calls: interrupted calls are made again, and what was cut short
/// goes on.
///
/// A name belongs to the open directory that it is given with, and no link is followed; without a directory it is a
/// path.
struct FileSystem: Sendable {
  let system: any SystemCalls

  init(_ system: any SystemCalls = PosixCalls()) {
    self.system = system
  }

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

  /// The first `length` bytes of a file as memory, for reading; to be given back with ``unmap(_:length:)``.
  func map(_ file: FileDescriptor, length: Int) throws(SystemError) -> UnsafeRawPointer {
    try repeating { () throws(SystemError) in try system.map(file.raw, length: length) }
  }

  func unmap(_ start: UnsafeRawPointer, length: Int) { system.unmap(start, length: length) }

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

  /// Brings the names in a directory to the medium.
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
