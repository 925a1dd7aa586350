import Foundation

/// What the system says of a file or a directory.
package struct FileStatus: Equatable, Sendable {
  /// Which file it is, whatever its name.
  package struct Identity: Hashable, Sendable {
    var device: UInt64
    var number: UInt64

    package init(device: UInt64, number: UInt64) {
      self.device = device
      self.number = number
    }
  }

  package var identity: Identity
  package var size: Int64
  /// When the file was changed last, in nanoseconds since 1970.
  package var changed: Int64
  package var links: Int
  /// The permissions.
  package var mode: UInt32
  package var owner: UInt32
  package var isDirectory: Bool

  package init(
    identity: Identity, size: Int64, changed: Int64, links: Int, mode: UInt32, owner: UInt32, isDirectory: Bool
  ) {
    self.identity = identity
    self.size = size
    self.changed = changed
    self.links = links
    self.mode = mode
    self.owner = owner
    self.isDirectory = isDirectory
  }

  init(_ status: stat) {
    #if canImport(Darwin)
      let changed = status.st_ctimespec
    #else
      let changed = status.st_ctim
    #endif
    self.init(
      identity: Identity(
        device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino)),
      size: Int64(status.st_size), changed: Int64(changed.tv_sec) &* 1_000_000_000 &+ Int64(changed.tv_nsec),
      links: Int(status.st_nlink), mode: UInt32(status.st_mode) & 0o7777, owner: UInt32(status.st_uid),
      isDirectory: UInt32(status.st_mode) & UInt32(S_IFMT) == UInt32(S_IFDIR))
  }
}

extension SystemError {
  /// Whether the file, or the folder it should be in, is not there.
  var isMissing: Bool { code == ENOENT || code == ENOTDIR }
  /// Whether the directory may be read and not written.
  var isForbidden: Bool { [EACCES, EPERM, EROFS].contains(code) }
  /// Whether somebody else has the lock.
  var isLocked: Bool { code == EWOULDBLOCK && call == "flock" }
}

/// What Apple's systems let a directory say about itself.
enum Protection {
  /// Keeps an archive out of backups, and readable after the first unlock, so that background transfers can use it.
  static func apply(to directory: String) {
    #if canImport(Darwin)
      var url = URL(fileURLWithPath: directory, isDirectory: true)
      var values = URLResourceValues()
      values.isExcludedFromBackup = true
      try? url.setResourceValues(values)
      #if !os(macOS)
        try? FileManager.default.setAttributes(
          [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: directory)
      #endif
    #endif
  }
}
