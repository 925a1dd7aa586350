import Foundation

/// The status of a file or a directory.
package struct FileStatus: Equatable, Sendable {
  /// Identifies a file by device and inode, independent of its name.
  struct Identity: Hashable, Sendable {
    var device: UInt64
    var number: UInt64
  }

  var identity: Identity
  package var size: Int64
  /// The time of the last change, in nanoseconds since 1970.
  var changed: Int64
  var links: Int

  package init(device: UInt64, number: UInt64, size: Int64, changed: Int64, links: Int) {
    identity = Identity(device: device, number: number)
    (self.size, self.changed, self.links) = (size, changed, links)
  }

  init(_ status: stat) {
    self.init(
      device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino),
      size: Int64(status.st_size), changed: status.changed, links: Int(status.st_nlink))
  }
}

extension SystemError {
  /// Whether the file or its folder does not exist.
  var isMissing: Bool { code == ENOENT || code == ENOTDIR }
  /// Whether the volume has no room.
  var isFull: Bool { [ENOSPC, EDQUOT].contains(code) }
  /// Whether another open file has the lock.
  var isLocked: Bool { code == EWOULDBLOCK && call == "flock" }
}

/// The attributes of a directory on Apple platforms.
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
