/// The only way to replace a whole file in this package: after a kill or a power failure, and for any reader, the file
/// has either the old or the new contents.
///
/// The contents go to a draft in the folder of the file, `.waylay-draft-` and a random number. The draft is synced and
/// renamed, then the folder is synced. The writer holds a lock of its draft (`flock`): a draft without a lock is that of
/// a dead process, and the next write in the folder removes it.
///
/// - A symbolic link stays, and its target is replaced or created. Other hard links keep the old contents.
/// - An existing file keeps its owner, its group and its access control list, and its mode as far as the caller's mode
///   permits. If one of these cannot be kept, or the process may not write the file, the write fails.
/// - A FIFO, a device or an open descriptor (`/dev/stdout`, `/dev/fd/3`) is written into. A directory is an error.
/// - After an error the old file is in place, and no draft. There is one exception: when the folder cannot be synced and
///   its file system has no hard links, the new file stays. A file system that does not sync folders (`EINVAL`,
///   `ENOTSUP`) makes no error.
package enum AtomicFile {
  /// Replaces a file, or creates it; see ``Writer``.
  package static func replace(
    _ path: String, with data: Data, mode: mode_t = 0o600, calls: Calls = Calls(), when isCurrent: (() -> Bool)? = nil
  ) throws(SystemError) {
    var writer = try Writer(path, mode: mode, calls: calls)
    try writer.write(data)
    try writer.commit(when: isCurrent)
  }

  /// Removes the drafts of this process before a signal terminates it.
  package static func removeDrafts() {
    for path in Draft.paths.withLock({ $0 }) { unlink(path) }
  }

  /// Writes all of the data to a descriptor, and waits for room if it does not block.
  package static func write(
    _ data: Data, to descriptor: Int32, _ path: String, calls: Calls = Calls()
  ) throws(SystemError) {
    var rest = data[...]
    while !rest.isEmpty {
      do {
        // Darwin refuses more than 2 GiB.
        let count = try calls.perform(.write, path) {
          rest.withUnsafeBytes { WaylayBase.write(descriptor, $0.baseAddress, min($0.count, 1 << 30)) }
        }
        rest = rest.dropFirst(count)
      } catch {
        guard error.code == EAGAIN else { throw error }
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&wait, 1, -1)
      }
    }
  }
}

extension AtomicFile {
  /// Writes a file piece by piece. The old file stays until ``commit(when:)``, and if the writer is released without
  /// it.
  package struct Writer: ~Copyable {
    private let path: String
    private let calls: Calls
    private let descriptor: Descriptor
    /// `nil` if the path is written in place: a FIFO, a device or a descriptor.
    private let draft: Draft?
    private let replaces: Bool
    private var failure: SystemError?

    /// Begins a file.
    ///
    /// - Parameters:
    ///   - path: The file. Its folder must exist.
    ///   - mode: The mode of a new file, less the umask; an existing file loses the bits of its mode that are not in it.
    ///   - replaces: Whether an existing regular file is replaced. If not, it is the error `EEXIST`.
    ///   - calls: The system calls.
    package init(
      _ path: String, mode: mode_t = 0o600, replaces: Bool = true, calls: Calls = Calls()
    ) throws(SystemError) {
      (self.path, self.calls, self.replaces) = (path, calls, replaces)
      switch try Place(path, calls) {
      case .descriptor(let number):
        descriptor = Descriptor(try calls.perform(.open, path) { fcntl(number, F_DUPFD_CLOEXEC, 0) })
        draft = nil
      case .file(let folder, let name):
        let file = "\(folder)/\(name)"
        let status = try calls.status(path) { fstatat(AT_FDCWD, file, $0, AT_SYMLINK_NOFOLLOW) }
        switch status.map({ mode_t($0.st_mode) & S_IFMT }) {
        case nil, S_IFREG:
          guard replaces || status == nil else { throw SystemError("open", path, code: EEXIST) }
          let draft = try Draft.made(of: name, in: folder, path, mode, isNew: status == nil, calls)
          (descriptor, self.draft) = (draft.descriptor, draft)
        case S_IFDIR:
          throw SystemError("open", path, code: EISDIR)
        default:
          let node = Descriptor(
            try calls.perform(.open, path) { open(file, O_WRONLY | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC) })
          // A regular file created meanwhile must not be overwritten from its beginning.
          let opened = try calls.status(path) { fstat(node.raw, $0) }
          guard opened.map({ mode_t($0.st_mode) & S_IFMT }) != S_IFREG else {
            throw SystemError("open", path, code: ESTALE)
          }
          (descriptor, draft) = (node, nil)
        }
      }
    }

    package mutating func write(_ data: Data) throws(SystemError) {
      do { try AtomicFile.write(data, to: descriptor.raw, path, calls: calls) } catch {
        failure = error
        throw error
      }
    }

    /// Puts the file in its place.
    ///
    /// - Parameter isCurrent: Returns whether the file may still be replaced; if not, the error is `ESTALE`. Called
    ///   under a lock of the folder, right before the rename.
    package consuming func commit(when isCurrent: (() -> Bool)? = nil) throws(SystemError) {
      if let failure { throw failure }
      try draft?.place(replaces: replaces, when: isCurrent)
    }
  }
}

extension AtomicFile {
  /// Identifies the contents of a file. The time of the last attribute change is not part of it: removing a dead draft,
  /// which may be a hard link to the file, changes that time too.
  package struct Version: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64
    private let size: Int64
    /// When the contents were changed last, in nanoseconds since 1970.
    private let modified: Int64

    /// - Returns: `nil` if the file does not exist.
    package init?(of path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      self.init(status)
    }

    init(_ status: stat) {
      (device, number) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
      (size, modified) = (Int64(status.st_size), status.modified)
    }
  }

  /// The system calls of a write, each of which a test can fail.
  package struct Calls: Sendable {
    package enum Name: String, CaseIterable, Sendable {
      case readlink, stat, open, readdir, create, flock, fchown, acl, fchmod, write, fsync, close, link, rename, unlink
    }

    /// Called before each call; a number other than 0 is the error that it fails with.
    private let fault: @Sendable (Name) -> Int32

    package init(fault: @escaping @Sendable (Name) -> Int32 = { _ in 0 }) { self.fault = fault }

    /// Repeats a call that a signal interrupts.
    @discardableResult
    func perform<Result: BinaryInteger>(
      _ name: Name, _ path: String, _ call: () -> Result
    ) throws(SystemError) -> Result {
      while true {
        var code = fault(name)
        if code == 0 {
          let result = call()
          if result >= 0 { return result }
          code = errno
        }
        guard code == EINTR else { throw SystemError(name.rawValue, path, code: code) }
      }
    }

    /// - Returns: `nil` if the file does not exist.
    func status(_ path: String, _ call: (UnsafeMutablePointer<stat>) -> Int32) throws(SystemError) -> stat? {
      var status = stat()
      do {
        try perform(.stat, path) { call(&status) }
        return status
      } catch {
        guard error.code == ENOENT else { throw error }
        return nil
      }
    }
  }
}
