import Foundation

/// A call to the system that failed.
package struct SystemError: Error, Equatable, CustomStringConvertible {
  package let call: String
  package let code: Int32

  package init(_ call: String, code: Int32 = errno) {
    self.call = call
    self.code = code
  }

  package var description: String { "\(call): \(String(cString: strerror(code)))" }

  /// Whether the file, or the folder it should be in, is not there.
  var isMissing: Bool { code == ENOENT || code == ENOTDIR }
  /// Whether the directory may be read and not written.
  var isForbidden: Bool { [EACCES, EPERM, EROFS].contains(code) }
  /// Whether somebody else has the lock.
  var isLocked: Bool { code == EWOULDBLOCK && call == "flock" }
}
