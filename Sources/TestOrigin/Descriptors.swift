import Foundation

/// What this process has open.
enum Descriptors {
  /// Keeps sockets from processes that are started later on.
  ///
  /// SwiftNIO's are passed on. A connection that another process has, too, does not end when a server closes it: its
  /// client hears of nothing until that process ends.
  static func keepSocketsToThisProcess() {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd") else { return }
    for descriptor in names.compactMap({ CInt($0) }) where descriptor > 2 {
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { continue }
      let flags = fcntl(descriptor, F_GETFD)
      if flags >= 0, flags & FD_CLOEXEC == 0 { _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) }
    }
  }
}
