import Foundation

/// A small file that only its owner may read, and that is replaced atomically.
struct PrivateFile: Sendable {
  let url: URL

  /// Returns the contents; `nil` if the file does not exist.
  ///
  /// - Throws: `HostError.fileRefused` for a file that other users may have written: it belongs to a user other than
  ///   this one and root, or is writable by other users. Errors of the file system.
  func read(upTo limit: Int) throws -> Data? {
    // Non-blocking: the path may be a pipe without a writer.
    var descriptor: Int32
    repeat { descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) } while descriptor < 0 && errno == EINTR
    guard descriptor >= 0 else {
      guard errno == ENOENT else { throw SystemError("open").posixError }
      return nil
    }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemError("fstat").posixError }
    let reason: String? =
      if status.st_mode & S_IFMT != S_IFREG { "it is not a file" } else if status.st_size > limit {
        "it has \(status.st_size) bytes, and the limit is \(limit)"
      } else if status.st_uid != geteuid(), status.st_uid != 0 {
        "it belongs to another user"
      } else if status.st_mode
        & (S_IWGRP | S_IWOTH) != 0
      { "other users may write it: use chmod 600" } else { nil }
    if let reason { throw HostError(.fileRefused, "the file \(url.path) is not read: \(reason).") }
    return try file.read(upToCount: limit) ?? Data()
  }

  func write(_ contents: Data) throws {
    var status = stat()
    guard stat(url.path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      throw HostError(.fileRefused, "the file \(url.path) is not written: it is not a file.")
    }
    // A replaced file would keep its owner, and the next read would reject it.
    if lstat(url.path, &status) == 0, status.st_uid != geteuid(), status.st_uid != 0 {
      guard unlink(url.path) == 0 else { throw SystemError("unlink").posixError }
    }
    try AtomicFile.replace(url.path, with: contents)
  }
}
