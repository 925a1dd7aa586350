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
  public let code: Code
  /// A human-readable text: what happened and what to do about it. Contains no credentials and no query values.
  public let message: String
  /// The URL of the failed request, if the error is about one.
  public let url: URL?
  /// The load that failed, if the error is about one.
  public let requestID: InterceptedRequest.ID?
  /// The original error, if there is one.
  public let underlying: (any Error)?

  /// Makes an error of the given kind.
  public init(
    _ code: Code, _ message: String, url: URL? = nil, requestID: InterceptedRequest.ID? = nil,
    underlying: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.url = url
    self.requestID = requestID
    self.underlying = underlying
  }

  /// The kinds of failure. A struct rather than an enum, so that new ones do not break a `switch`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name.
    public let description: String

    /// Makes a code with the given name.
    public init(_ description: String) {
      self.description = description
    }

    /// Nothing is stored for a request that must not go to the network.
    ///
    /// Load it online first, with the same partition and the same fields that the response varies by; or choose a mode
    /// that allows the network. `explain(_:)` shows what the archive looked for.
    public static let notStored = Code("notStored")
    /// The request itself rules out the stored response (`no-cache`, `reloadIgnoringLocalCacheData`), and the mode
    /// forbids the network.
    ///
    /// Remove the request's cache policy or its `Cache-Control` field, or allow the network.
    public static let refusedByRequest = Code("refusedByRequest")
    /// A stored response is no longer readable: it was damaged, evicted, or encrypted with another key.
    ///
    /// Load it again online; the entry has been removed. If this happens to all entries, check the encryption key.
    public static let unreadable = Code("unreadable")
    /// The archive could not be opened.
    ///
    /// See ``ArchiveError/underlying``: another process has the directory open, the directory is not writable, or a
    /// newer version wrote it.
    public static let unavailable = Code("unavailable")
    /// A prefetch gave no result: the server responded with an error status, the response may not be stored, or the
    /// registry does not lead through the archive.
    ///
    /// The message says which. Prefetch through the registry of the app's session; `archive.explain(_:)` shows what the
    /// archive does with the request.
    public static let notPrefetched = Code("notPrefetched")
    /// The archive was used after it had been invalidated.
    ///
    /// Make a new `ArchiveCache`; invalidate an archive only when nothing uses it any more.
    public static let invalidated = Code("invalidated")
  }
}

extension ArchiveError {
  /// The error as an app sees it.
  func urlError(_ code: URLError.Code = .resourceUnavailable) -> URLError {
    var userInfo: [String: Any] = [NSLocalizedDescriptionKey: message, NSUnderlyingErrorKey: self]
    if let url { userInfo[NSURLErrorFailingURLErrorKey] = url.withoutUserInfo }
    return URLError(code, userInfo: userInfo)
  }
}
