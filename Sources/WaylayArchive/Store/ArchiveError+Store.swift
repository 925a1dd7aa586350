extension ArchiveError.Code {
  /// An entry exceeds the store's limit for one entry.
  ///
  /// Raise ``StoreLimits/entryBytes``, or accept that it is not stored: the response reaches the app in any case.
  public static let entryTooLarge = ArchiveError.Code("entryTooLarge")
  /// Pinned entries and entries being written leave no space.
  ///
  /// Unpin entries that can go, or raise the limits of the store.
  public static let storeFull = ArchiveError.Code("storeFull")
  /// The store is open for reading only.
  ///
  /// Open the store without `isReadOnly` in the one process that writes to it.
  public static let readOnly = ArchiveError.Code("readOnly")
  /// The store has been closed.
  ///
  /// Make a new store; close one only when nothing uses it any more.
  public static let closed = ArchiveError.Code("closed")
  /// The disk did not accept an entry; the underlying error says why.
  ///
  /// See ``ArchiveError/underlying``: usually the disk is full, or the directory has become unwritable.
  public static let notWritten = ArchiveError.Code("notWritten")
  /// The system temporarily could not read what is stored: no file descriptor was available, the medium failed, or a
  /// permission is missing. The stored data stays unchanged; ``unreadable``, in contrast, means that the data differs
  /// from what was stored.
  ///
  /// Try again. If the failure persists, see ``ArchiveError/underlying`` for what the system lacks.
  public static let readFailed = ArchiveError.Code("readFailed")
  /// The directory is unusable: it does not exist, or its permissions do not allow access.
  ///
  /// Check the path and its permissions; it must be a directory of this user, or one that can be created.
  public static let directoryUnusable = ArchiveError.Code("directoryUnusable")
  /// Another process, or another store in this process, has the directory open.
  ///
  /// Close the other store first, or open this one with `isReadOnly`.
  public static let locked = ArchiveError.Code("locked")
  /// The directory or file is not an archive, or has another format. Nothing was changed.
  ///
  /// Choose another directory or file. Remove an archive of an older format manually.
  public static let foreignFormat = ArchiveError.Code("foreignFormat")
  /// The archive is encrypted and the key is wrong or missing, or a key was given and the archive is not encrypted.
  ///
  /// Give the key that the archive was made with. If it is lost, remove the directory: nothing in it can be read.
  public static let wrongKey = ArchiveError.Code("wrongKey")
  /// The encryption key has fewer than 16 bytes, the minimum for AES. Nothing was created or changed.
  ///
  /// Give `SymmetricKey(size: .bits256)`, kept in the keychain or a similar place.
  public static let invalidKey = ArchiveError.Code("invalidKey")
}

extension ArchiveError {
  /// A URL that leads to no file: its path alone would lead anywhere.
  static func notAFile(_ url: URL, _ what: String) -> ArchiveError {
    ArchiveError(
      .directoryUnusable,
      "\(what) must be a file URL, and \(url.redacted) is not: make it with URL(fileURLWithPath:), or use one from "
        + "FileManager.")
  }

  static func readFailed(_ what: String, _ error: any Error) -> ArchiveError {
    ArchiveError(
      .readFailed,
      "\(what) could not be read now (\(error)): nothing was removed. Try again, or fix what the error names.",
      underlying: error)
  }
}
