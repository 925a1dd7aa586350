/// A call to the system that failed.
package struct SystemError: LocalizedError, Equatable, CustomStringConvertible {
  package let call: String
  /// The file the call was about, or nil where the caller names it elsewhere.
  package let path: String?
  package let code: Int32

  package init(_ call: String, _ path: String? = nil, code: Int32 = errno) {
    (self.call, self.path, self.code) = (call, path, code)
  }

  package var description: String {
    "\(call)\(path.map { " \($0)" } ?? ""): \(String(cString: strerror(code)))"
  }

  package var errorDescription: String? { description }

  /// The error as a `POSIXError`, for users of the package.
  package var posixError: POSIXError { POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
}
