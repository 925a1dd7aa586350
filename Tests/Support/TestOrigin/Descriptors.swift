import Foundation

/// What this process has open.
enum Descriptors {
  /// Keeps sockets from processes that are started later on.
  ///
  /// SwiftNIO's are passed on. A connection that another process has, too, does not end when a server closes it: its
  /// client hears of nothing until that process ends.
  static func keepSocketsToThisProcess() {
    // A new socket gets the lowest number that is free, so all below it were open a moment ago: a long stretch of closed
    // ones is beyond it. A look at the flags is all that a socket costs that is kept already, whichever had its
    // number before.
    var (descriptor, closed): (CInt, Int) = (3, 0)
    while closed < 256 {
      defer { descriptor += 1 }
      let flags = fcntl(descriptor, F_GETFD)
      guard flags >= 0 else {
        closed += 1
        continue
      }
      closed = 0
      var status = stat()
      guard flags & FD_CLOEXEC == 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else {
        continue
      }
      _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC)
    }
  }
}
