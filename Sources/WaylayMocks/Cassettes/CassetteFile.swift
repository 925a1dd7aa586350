import Foundation

/// Where cassettes are, and how their files are replaced.
package enum CassetteFile {
  /// The file of a path, as it is written in a source file.
  static func place(of path: String, besides source: String) -> URL {
    let isNamed = path.lowercased().hasSuffix(".har") || (path.hasPrefix("/") && isFile(path))
    let named = isNamed ? path : path + ".har"
    guard !named.hasPrefix("/") else { return URL(fileURLWithPath: named) }
    let directory = URL(fileURLWithPath: source).deletingLastPathComponent()
    let other = directory.appendingPathComponent("__Cassettes__", isDirectory: true)
    var isDirectory: ObjCBool = false
    let isThere = FileManager.default.fileExists(atPath: other.path, isDirectory: &isDirectory) && isDirectory.boolValue
    let folder = isThere ? other : directory.appendingPathComponent("Cassettes", isDirectory: true)
    return folder.appendingPathComponent(named).standardizedFileURL
  }

  private static func isFile(_ path: String) -> Bool {
    var isDirectory: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && !isDirectory.boolValue
  }

  /// The steps in which a file is replaced.
  package enum Step: String, CaseIterable, Sendable {
    case makeFolder, open, write, synchronize, close, rename, synchronizeFolder
  }

  /// How files are written: a test can have any step fail.
  package struct Writing: Sendable {
    /// Called before each step; a number other than 0 is the error that the step fails with.
    package var fault: @Sendable (Step) -> Int32

    package init(fault: @escaping @Sendable (Step) -> Int32 = { _ in 0 }) {
      self.fault = fault
    }
  }

  /// The right to record into a file: two that record into one would overwrite each other's.
  final class Claim: Sendable {
    private static let owners = Locked<[String: MockSourceLocation]>([:])
    private let path: Locked<String?>

    /// - Throws: The place of the cassette that records into it already.
    init(_ file: URL, at location: MockSourceLocation) throws(Taken) {
      let path = CassetteFile.resolved(file).path
      let owner = Self.owners.withLock { owners -> MockSourceLocation? in
        if let owner = owners[path] { return owner }
        owners[path] = location
        return nil
      }
      if let owner { throw Taken(owner: owner) }
      self.path = Locked(path)
    }

    deinit {
      release()
    }

    /// Lets others record into the file.
    func release() {
      let path = path.withLock { path in
        defer { path = nil }
        return path
      }
      if let path { _ = Self.owners.withLock { $0.removeValue(forKey: path) } }
    }

    struct Taken: Error {
      let owner: MockSourceLocation
    }
  }
}

extension CassetteFile {
  /// What tells a file from the one that comes in its place.
  struct Version: Equatable {
    private let number: Int?
    private let size: Int?
    private let date: Date?

    /// - Returns: `nil` for a file that is not there.
    init?(_ file: URL) {
      guard let attributes = try? FileManager.default.attributesOfItem(atPath: CassetteFile.resolved(file).path) else {
        return nil
      }
      number = (attributes[.systemFileNumber] as? NSNumber)?.intValue
      size = (attributes[.size] as? NSNumber)?.intValue
      date = attributes[.modificationDate] as? Date
    }
  }

  /// A file by the names of its folders without symbolic links, whether it is there or not.
  private static func resolved(_ file: URL) -> URL {
    let path = file.standardizedFileURL.resolvingSymlinksInPath()
    guard path.pathComponents.count > 1, !FileManager.default.fileExists(atPath: path.path) else { return path }
    return resolved(path.deletingLastPathComponent()).appendingPathComponent(path.lastPathComponent)
  }

  /// Puts data in the place of a file, all of it or nothing.
  ///
  /// - Parameter version: What is to be there: something else was put there meanwhile, by another process or by another
  ///   name of its folder.
  /// - Throws: `MockError.unwritableFile`. What was there is there then.
  static func replace(_ file: URL, by data: Data, _ version: Version?, _ writing: Writing) throws(MockError) {
    let folder = file.deletingLastPathComponent()
    let draft = folder.appendingPathComponent("\(draftPrefix(of: file))\(getpid())").path
    func check(_ step: Step, _ call: () -> Bool) throws(MockError) {
      var number = writing.fault(step)
      if number == 0 {
        while !call() {
          number = errno
          guard number == EINTR else { break }
          number = 0
        }
      }
      guard number != 0 else { return }
      throw Self.error(number, step, file)
    }
    try check(.makeFolder) {
      do { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) } catch {
        // What Foundation does after the call that failed may have changed the number.
        errno = error.systemNumber ?? ENOENT
        return false
      }
      return true
    }
    // One at a time writes in the folder.
    let directory = open(folder.path, O_RDONLY | O_CLOEXEC)
    if directory >= 0 { while flock(directory, LOCK_EX) != 0, errno == EINTR {} }
    defer { if directory >= 0 { _ = WaylayCore.close(directory) } }
    guard Version(file) == version else {
      throw MockError(
        .unwritableFile,
        "The cassette \(file.path) was written by somebody else while this one recorded, and is left as it is: two "
          + "cassettes, perhaps of two processes, record to one file. Give each its own name, and record again.")
    }
    removeDrafts(of: file)
    var descriptor: Int32 = -1
    // Nobody else reads it before it is whole.
    try check(.open) {
      descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
      return descriptor >= 0
    }
    do {
      var written = 0
      while written < data.count {
        var count = 0
        try check(.write) {
          count = data.withUnsafeBytes { bytes in
            WaylayCore.write(descriptor, bytes.baseAddress! + written, min(data.count - written, 1 << 20))
          }
          return count >= 0
        }
        written += count
      }
      try check(.synchronize) { fsync(descriptor) == 0 }
      // On network file systems this says what a write did not.
      let closing = descriptor
      descriptor = -1
      try check(.close) { WaylayCore.close(closing) == 0 || errno == EINTR }
      try check(.rename) { rename(draft, file.path) == 0 }
    } catch {
      if descriptor >= 0 { _ = WaylayCore.close(descriptor) }
      unlink(draft)
      throw error
    }
    // The name is there; that it survives a loss of power is more than some file systems promise.
    guard writing.fault(.synchronizeFolder) == 0 else { return }
    if directory >= 0 { _ = fsync(directory) }
  }

  private static func draftPrefix(of file: URL) -> String { ".\(file.lastPathComponent).draft-" }

  /// Removes what processes have left that were killed while they wrote.
  private static func removeDrafts(of file: URL) {
    let folder = file.deletingLastPathComponent()
    let prefix = draftPrefix(of: file)
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] where name.hasPrefix(prefix) {
      guard let process = Int32(name.dropFirst(prefix.count)), process > 0 else { continue }
      // This process holds the claim to the file, and writes no other draft.
      if process == getpid() || kill(process, 0) != 0 && errno == ESRCH {
        unlink(folder.appendingPathComponent(name).path)
      }
    }
  }

  private static func error(_ number: Int32, _ step: Step, _ file: URL) -> MockError {
    let cure =
      switch number {
      case ENOSPC, EDQUOT: "the disk or your disk quota is full: free some space"
      case EACCES, EPERM:
        "access is denied: check the permissions of the folder. Source folders are not writable on a device or in a "
          + "sandbox: record on a Mac, in a simulator or on Linux"
      case EROFS: "its file system is read-only: record where the sources are writable"
      case ENOENT, ENOTDIR: "its folder cannot be created: check the path"
      case EISDIR, ENOTEMPTY, EEXIST: "something else is in its place: remove it, or give the cassette another name"
      case ENAMETOOLONG: "its name is too long: give the cassette a shorter one"
      case ELOOP: "its path contains a loop of symbolic links: check the path"
      case EMFILE, ENFILE: "too many files are open: close some, or raise the limit (ulimit -n)"
      case EFBIG: "it exceeds the limit of the file system or of ulimit -f: record less"
      case EIO: "the disk reports an error: check the system log"
      default: "the system says: \(String(cString: strerror(number)))"
      }
    return MockError(
      .unwritableFile,
      "The cassette \(file.path) cannot be written: \(cure), and record again. An existing file is unchanged. "
        + "[\(step.rawValue): errno \(number)]",
      underlying: POSIXErrorCode(rawValue: number).map { POSIXError($0) })
  }
}

extension Error {
  /// The number of the system's call that has failed beneath, if one has.
  fileprivate var systemNumber: Int32? {
    if let error = self as? POSIXError { return error.code.rawValue }
    let error = self as NSError
    if error.domain == NSPOSIXErrorDomain { return Int32(clamping: error.code) }
    return (error.userInfo[NSUnderlyingErrorKey] as? any Error)?.systemNumber
  }
}
