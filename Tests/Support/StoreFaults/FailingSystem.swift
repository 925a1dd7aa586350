import Foundation
package import WaylayArchive

/// The system's calls, of which any can be made to fail: what a store has to live with.
package final class FailingSystem: DiskCalls {
  /// A call that can fail. Those that cannot (`close`, giving back a lock) are not among them.
  package enum Call: String, CaseIterable, Sendable {
    case open, create, status, read, write, truncate, setMode, synchronize, lock, sharedMemory, names, makeDirectory,
      remove, rename
  }

  /// What becomes of a call.
  package enum Fault: Hashable, Sendable {
    case error(Int32)
    /// Half of the bytes are read or written; other calls do all they should.
    case short
  }

  private let system: any SystemCalls
  private let opened: (@Sendable (String) -> Void)?
  private let decide: @Sendable (Call) -> Fault?

  /// Has a closure decide what becomes of each call.
  ///
  /// - Parameter opened: Called when a file or a folder has been opened, with its name, before the store knows.
  package init(
    _ system: any SystemCalls = PosixCalls(), opened: (@Sendable (_ name: String) -> Void)? = nil,
    _ decide: @escaping @Sendable (_ call: Call) -> Fault?
  ) {
    self.system = system
    self.opened = opened
    self.decide = decide
  }

  /// Whether the call shall be a short one. Those of SQLite's VFS that are none of a store's begin here as well.
  @discardableResult
  package func begin(_ call: Call) throws(SystemError) -> Bool {
    switch decide(call) {
    case .error(let code): throw SystemError(call == .lock ? "flock" : call.rawValue, code: code)
    case .short: true
    case nil: false
    }
  }

  package func open(_ name: String, in directory: Int32, flags: Int32, mode: UInt32) throws(SystemError) -> Int32 {
    try begin(flags & O_CREAT == 0 ? .open : .create)
    let file = try system.open(name, in: directory, flags: flags, mode: mode)
    opened?(name)
    return file
  }

  package func close(_ file: Int32) { system.close(file) }

  package func status(of file: Int32) throws(SystemError) -> FileStatus {
    try begin(.status)
    return try system.status(of: file)
  }

  package func status(of name: String, in directory: Int32, followingLinks: Bool) throws(SystemError) -> FileStatus {
    try begin(.status)
    return try system.status(of: name, in: directory, followingLinks: followingLinks)
  }

  package func read(
    _ file: Int32, into bytes: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int {
    let count = try begin(.read) ? (bytes.count + 1) / 2 : bytes.count
    return try system.read(file, into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<count]), at: offset)
  }

  package func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
    let count = try begin(.write) ? (bytes.count + 1) / 2 : bytes.count
    return try system.write(file, UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: offset)
  }

  package func truncate(_ file: Int32, to length: Int64) throws(SystemError) {
    try begin(.truncate)
    try (system as? any DiskCalls)?.truncate(file, to: length)
  }

  package func setMode(of file: Int32, to mode: UInt32) throws(SystemError) {
    try begin(.setMode)
    try system.setMode(of: file, to: mode)
  }

  package func synchronize(_ file: Int32, isDirectory: Bool) throws(SystemError) {
    do throws(SystemError) {
      try begin(.synchronize)
    } catch {
      // What could not be written to the disk is forgotten by the system, too: the next call may well succeed.
      (system as? ModelDisk)?.fail(synchronizing: file)
      throw error
    }
    try system.synchronize(file, isDirectory: isDirectory)
  }

  package func synchronizeAll(_ file: Int32) throws(SystemError) {
    do throws(SystemError) {
      try begin(.synchronize)
    } catch {
      (system as? ModelDisk)?.fail(synchronizing: nil)
      throw error
    }
    try system.synchronizeAll(file)
  }

  package func lock(_ file: Int32) throws(SystemError) {
    try begin(.lock)
    try system.lock(file)
  }

  package func unlock(_ file: Int32) { system.unlock(file) }

  package func names(in directory: Int32) throws(SystemError) -> [String] {
    try begin(.names)
    return try system.names(in: directory)
  }

  package func makeDirectory(_ name: String, in directory: Int32, mode: UInt32) throws(SystemError) {
    try begin(.makeDirectory)
    try system.makeDirectory(name, in: directory, mode: mode)
  }

  package func remove(_ name: String, in directory: Int32) throws(SystemError) {
    try begin(.remove)
    try system.remove(name, in: directory)
  }

  package func rename(_ name: String, to new: String, in directory: Int32) throws(SystemError) {
    try begin(.rename)
    try system.rename(name, to: new, in: directory)
  }
}
