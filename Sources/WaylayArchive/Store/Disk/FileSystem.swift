import Foundation

/// The calls to the file system that a store makes; each may be made to fail, which is how a full disk is tested.
struct FileSystem: Sendable {
  /// A call, for who decides whether it fails.
  enum Call: String, Sendable {
    case create, open, write, read, unlink, makeDirectory, rename, synchronize
  }

  /// Says with which error a call shall fail, if it shall.
  var fault: (@Sendable (String) -> Int32?)?

  private func check(_ call: Call, _ name: String) throws {
    if let code = fault?(call.rawValue) { throw SystemError(name, code: code) }
  }

  /// Makes a file that must not exist yet.
  func create(_ path: String) throws -> FileDescriptor {
    try check(.create, "create")
    return try open(path, O_RDWR | O_CREAT | O_EXCL, "create")
  }

  func openForReading(_ path: String) throws -> FileDescriptor {
    try check(.open, "open")
    return try open(path, O_RDONLY, "open")
  }

  func openForWriting(_ path: String, creating: Bool = false) throws -> FileDescriptor {
    try check(.open, "open")
    return try open(path, O_RDWR | (creating ? O_CREAT : 0), "open")
  }

  private func open(_ path: String, _ flags: Int32, _ call: String) throws -> FileDescriptor {
    while true {
      let raw = Foundation.open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
      if raw >= 0 { return FileDescriptor(raw) }
      guard errno == EINTR else { throw SystemError(call) }
    }
  }

  /// Writes all of `bytes` at `offset`.
  func write(_ bytes: UnsafeRawBufferPointer, to file: FileDescriptor, at offset: Int64) throws {
    try check(.write, "write")
    var done = 0
    while done < bytes.count {
      let count = pwrite(file.raw, bytes.baseAddress?.advanced(by: done), bytes.count - done, off_t(offset) + off_t(done))
      if count > 0 {
        done += count
      } else if count == 0 || errno != EINTR {
        throw SystemError("write", code: count == 0 ? ENOSPC : errno)
      }
    }
  }

  func write(_ bytes: [UInt8], to file: FileDescriptor, at offset: Int64) throws {
    try bytes.withUnsafeBytes { try write($0, to: file, at: offset) }
  }

  func write(_ bytes: Data, to file: FileDescriptor, at offset: Int64) throws {
    try bytes.withUnsafeBytes { try write($0, to: file, at: offset) }
  }

  /// Reads up to the end of `bytes` or of the file, and says how much there was.
  func read(_ bytes: UnsafeMutableRawBufferPointer, from file: FileDescriptor, at offset: Int64) throws -> Int {
    try check(.read, "read")
    var done = 0
    while done < bytes.count {
      let count = pread(file.raw, bytes.baseAddress?.advanced(by: done), bytes.count - done, off_t(offset) + off_t(done))
      if count == 0 { break }
      if count > 0 {
        done += count
      } else if errno != EINTR {
        throw SystemError("read")
      }
    }
    return done
  }

  /// Reads at most `count` bytes.
  func read(_ count: Int, from file: FileDescriptor, at offset: Int64) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = try read(UnsafeMutableRawBufferPointer(buffer), from: file, at: offset)
    }
  }

  /// Removes a file, where it exists.
  func unlink(_ path: String) throws {
    try check(.unlink, "unlink")
    guard Foundation.unlink(path) == 0 || errno == ENOENT else { throw SystemError("unlink") }
  }

  /// Makes a folder that only its owner may enter, where it does not exist yet.
  func makeDirectory(_ path: String) throws {
    try check(.makeDirectory, "mkdir")
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError("mkdir") }
  }

  /// Gives a file a name that no file has.
  func rename(_ path: String, to new: String) throws {
    try check(.rename, "rename")
    guard Foundation.rename(path, new) == 0 else { throw SystemError("rename") }
  }

  func synchronize(_ file: FileDescriptor) throws {
    try check(.synchronize, "sync")
    try file.synchronize()
  }

  /// The names in a folder that has few.
  func names(in path: String) throws -> [String] {
    guard let directory = opendir(path) else { throw SystemError("opendir") }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
