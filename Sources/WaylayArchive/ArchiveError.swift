import Foundation

/// An error of an archive.
///
/// An app finds it beneath the `URLError` of a failed load:
///
/// ```swift
/// do {
///   (data, _) = try await session.data(from: url)
/// } catch let error as URLError where error.code == .resourceUnavailable {
///   print(error.cause(as: ArchiveError.self)?.message ?? "")
/// }
/// ```
public struct ArchiveError: LoadError {
  /// The kind of failure. New codes may be added in any release.
  public let code: ErrorCode<ArchiveError>
  /// A human-readable text: the failure, and how to correct it. Contains no credentials and no query values.
  public let message: String
  /// The URL of the failed request, if the error is about one.
  public let url: URL?
  /// The load that failed, if the error is about one.
  public let requestID: InterceptedRequest.ID?
  /// The original error, if there is one.
  public let underlying: (any Error)?

  /// Makes an error of the given kind.
  public init(
    _ code: ErrorCode<ArchiveError>, _ message: String, url: URL? = nil, requestID: InterceptedRequest.ID? = nil,
    underlying: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.url = url
    self.requestID = requestID
    self.underlying = underlying
  }
}

extension ErrorCode where Domain == ArchiveError {
  /// Nothing is stored for a request that must not go to the network.
  ///
  /// Load it online first, with the same partition and the same fields that the response varies by; or choose a mode
  /// that allows the network. `explain(_:)` shows the key and the stored responses.
  public static var notStored: Self { Self("notStored") }
  /// The request itself rules out the stored response (`no-cache`, `reloadIgnoringLocalCacheData`), and the mode
  /// forbids the network.
  ///
  /// Remove the request's cache policy or its `Cache-Control` field, or allow the network.
  public static var forbiddenByRequest: Self { Self("forbiddenByRequest") }
  /// A stored response is no longer readable: it was damaged, evicted, or encrypted with another key.
  ///
  /// Load it again online; the entry has been removed. If this happens to all entries, check the encryption key.
  public static var unreadable: Self { Self("unreadable") }
  /// The archive could not be opened.
  ///
  /// See the message and ``ArchiveError/underlying``: SQLite is not installed (`libsqlite3-0` on Debian and Ubuntu), the
  /// directory is not writable, a newer version wrote it, or the archive was opened before `fork()`.
  public static var unavailable: Self { Self("unavailable") }
  /// A prefetch gave no result: the server responded with an error status, the response may not be stored, or the
  /// registry does not lead through the archive.
  ///
  /// The message names the cause. Prefetch through the registry of the app's session; `archive.explain(_:)` shows how
  /// the archive handles the request.
  public static var notPrefetched: Self { Self("notPrefetched") }
  /// The archive was used after it had been invalidated.
  ///
  /// Make a new `ArchiveCache`; invalidate an archive only when nothing uses it any more.
  public static var invalidated: Self { Self("invalidated") }
  /// An entry exceeds the store's limit for one entry.
  ///
  /// Raise ``StoreLimits/entryBytes``, or accept that it is not stored: the response reaches the app in any case.
  public static var entryTooLarge: Self { Self("entryTooLarge") }
  /// Pinned entries and entries being written leave no space.
  ///
  /// Unpin entries that can go, or raise the limits of the store.
  public static var storeFull: Self { Self("storeFull") }
  /// The archive is open for reading only.
  ///
  /// Open the archive without `isReadOnly` to store responses.
  public static var readOnly: Self { Self("readOnly") }
  /// The archive has been closed.
  ///
  /// Make a new `ArchiveCache`; close one only when nothing uses it any more.
  public static var closed: Self { Self("closed") }
  /// The disk did not accept an entry; the underlying error says why.
  ///
  /// See ``ArchiveError/underlying``: usually the disk is full, or the directory has become unwritable.
  public static var notWritten: Self { Self("notWritten") }
  /// The system temporarily could not read a stored response: no file descriptor was available, the disk failed, or a
  /// permission is missing. The stored data stays unchanged; `unreadable`, in contrast, means that the data differs
  /// from the data stored.
  ///
  /// Try again. If the failure persists, see ``ArchiveError/underlying`` for the missing resource.
  public static var readFailed: Self { Self("readFailed") }
  /// The directory is unusable: it does not exist, or its permissions do not allow access.
  ///
  /// Check the path and its permissions; it must be a directory of this user, or one that can be created.
  public static var directoryUnusable: Self { Self("directoryUnusable") }
  /// The directory or file is not an archive, or has another format. Nothing was changed.
  ///
  /// Choose another directory or file. Remove an archive of an older format manually.
  public static var foreignFormat: Self { Self("foreignFormat") }
  /// The archive is encrypted and the key is wrong or missing, or a key was given and the archive is not encrypted.
  ///
  /// Give the key that the archive was made with. If it is lost, remove the directory: nothing in it can be read.
  public static var wrongKey: Self { Self("wrongKey") }
  /// The encryption key has fewer than 16 bytes, the minimum for AES. Nothing was created or changed.
  ///
  /// Give `SymmetricKey(size: .bits256)`, kept in the keychain or a similar place.
  public static var invalidKey: Self { Self("invalidKey") }
}

extension ArchiveError {
  /// The error passed to the app.
  func urlError(_ code: URLError.Code = .resourceUnavailable) -> URLError {
    var userInfo: [String: Any] = [NSLocalizedDescriptionKey: message, NSUnderlyingErrorKey: self]
    if let url { userInfo[NSURLErrorFailingURLErrorKey] = url.withoutUserInfo }
    return URLError(code, userInfo: userInfo)
  }

  /// The error for a URL that is not a file URL; its path could name an unrelated file.
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
