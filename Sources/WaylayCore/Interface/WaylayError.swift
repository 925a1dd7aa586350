import Foundation

/// A failure inside an interceptor chain, with everything known about it.
///
/// An app finds it beneath the `URLError` that its task fails with:
///
/// ```swift
/// do {
///   _ = try await session.data(from: url)
/// } catch let error as URLError {
///   if let cause = error.cause(as: WaylayError.self), cause.code == .bodyTooLarge {
///     print(cause.message)
///   }
/// }
/// ```
///
/// To fail a load for a reason of its own, an interceptor throws a `URLError`, not this type.
public struct WaylayError: LoadError {
  /// The kind of failure. New codes may be added in any release.
  public let code: Code
  /// A human-readable text: what happened and what to do about it. Contains no credentials and no query values.
  public let message: String
  /// The name of the interceptor that the failure is about, if any.
  public let interceptor: String?
  /// The URL of the failed request.
  public let url: URL?
  /// The load that failed.
  public let requestID: InterceptedRequest.ID?
  /// The original error, if there is one.
  public let underlying: (any Error)?

  /// Makes an error of the given kind.
  public init(
    _ code: Code, _ message: String, interceptor: String? = nil, url: URL? = nil,
    requestID: InterceptedRequest.ID? = nil, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.interceptor = interceptor
    self.url = url
    self.requestID = requestID
    self.underlying = underlying
  }
}

extension WaylayError {
  /// The kinds of failure. A struct rather than an enum, so that new ones do not break a `switch`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name.
    public let description: String

    /// Makes a code with the given name. Other modules add their own codes this way.
    public init(_ description: String) {
      self.description = description
    }

    /// The request cannot be sent: it has no URL, its method or a header field would break out of its line, or its
    /// ``Route`` is not an IP address with a port.
    ///
    /// Correct what the message names. Usually an interceptor that changes requests is the cause;
    /// ``WaylayError/interceptor`` names it.
    public static let invalidRequest = Code("invalidRequest")
    /// An interceptor gave a response that no HTTP client can present, for example with the status 99.
    ///
    /// Answer with a status from 200 to 999.
    public static let invalidResponse = Code("invalidResponse")
    /// `next` was called after `startLoading` had returned.
    ///
    /// Await each call of `next` before `startLoading` returns; use a task group instead of an unstructured task.
    public static let nextAfterReturn = Code("nextAfterReturn")
    /// An interceptor answered a load that had been cancelled; its answer was dropped.
    ///
    /// Nothing is lost: the app sees a cancelled task. In long-running work, check `Task.isCancelled` and pass
    /// `CancellationError` on.
    public static let answeredAfterCancellation = Code("answeredAfterCancellation")
    /// A one-shot body was read a second time.
    ///
    /// Collect the body into data before you pass it on, or make it replayable: ``MessageBody/isReplayable`` tells
    /// whether it is.
    public static let bodyConsumed = Code("bodyConsumed")
    /// A body exceeds the limit it was collected with.
    ///
    /// Raise the limit of `collect(upTo:)`, or read the body chunk by chunk.
    public static let bodyTooLarge = Code("bodyTooLarge")
    /// The file or stream of a body could not be read, or its number of bytes differs from the announced length.
    ///
    /// See ``WaylayError/underlying``: check the file and its permissions, and announce the true length of a stream, or
    /// none.
    public static let bodyUnreadable = Code("bodyUnreadable")
    /// The load made no progress for longer than the request's timeout, or took longer overall than the resource
    /// timeout.
    ///
    /// The message states both timeouts and what was running: an interceptor, the transport or the reading of the body.
    /// Look there first, then raise `timeoutInterval` or `timeoutIntervalForResource`.
    public static let timedOut = Code("timedOut")
    /// A load entered interception again more often than allowed.
    ///
    /// An interceptor loads through the session that it intercepts. Give it a session of its own, or call `next`; the
    /// message shows the path.
    public static let loopDetected = Code("loopDetected")
    /// The policy does not allow the redirect, such as one from `https` to `http`.
    ///
    /// Load the target yourself if you trust it, or allow it with ``RedirectPolicy``.
    public static let redirectRefused = Code("redirectRefused")
    /// This version of Foundation on Linux does not let Waylay hand over a download task's file.
    ///
    /// Use `registry.download(for:to:)` or a data task, and update Waylay.
    public static let downloadTaskUnsupported = Code("downloadTaskUnsupported")
    /// Foundation's internals on Linux differ from what this version of Waylay expects.
    ///
    /// Update Waylay, or pin the toolchain; direct loads through the registry are not affected.
    public static let foundationChanged = Code("foundationChanged")
    /// A message exceeds one of the ``MessageLimits``.
    ///
    /// The message names the limit. Make the server send less, or raise the limit if you trust it.
    public static let limitExceeded = Code("limitExceeded")
    /// The request's URL has another host or port than the one its ``Route`` was made for.
    ///
    /// Set the route after the URL, or remove it when an interceptor changes the host.
    public static let routeMismatch = Code("routeMismatch")
    /// The transport does not support what the request needs: see ``TransportCapabilities``.
    ///
    /// On Linux, use the default transport (`CurlTransport`). On Apple platforms no transport dials an address of your
    /// choice: allow the policy's fallback, or leave the host to the system.
    public static let transportIncapable = Code("transportIncapable")
    /// A session was used after its registry had been invalidated.
    ///
    /// Make a new session from a live registry, and invalidate a registry only after its sessions.
    public static let registryInvalidated = Code("registryInvalidated")
    /// An interceptor left its answer to `startLoading` but does not implement it: see ``InlineAnswering``.
    ///
    /// Implement `startLoading`, or answer in `answerInline`.
    public static let missingAnswer = Code("missingAnswer")
    /// The text is neither a host name, nor an address literal, nor a ``HostPattern``.
    ///
    /// Write only the host, without scheme, path or port: `api.example.com`, `*.example.com`, `203.0.113.7`.
    public static let invalidHost = Code("invalidHost")
    /// A text that is no path of an ``InterceptorChain/Scope``.
    ///
    /// Write `*` and `**` as whole segments only, and leave out scheme, host and query: `/v1/**`, `/users/*/avatar`.
    public static let invalidPath = Code("invalidPath")
    /// A downloaded file, or a temporary one, could not be written.
    ///
    /// Check that the folder exists, that the process may write there, and that the disk has space; see
    /// ``WaylayError/underlying``.
    public static let fileNotWritten = Code("fileNotWritten")
  }
}

extension WaylayError {
  /// Whether the load timed out, the only network failure of this type.
  public var isNetworkFailure: Bool { code == .timedOut }

  /// The `URLError` code that an app sees for this failure.
  package var urlErrorCode: URLError.Code {
    switch code {
    case .invalidRequest, .routeMismatch: .badURL
    case .invalidResponse: .badServerResponse
    case .bodyConsumed: .requestBodyStreamExhausted
    case .bodyTooLarge, .limitExceeded: .dataLengthExceedsMaximum
    case .bodyUnreadable: Self.unreadable(underlying)
    case .timedOut: .timedOut
    case .loopDetected: .httpTooManyRedirects
    case .redirectRefused: .redirectToNonExistentLocation
    case .downloadTaskUnsupported, .registryInvalidated, .transportIncapable: .resourceUnavailable
    case .answeredAfterCancellation: .cancelled
    case .fileNotWritten: .cannotWriteToFile
    default: .unknown
    }
  }

  /// As `URLSession` says it of an upload's file.
  private static func unreadable(_ error: (any Error)?) -> URLError.Code {
    switch (error as? CocoaError)?.code {
    case .fileNoSuchFile, .fileReadNoSuchFile: .fileDoesNotExist
    case .fileReadNoPermission: .noPermissionsToReadFile
    default: .cannotOpenFile
    }
  }
}
