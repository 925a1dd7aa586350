import Foundation

/// Locations of cassette files, and their atomic replacement.
enum CassetteFile {
  /// Resolves a path written in a source file.
  static func place(of path: String, besides source: String) -> URL {
    let isNamed = path.lowercased().hasSuffix(".har") || (path.hasPrefix("/") && isFolder(path) == false)
    let named = isNamed ? path : path + ".har"
    guard !named.hasPrefix("/") else { return URL(fileURLWithPath: named) }
    let directory = URL(fileURLWithPath: source).deletingLastPathComponent()
    let other = directory.appendingPathComponent("__Cassettes__", isDirectory: true)
    let folder =
      isFolder(other.path) == true ? other : directory.appendingPathComponent("Cassettes", isDirectory: true)
    return folder.appendingPathComponent(named).standardizedFileURL
  }

  /// Whether a path leads to a folder; `nil` if nothing is there.
  private static func isFolder(_ path: String) -> Bool? {
    var isDirectory: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) ? isDirectory.boolValue : nil
  }

  /// Exclusive right to record into a file within this process; two recordings would overwrite each other.
  final class Claim: Sendable {
    private static let owners = Locked<[String: MockSourceLocation]>([:])
    private let path: Locked<String?>

    /// - Throws: ``Taken`` with the location of the cassette that is recording into the file.
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

    /// Allows other cassettes to record into the file.
    func release() {
      let path = path.withLock { $0.take() }
      if let path { _ = Self.owners.withLock { $0.removeValue(forKey: path) } }
    }

    struct Taken: Error {
      let owner: MockSourceLocation
    }
  }
}

extension CassetteFile {
  /// The file's path without symbolic links, even if the file does not exist.
  private static func resolved(_ file: URL) -> URL {
    let path = file.standardizedFileURL.resolvingSymlinksInPath()
    guard path.pathComponents.count > 1, !FileManager.default.fileExists(atPath: path.path) else { return path }
    return resolved(path.deletingLastPathComponent()).appendingPathComponent(path.lastPathComponent)
  }

  /// Replaces a file atomically, and makes its folder.
  ///
  /// - Parameter version: The version that was read. Another process, or a cassette that reaches the folder through
  ///   another name, may have written the file since.
  /// - Throws: `MockError.unwritableFile`; the old file stays in place.
  static func replace(
    _ file: URL, by data: Data, _ version: AtomicFile.Version?, _ calls: AtomicFile.Calls
  ) throws(MockError) {
    var isCurrent = true
    do throws(SystemError) {
      try makeFolder(of: file)
      try AtomicFile.replace(file.path, with: data, mode: 0o666, calls: calls) {
        isCurrent = AtomicFile.Version(of: file.path) == version
        return isCurrent
      }
    } catch {
      throw isCurrent
        ? Self.error(error, file)
        : MockError(
          .unwritableFile,
          "The cassette \(file.path) was changed by another writer during the recording, and stays unchanged: two "
            + "cassettes, perhaps of two processes, record to one file. Give each its own name, and record again.")
    }
  }

  private static func makeFolder(of file: URL) throws(SystemError) {
    let folder = file.deletingLastPathComponent()
    do { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) } catch {
      throw SystemError("mkdir", folder.path, code: error.systemNumber ?? ENOENT)
    }
  }

  private static func error(_ error: SystemError, _ file: URL) -> MockError {
    let cure =
      switch error.code {
      case ENOSPC, EDQUOT: "the disk or your disk quota is full: free some space"
      case EACCES, EPERM:
        "access is denied: check the owner and the permissions of the file and its folder. Source folders are not writable on a device or in a "
          + "sandbox: record on a Mac, in a simulator or on Linux"
      case EROFS: "its file system is read-only: record where the sources are writable"
      case ENOENT, ENOTDIR: "its folder cannot be created: check the path"
      case EISDIR, ENOTEMPTY, EEXIST: "something else is in its place: remove it, or give the cassette another name"
      case ENAMETOOLONG: "its name is too long: give the cassette a shorter one"
      case ELOOP: "its path contains a loop of symbolic links: check the path"
      case EMFILE, ENFILE: "too many files are open: close some, or raise the limit (ulimit -n)"
      case EFBIG: "it exceeds the limit of the file system or of ulimit -f: record less"
      case EIO: "the disk reports an error: check the system log"
      default: "the system says: \(String(cString: strerror(error.code)))"
      }
    return MockError(
      .unwritableFile,
      "The cassette \(file.path) cannot be written: \(cure), and record again. An existing file is unchanged. "
        + "[\(error.call): errno \(error.code)]",
      underlying: error.posixError)
  }
}

extension Error {
  /// The POSIX error number of the failed system call, if there is one.
  fileprivate var systemNumber: Int32? {
    if let error = self as? POSIXError { return error.code.rawValue }
    let error = self as NSError
    if error.domain == NSPOSIXErrorDomain { return Int32(clamping: error.code) }
    return (error.userInfo[NSUnderlyingErrorKey] as? any Error)?.systemNumber
  }
}
