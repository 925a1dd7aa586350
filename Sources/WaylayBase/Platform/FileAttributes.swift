/// File operations whose system calls differ between platforms.
enum FileAttributes {
  /// Syncs a file or a folder.
  static func synchronize(_ file: Int32) -> Int32 {
    #if canImport(Darwin)
      // On Apple platforms, `fsync` alone leaves the data in the disk's buffer.
      if fcntl(file, F_FULLFSYNC) == 0 { return 0 }
      // Use the weaker call only if the file system does not support this one.
      guard errno == ENOTSUP || errno == EINVAL || errno == ENOTTY else { return -1 }
    #endif
    return fsync(file)
  }

  /// Gives a file the access control list of another one, or none if that has none.
  static func copyAccessList(from old: Int32, to new: Int32) -> Int32 {
    #if canImport(Darwin)
      guard let list = acl_get_fd(old) ?? (errno == ENOENT ? acl_init(0) : nil) else {
        return errno == ENOTSUP ? 0 : -1
      }
      defer { acl_free(UnsafeMutableRawPointer(list)) }
      return acl_set_fd(new, list)
    #else
      let name = "system.posix_acl_access"
      // The maximum size of an attribute on Linux.
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      let count = getAttribute(old, name, &bytes, bytes.count)
      if count >= 0 { return setAttribute(new, name, bytes, count, 0) }
      // Remove the list that the new file has inherited from its folder.
      if errno == ENODATA, removeAttribute(new, name) == 0 { return 0 }
      return errno == ENODATA || errno == ENOTSUP ? 0 : -1
    #endif
  }
}

#if !canImport(Darwin)
  // <sys/xattr.h>, which the module of the C library leaves out.
  @_silgen_name("fgetxattr")
  private func getAttribute(
    _ file: Int32, _ name: UnsafePointer<CChar>, _ value: UnsafeMutableRawPointer, _ size: Int
  ) -> Int
  @_silgen_name("fsetxattr")
  private func setAttribute(
    _ file: Int32, _ name: UnsafePointer<CChar>, _ value: UnsafeRawPointer, _ size: Int, _ flags: Int32
  ) -> Int32
  @_silgen_name("fremovexattr")
  private func removeAttribute(_ file: Int32, _ name: UnsafePointer<CChar>) -> Int32
#endif

extension stat {
  /// When the contents were changed last, in nanoseconds since 1970.
  var modified: Int64 { Self.nanoseconds(times.modified) }

  /// When the contents or the attributes were changed last, in nanoseconds since 1970.
  package var changed: Int64 { Self.nanoseconds(times.changed) }

  private var times: (modified: timespec, changed: timespec) {
    #if canImport(Darwin)
      (st_mtimespec, st_ctimespec)
    #else
      (st_mtim, st_ctim)
    #endif
  }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
