import Foundation

/// A call to the system that failed.
struct SystemError: Error, Equatable, CustomStringConvertible {
  let call: String
  let code: Int32

  init(_ call: String, code: Int32 = errno) {
    self.call = call
    self.code = code
  }

  var description: String { "\(call): \(String(cString: strerror(code)))" }

  /// Whether the file, or the folder it should be in, is not there.
  var isMissing: Bool { code == ENOENT || code == ENOTDIR }
  /// Whether trying later may help, and says nothing of the file.
  var isTransient: Bool { [EMFILE, ENFILE, ENOMEM, EINTR, EAGAIN].contains(code) }
  /// Whether the directory may be read and not written.
  var isForbidden: Bool { [EACCES, EPERM, EROFS].contains(code) }
  /// Whether somebody else has the lock.
  var isLocked: Bool { code == EWOULDBLOCK }
}
