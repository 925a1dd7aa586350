/// What keeps a second writer from a directory: the lock of the directory itself. There is no file that somebody could
/// remove to open the door, and where a directory takes the place of another one, its lock is another one, too.
final class DirectoryLock: Sendable {
  private let directory: ArchiveDirectory

  /// Takes the lock, unless somebody else has it.
  init(_ directory: ArchiveDirectory) throws(SystemError) {
    self.directory = directory
    try directory.files.lock(directory.root)
  }

  deinit {
    // Closing would not do: a process that is just being started may have the descriptor for a moment, too.
    release()
  }

  /// Lets others in; twice does no harm.
  func release() { directory.files.unlock(directory.root) }
}
