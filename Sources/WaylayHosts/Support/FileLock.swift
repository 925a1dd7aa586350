/// An exclusive lock between processes (`flock`), on a file that is never deleted.
struct FileLock {
  private let descriptor: Int32

  /// Waits for the lock.
  init(_ path: String) throws {
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw SystemError("open").posixError }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else {
        defer { close(descriptor) }
        throw SystemError("flock").posixError
      }
    }
  }

  func release() { close(descriptor) }
}
