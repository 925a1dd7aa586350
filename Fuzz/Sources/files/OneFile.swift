import Driver
import Foundation

@testable import WaylayArchive
@testable import WaylayBase

/// A system with one file, in memory, which can be read: an input needs no disk.
struct OneFile: SystemCalls {
  let bytes: [UInt8]

  private static func none() -> SystemError { SystemError("none", code: ENOSYS) }

  func open(_ name: String, in directory: Int32, flags: Int32, mode: UInt32) throws(SystemError) -> Int32 { 3 }
  func close(_ file: Int32) {}

  func read(_ file: Int32, into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
    require(offset >= 0, "a place before the file")
    guard offset < Int64(bytes.count) else { return 0 }
    let part = bytes[Int(offset)...].prefix(target.count)
    target.copyBytes(from: part)
    return part.count
  }

  func status(of file: Int32) throws(SystemError) -> FileStatus { throw Self.none() }
  func status(of name: String, in directory: Int32, followingLinks: Bool) throws(SystemError) -> FileStatus {
    throw Self.none()
  }
  func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
    throw Self.none()
  }
  func truncate(_ file: Int32, to length: Int64) throws(SystemError) { throw Self.none() }
  func setMode(of file: Int32, to mode: UInt32) throws(SystemError) { throw Self.none() }
  func synchronize(_ file: Int32, isDirectory: Bool) throws(SystemError) { throw Self.none() }
  func lock(_ file: Int32) throws(SystemError) { throw Self.none() }
  func unlock(_ file: Int32) {}
  func names(in directory: Int32) throws(SystemError) -> [String] { throw Self.none() }
  func makeDirectory(_ name: String, in directory: Int32, mode: UInt32) throws(SystemError) { throw Self.none() }
  func remove(_ name: String, in directory: Int32, isDirectory: Bool) throws(SystemError) { throw Self.none() }
  func rename(_ name: String, to new: String, in directory: Int32) throws(SystemError) { throw Self.none() }
}
