import Foundation

/// What an archive could not do, and why.
///
/// An app whose request was not answered finds it beneath the `URLError` that its task fails with:
///
/// ```swift
/// do {
///   (data, _) = try await session.data(from: url)
/// } catch let error as URLError where error.code == .resourceUnavailable {
///   print(error.cause(as: ArchiveError.self)?.message ?? "")
/// }
/// ```
public struct ArchiveError: LoadError {
  /// What kind of failure it was. New codes may be added in any release.
  public let code: Code
  /// What happened and what to do about it, for a person. Carries no credentials and no query values.
  public let message: String
  /// The URL of the request that was not answered, where it is about one.
  public let url: URL?
  /// The load that was not answered, where it is about one.
  public let requestID: InterceptedRequest.ID?
  /// The error that was thrown first, where there was one.
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

    /// Makes a code of that name.
    public init(_ description: String) {
      self.description = description
    }

    /// Nothing is stored for a request that must not go to the network.
    ///
    /// Load it once online before, with the same partition and the same fields that the response varies by; or choose a
    /// mode that allows the network. `explain(_:)` says what was looked for.
    public static let notStored = Code("notStored")
    /// The request itself forbids what is stored (`no-cache`, `reloadIgnoringLocalCacheData`), and the mode forbids the
    /// network.
    ///
    /// Drop the request's cache policy or its `Cache-Control` field, or allow the network.
    public static let refusedByRequest = Code("refusedByRequest")
    /// A stored response cannot be read any more: it was damaged, evicted, or encrypted with another key.
    ///
    /// Load it again online; the entry is removed. If it happens to all entries, check the encryption key.
    public static let unreadable = Code("unreadable")
    /// The archive could not be opened.
    ///
    /// See ``ArchiveError/underlying``: another process has the directory open, it cannot be written, or a newer
    /// version wrote it.
    public static let unavailable = Code("unavailable")
    /// A prefetch did not bring what was asked for: the server answered with an error status, the answer may not be
    /// stored, or the registry does not lead through the archive.
    ///
    /// The message says which. Prefetch through the registry that the app's session has, and see `archive.explain(_:)`
    /// for what the archive does with the request.
    public static let notPrefetched = Code("notPrefetched")
    /// The archive was invalidated, and asked afterwards.
    ///
    /// Make a new `ArchiveCache`; invalidate one only when nothing uses it any more.
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
