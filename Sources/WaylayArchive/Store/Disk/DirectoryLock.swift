/// What keeps a second writer from a directory: the lock of a file in it, and that of the directory itself, so that whoever removes the
/// file does not open the door.
struct DirectoryLock: Sendable {
  static let fileName = "lock"

  private let directory: ArchiveDirectory
  private let file: FileDescriptor

  /// Takes both locks, unless somebody else has one of them.
  init(_ directory: ArchiveDirectory) throws(SystemError) {
    self.directory = directory
    file = try directory.files.openForWriting(Self.fileName, in: directory.root, creating: true)
    try directory.files.lock(file)
    try directory.files.lock(directory.root)
  }

  /// Whether the file that is locked is the one that others find.
  func isAtItsName() throws(SystemError) -> Bool {
    try directory.files.status(of: Self.fileName, in: directory.root)?.identity == directory.files.status(of: file).identity
  }

  /// Lets others in.
  func release() {
    directory.files.unlock(file)
    directory.files.unlock(directory.root)
  }
}
