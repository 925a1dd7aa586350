extension AtomicFile {
  /// A temporary file next to the file that it replaces. It is removed, unless it was renamed into place.
  final class Draft {
    /// The paths of this process's drafts.
    static let paths = Locked<Set<String>>([])
    private static let prefix = ".waylay-draft-"

    let descriptor: Descriptor
    private let calls: Calls
    /// The path as the caller gave it, for errors.
    private let path: String
    private let folder: Descriptor
    private let folderPath: String
    /// The name of the file to be replaced.
    private let target: String
    private let name: String
    /// The mode bits that the file may have.
    private let mode: mode_t
    private var isThere = true
    /// The file whose attributes the draft has copied, and the time of its last change.
    private var adopted: (Version, Int64)?

    static func made(
      of target: String, in folderPath: String, _ path: String, _ mode: mode_t, isNew: Bool, _ calls: Calls
    ) throws(SystemError) -> Draft {
      let folder = Descriptor(
        try calls.perform(.open, folderPath) { open(folderPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
      removeDead(in: folder, folderPath, calls)
      for _ in 0..<16 {
        let draft = try Draft(of: target, in: folder, folderPath, path, mode, isNew, calls)
        guard try draft.lock() else { continue }
        try draft.adopt()
        return draft
      }
      throw SystemError("flock", path, code: EAGAIN)
    }

    private init(
      of target: String, in folder: Descriptor, _ folderPath: String, _ path: String, _ mode: mode_t, _ isNew: Bool,
      _ calls: Calls
    ) throws(SystemError) {
      let name = Self.newName()
      descriptor = Descriptor(
        try calls.perform(.create, path) {
          openat(folder.raw, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, isNew ? mode : 0o600)
        })
      (self.target, self.folder, self.folderPath, self.path) = (target, folder, folderPath, path)
      (self.mode, self.calls, self.name) = (mode, calls, name)
      Self.paths.withLock { _ = $0.insert("\(folderPath)/\(name)") }
    }

    deinit {
      if isThere { remove(name) }
      Self.paths.withLock { _ = $0.remove("\(folderPath)/\(name)") }
    }

    private static func newName() -> String { prefix + .random(bytes: 8) }

    /// Removes the drafts that no process has locked.
    private static func removeDead(in folder: Descriptor, _ path: String, _ calls: Calls) {
      guard (try? calls.perform(.readdir, path) { 0 }) != nil else { return }
      for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      where name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 16
        && name.utf8.suffix(16).allSatisfy({ $0.isASCIIDigit || 0x61...0x66 ~= $0 })
      {
        // Open for writing, which each draft allows its owner: NFS requires it for a lock.
        let flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        guard let raw = try? calls.perform(.open, path, { openat(folder.raw, name, flags) }) else { continue }
        let draft = Descriptor(raw)
        if (try? calls.perform(.flock, path) { flock(draft.raw, LOCK_EX | LOCK_NB) }) != nil {
          _ = try? calls.perform(.unlink, path) { unlinkat(folder.raw, name, 0) }
        }
      }
    }

    /// Locks the draft, so that no other process removes it.
    ///
    /// - Returns: `false` if another process has already removed it as dead.
    private func lock() throws(SystemError) -> Bool {
      do {
        try calls.perform(.flock, path) { flock(descriptor.raw, LOCK_EX | LOCK_NB) }
      } catch {
        // On a file system without locks, no other process gets one either, and so none removes the draft.
        if error.code == EWOULDBLOCK { return false }
      }
      return try calls.status(path) { fstat(descriptor.raw, $0) }?.st_nlink != 0
    }

    /// Gives the draft the owner, the group, the access control list and the mode of the file that it is to replace.
    private func adopt() throws(SystemError) {
      let flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
      let raw: Int32
      do { raw = try calls.perform(.open, path) { openat(folder.raw, target, flags) } } catch {
        guard error.code == ENOENT else { throw error }
        return
      }
      let old = Descriptor(raw)
      guard let status = try calls.status(path, { fstat(old.raw, $0) }), mode_t(status.st_mode) & S_IFMT == S_IFREG,
        let own = try calls.status(path, { fstat(descriptor.raw, $0) })
      else { throw SystemError("stat", path, code: ESTALE) }
      if (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid) {
        try calls.perform(.fchown, path) { fchown(descriptor.raw, status.st_uid, status.st_gid) }
      }
      try calls.perform(.acl, path) { FileAttributes.copyAccessList(from: old.raw, to: descriptor.raw) }
      do { try calls.perform(.fchmod, path) { fchmod(descriptor.raw, mode_t(status.st_mode) & 0o7777 & mode) } } catch {
        // Ignore the error if the file system gives all files the same mode.
        guard error.code == EPERM, own.st_mode == status.st_mode else { throw error }
      }
      adopted = (Version(status), status.changed)
    }

    /// Renames the draft to its target.
    func place(replaces: Bool, when isCurrent: (() -> Bool)?) throws(SystemError) {
      let status = try calls.status(path) { fstatat(folder.raw, target, $0, AT_SYMLINK_NOFOLLOW) }
      if let status {
        guard replaces else { throw SystemError("open", path, code: EEXIST) }
        if adopted.map({ $0 == (Version(status), status.changed) }) != true { try adopt() }
      }
      try calls.perform(.fsync, path) { FileAttributes.synchronize(descriptor.raw) }
      // The lock lasts until the rename. Closing a copy of the descriptor reports the errors of closing the file.
      try calls.perform(.close, path) {
        let copy = fcntl(descriptor.raw, F_DUPFD_CLOEXEC, 0)
        return copy >= 0 && (close(copy) == 0 || errno == EINTR) ? 0 : -1
      }
      if let isCurrent {
        // On a file system without locks, rely on the closure alone.
        _ = try? calls.perform(.flock, folderPath) { flock(folder.raw, LOCK_EX) }
        guard isCurrent() else { throw SystemError("rename", path, code: ESTALE) }
      }
      // Keep a hard link to the old file until the folder is synced.
      let backup = Self.newName()
      var (hasBackup, isNew) = (false, !replaces)
      if replaces {
        do {
          try link(target, as: backup)
          hasBackup = true
        } catch { isNew = error.code == ENOENT }
      }
      defer { if hasBackup { remove(backup) } }
      if replaces { try rename(name, to: target) } else { try placeNew() }
      isThere = false
      do {
        try calls.perform(.fsync, folderPath) { FileAttributes.synchronize(folder.raw) }
      } catch {
        guard error.code != EINVAL, error.code != ENOTSUP else { return }
        if hasBackup { try? rename(backup, to: target) } else if isNew { remove(target) }
        throw error
      }
    }

    /// Puts the draft in place if the target does not exist; a rename would replace a file created meanwhile.
    private func placeNew() throws(SystemError) {
      do {
        try link(name, as: target)
        remove(name)
      } catch {
        guard [EPERM, ENOTSUP, ENOSYS].contains(error.code) else { throw error }
        // On a file system without hard links, check for the file, then rename.
        let status = try calls.status(path) { fstatat(folder.raw, target, $0, AT_SYMLINK_NOFOLLOW) }
        guard status == nil else { throw SystemError("rename", path, code: EEXIST) }
        try rename(name, to: target)
      }
    }

    private func link(_ old: String, as new: String) throws(SystemError) {
      try calls.perform(.link, path) { linkat(folder.raw, old, folder.raw, new, 0) }
    }

    private func rename(_ old: String, to new: String) throws(SystemError) {
      try calls.perform(.rename, path) { renameat(folder.raw, old, folder.raw, new) }
    }

    private func remove(_ name: String) {
      _ = try? calls.perform(.unlink, path) { unlinkat(folder.raw, name, 0) }
    }
  }
}

extension AtomicFile {
  /// The target of a path.
  enum Place {
    /// A file in a folder, whether it exists or not.
    case file(folder: String, name: String)
    /// An open descriptor of this process.
    case descriptor(Int32)

    /// Follows symbolic links.
    init(_ path: String, _ calls: Calls) throws(SystemError) {
      guard !path.utf8.contains(0) else { throw SystemError("open", path, code: EINVAL) }
      var current = path
      // Linux follows at most 40 links.
      for _ in 0...40 {
        for folder in ["/dev/fd/", "/proc/self/fd/"] where current.hasPrefix(folder) {
          guard let number = Int32(current.dropFirst(folder.count)) else { continue }
          self = .descriptor(number)
          return
        }
        // Search the bytes: a slash with a combining mark is a different `Character`.
        let slash = current.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { $0 == current.startIndex ? "/" : String(current[..<$0]) } ?? "."
        guard let link = try Self.target(of: current, path, calls) else {
          let name = slash.map { String(current[current.utf8.index(after: $0)...]) } ?? current
          guard !name.isEmpty else { throw SystemError("open", path, code: current.isEmpty ? ENOENT : EISDIR) }
          self = .file(folder: folder, name: name)
          return
        }
        guard try Self.mayFollow(current, in: folder, path, calls) else {
          throw SystemError("open", path, code: EACCES)
        }
        current = link.utf8.first == UInt8(ascii: "/") ? link : "\(folder)/\(link)"
      }
      throw SystemError("open", path, code: ELOOP)
    }

    /// Whether Linux would follow a symbolic link (`fs.protected_symlinks`): in a folder such as `/tmp`, where anyone may
    /// put one, only a link of this user or of the folder's owner.
    private static func mayFollow(
      _ link: String, in folder: String, _ path: String, _ calls: Calls
    ) throws(SystemError) -> Bool {
      guard let place = try calls.status(path, { fstatat(AT_FDCWD, folder, $0, 0) }),
        mode_t(place.st_mode) & (S_ISVTX | S_IWOTH) == S_ISVTX | S_IWOTH
      else { return true }
      // Another user's link may have been removed or replaced since it was read.
      guard let status = try calls.status(path, { fstatat(AT_FDCWD, link, $0, AT_SYMLINK_NOFOLLOW) }),
        mode_t(status.st_mode) & S_IFMT != S_IFREG
      else { return false }
      return status.st_uid == geteuid() || status.st_uid == place.st_uid
    }

    /// - Returns: `nil` if it is not a symbolic link.
    private static func target(of link: String, _ path: String, _ calls: Calls) throws(SystemError) -> String? {
      // No system has longer paths.
      var bytes = [CChar](repeating: 0, count: 4096)
      do throws(SystemError) {
        let count = try calls.perform(.readlink, path) { readlink(link, &bytes, bytes.count) }
        let target = String(bytes: bytes.prefix(count).map(UInt8.init(bitPattern:)), encoding: .utf8)
        guard let target else { throw SystemError("readlink", path, code: EILSEQ) }
        return target
      } catch {
        guard error.code == EINVAL || error.code == ENOENT else { throw error }
        return nil
      }
    }
  }

  /// An open descriptor, closed when it is released.
  final class Descriptor {
    let raw: Int32

    init(_ raw: Int32) { self.raw = raw }

    deinit { close(raw) }
  }
}
