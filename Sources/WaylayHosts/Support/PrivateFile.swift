import Foundation

/// A small file that only its owner may read, and that is there whole or not at all.
struct PrivateFile: Sendable {
  let url: URL

  init(_ url: URL) {
    self.url = url
  }

  /// Its contents; `nil` when it does not exist.
  func read() throws -> Data? {
    guard FileManager.default.fileExists(atPath: url.path) else { return nil }
    return try Data(contentsOf: url)
  }

  /// Puts `contents` in place of what is there. Whatever happens meanwhile, the file holds the old contents or the new.
  func write(_ contents: Data) throws {
    let draft = url.path + "." + String(UInt64.random(in: .min ... .max), radix: 36)
    do {
      try Self.create(draft, contents)
      guard rename(draft, url.path) == 0 else { throw Self.failure() }
    } catch {
      unlink(draft)
      throw error
    }
  }

  /// The mode is given when the file is made: changing it afterwards would leave a moment in which others may open it.
  private static func create(_ path: String, _ contents: Data) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure() }
    defer { close(descriptor) }
    try contents.withUnsafeBytes { bytes in
      var written = 0
      while written < bytes.count {
        let count = Foundation.write(descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written)
        guard count > 0 else {
          guard count < 0, errno == EINTR else { throw failure() }
          continue
        }
        written += count
      }
    }
    guard fsync(descriptor) == 0 else { throw failure() }
  }

  private static func failure() -> any Error {
    POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
  }
}
