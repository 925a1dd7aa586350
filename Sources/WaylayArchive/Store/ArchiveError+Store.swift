extension ArchiveError.Code {
  /// An entry is larger than the store's limit for one entry.
  ///
  /// Raise ``StoreLimits/entryBytes``, or leave it to the network: the response reaches the app all the same.
  public static let entryTooLarge = ArchiveError.Code("entryTooLarge")
  /// What is pinned or being written leaves no room.
  ///
  /// Unpin what need not stay, or raise the limits of the store.
  public static let storeFull = ArchiveError.Code("storeFull")
  /// The store was opened for reading only.
  ///
  /// Open the store without `isReadOnly` in the one process that writes.
  public static let readOnly = ArchiveError.Code("readOnly")
  /// The store has been closed.
  ///
  /// Make a new one; close one only when nothing uses it any more.
  public static let closed = ArchiveError.Code("closed")
  /// The disk would not take an entry; the underlying error says why.
  ///
  /// See ``ArchiveError/underlying``: most often the disk is full, or the directory has become unwritable.
  public static let notWritten = ArchiveError.Code("notWritten")
  /// The system could not read what is stored just now: no descriptor was free, the medium failed, or a permission is
  /// lacking. It says nothing of what is stored, which stays as it is; ``unreadable``, in contrast, is what was read
  /// and is not what was stored.
  ///
  /// Try again. If it lasts, see ``ArchiveError/underlying`` for what the system lacks.
  public static let readFailed = ArchiveError.Code("readFailed")
  /// The directory cannot be used: it does not exist, or its permissions do not allow it.
  ///
  /// Check the path and its permissions; it has to be a directory of this user, or one that can be made.
  public static let directoryUnusable = ArchiveError.Code("directoryUnusable")
  /// Another process, or another store of this one, has the directory open.
  ///
  /// Close the other store first, or open this one with `isReadOnly`.
  public static let locked = ArchiveError.Code("locked")
  /// The directory or the file holds something that is not an archive, or one of another format. Nothing was changed.
  ///
  /// Choose another directory or file. An archive of an older format has to be removed by hand.
  public static let foreignFormat = ArchiveError.Code("foreignFormat")
  /// The archive is encrypted and the key is another one or missing, or a key was given and the archive is not
  /// encrypted.
  ///
  /// Give the key that the archive was made with. If that is lost, remove the directory: nothing in it can be read.
  public static let wrongKey = ArchiveError.Code("wrongKey")
  /// The encryption key has fewer than 16 bytes, the least of AES. Nothing was made or changed.
  ///
  /// Give `SymmetricKey(size: .bits256)`, kept in the keychain or its like.
  public static let invalidKey = ArchiveError.Code("invalidKey")
}

extension ArchiveError {
  /// A URL that leads to no file: its path alone would lead anywhere.
  static func notAFile(_ url: URL, _ what: String) -> ArchiveError {
    ArchiveError(
      .directoryUnusable,
      "\(what) has to be a file URL, and \(url.redacted) is none: make it with URL(fileURLWithPath:), or take one of "
        + "FileManager's.")
  }

  static func readFailed(_ what: String, _ error: any Error) -> ArchiveError {
    ArchiveError(
      .readFailed,
      "\(what) could not be read now (\(error)): nothing was removed. Try again, or see what the system lacks.",
      underlying: error)
  }
}
