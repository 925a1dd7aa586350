import Foundation

/// The common protocol of this package's errors, which an app finds beneath the `URLError` of a failed load.
///
/// ```swift
/// do {
///   _ = try await session.data(from: url)
/// } catch let error as URLError {
///   if let cause = error.cause(as: TransportError.self), cause.code == .certificateExpired { … }
///   if let cause = error.loadError { print(cause.code, cause.message) }
/// }
/// ```
///
/// Conform the errors of your own interceptor to it if others use the interceptor. They reach the app beneath a
/// `URLError` with the code `unknown`; to choose the code, throw a `URLError` with your error under
/// `NSUnderlyingErrorKey`.
///
/// Logs, events and other errors show the text of such an error: `message` and `description` must contain no
/// credentials, query values or bodies.
public protocol LoadError: Error, Sendable, CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
  /// The kind of failure.
  associatedtype Code: Hashable & Sendable

  /// The kind of failure.
  var code: Code { get }
  /// A human-readable text: what happened and what to do about it.
  var message: String { get }
  /// The URL of the failed request, if the error is about one.
  var url: URL? { get }
  /// The load that failed, if the error is about one.
  var requestID: InterceptedRequest.ID? { get }
  /// The original error, if there is one.
  var underlying: (any Error)? { get }
  /// Whether the origin could not be reached or did not give a valid HTTP response, so that trying later or a stored
  /// response may help. Default: `false`.
  var isNetworkFailure: Bool { get }
}

/// The kind of a failure: one list of names for each error type.
///
/// ```swift
/// extension ErrorCode where Domain == TokenError {
///   public static var expired: Self { Self("expired") }
/// }
/// ```
///
/// A struct rather than an enum, so that new codes do not break a `switch`. New ones may be added in any release, and
/// by other modules.
public struct ErrorCode<Domain>: Hashable, Sendable, CustomStringConvertible {
  /// The code's name.
  public let description: String

  /// Makes a code with the given name.
  public init(_ description: String) {
    self.description = description
  }
}

extension LoadError {
  /// `nil`: the error is about no request.
  public var url: URL? { nil }

  /// `nil`: the error is about no load.
  public var requestID: InterceptedRequest.ID? { nil }

  /// `false`: the failure has another reason.
  public var isNetworkFailure: Bool { false }

  /// Type, code, message and known context on one line. URLs appear without user info, query values and fragment.
  public var description: String {
    var text = "\(Self.self).\(code): \(message.withRedactedURLs)"
    if let url { text += " [\(url.redacted)]" }
    if let requestID { text += " [load \(requestID)]" }
    return text
  }

  /// The same as the description, which leaves out the underlying error because that may contain anything.
  public var debugDescription: String { description }

  /// The message, with its URLs redacted in the same way.
  public var errorDescription: String? { message.withRedactedURLs }
}

extension URLError {
  /// Returns the error of a given type that this error was made from, at any depth.
  ///
  /// ```swift
  /// if let refusal = error.cause(as: TokenError.self) { signOut(because: refusal) }
  /// ```
  ///
  /// The search follows `NSUnderlyingErrorKey` and ``LoadError/underlying``.
  public func cause<Cause: Error>(as type: Cause.Type = Cause.self) -> Cause? {
    beneath?.first(as: type)
  }

  /// The outermost error of an interceptor, a transport or the core that this error was made from.
  public var loadError: (any LoadError)? { beneath?.first { $0 as? any LoadError } }

  /// Whether the error says that the origin could not be reached or did not give a valid HTTP response. An error that
  /// an interceptor throws for its own reasons is not one.
  public var isNetworkFailure: Bool {
    // Prefer the underlying error: an interceptor that gave up puts the cause there.
    loadError?.isNetworkFailure ?? URLError.Code.unreachable.contains(code)
  }
}

extension Error {
  /// The first error of a given type among this one and those that it was made from.
  package func first<Cause: Error>(as type: Cause.Type) -> Cause? { first { $0 as? Cause } }

  fileprivate func first<Cause>(_ matches: (any Error) -> Cause?) -> Cause? {
    var next: (any Error)? = self
    // The limit ends cycles; real errors are not nested that deeply.
    for _ in 0..<16 {
      guard let error = next else { return nil }
      if let cause = matches(error) { return cause }
      next = error.beneath
    }
    return nil
  }

  fileprivate var beneath: (any Error)? {
    (self as? any LoadError)?.underlying ?? (self as? URLError)?.userInfo[NSUnderlyingErrorKey] as? any Error
  }
}

extension URLError.Code {
  /// The loading system's codes for a missing network, and for an origin that does not respond.
  fileprivate static let unreachable: Set<URLError.Code> = [
    .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed, .notConnectedToInternet,
    .internationalRoamingOff, .callIsActive, .dataNotAllowed, .cannotLoadFromNetwork,
  ]
}

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
  public let code: ErrorCode<WaylayError>
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
    _ code: ErrorCode<WaylayError>, _ message: String, interceptor: String? = nil, url: URL? = nil,
    requestID: InterceptedRequest.ID? = nil, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.message = message.withRedactedURLs
    self.interceptor = interceptor
    self.url = url
    self.requestID = requestID
    self.underlying = underlying
  }
}

extension ErrorCode where Domain == WaylayError {
  /// The request cannot be sent: it has no URL, its method or a header field would break out of its line, or its
  /// ``Route`` is not an IP address with a port.
  ///
  /// Correct what the message names. Usually an interceptor that changes requests is the cause;
  /// ``WaylayError/interceptor`` names it.
  public static var invalidRequest: Self { Self("invalidRequest") }
  /// An interceptor gave a response that no HTTP client can present: with the status 99, or with a `Content-Length`
  /// that differs from the length of its body.
  ///
  /// Answer with a status from 200 to 999, and without a length or with the body's.
  public static var invalidResponse: Self { Self("invalidResponse") }
  /// `next` was called after `startLoading` had returned.
  ///
  /// Await each call of `next` before `startLoading` returns; use a task group instead of an unstructured task.
  public static var nextAfterReturn: Self { Self("nextAfterReturn") }
  /// An interceptor answered a load that had been cancelled; its response was dropped.
  ///
  /// Nothing is lost: the app sees a cancelled task. In long-running work, check `Task.isCancelled` and pass
  /// `CancellationError` on.
  public static var respondedAfterCancellation: Self { Self("respondedAfterCancellation") }
  /// A one-shot body was read a second time.
  ///
  /// Collect the body into data before you pass it on, or make it replayable: ``MessageBody/isReplayable`` tells
  /// whether it is.
  public static var bodyConsumed: Self { Self("bodyConsumed") }
  /// A body exceeds the limit it was collected with.
  ///
  /// Raise the limit of `collect(upTo:)`, or read the body chunk by chunk.
  public static var bodyTooLarge: Self { Self("bodyTooLarge") }
  /// The file or stream of a body could not be read, or its number of bytes differs from the announced length.
  ///
  /// See ``WaylayError/underlying``: check the file and its permissions, and announce the true length of a stream, or
  /// none.
  public static var bodyUnreadable: Self { Self("bodyUnreadable") }
  /// The load made no progress for longer than the request's timeout, or took longer overall than the resource
  /// timeout.
  ///
  /// The message states both timeouts and what was running: an interceptor, the transport or the reading of the body.
  /// Look there first, then raise `timeoutInterval` or `timeoutIntervalForResource`.
  public static var timedOut: Self { Self("timedOut") }
  /// A load entered interception again more often than allowed.
  ///
  /// An interceptor loads through the session that it intercepts. Give it a session of its own, or call `next`; the
  /// message shows the path.
  public static var loopDetected: Self { Self("loopDetected") }
  /// The policy does not allow the redirect, such as one from `https` to `http`.
  ///
  /// Load the target yourself if you trust it, or allow it with ``RedirectPolicy``.
  public static var redirectRefused: Self { Self("redirectRefused") }
  /// Credentials that an interceptor or the app set were not sent to another origin, to which a redirect led. An event
  /// and a log line carry this error; the load continues without them.
  ///
  /// To send an interceptor's to that host, register it in a chain whose scope names the host, as in
  /// `.host("api.example.com")`; to send the app's own field, name it in ``RedirectPolicy/forwardedCredentials``.
  public static var credentialsWithheld: Self { Self("credentialsWithheld") }
  /// This version of Foundation on Linux does not let Waylay hand over a download task's file.
  ///
  /// Use `registry.download(for:to:)` or a data task, and update Waylay.
  public static var downloadTaskUnsupported: Self { Self("downloadTaskUnsupported") }
  /// Foundation's internals on Linux differ from what this version of Waylay expects.
  ///
  /// Update Waylay, or pin the toolchain; direct loads through the registry are not affected.
  public static var foundationChanged: Self { Self("foundationChanged") }
  /// A message exceeds one of the ``MessageLimits``.
  ///
  /// The message names the limit. Make the server send less, or raise the limit if you trust it.
  public static var limitExceeded: Self { Self("limitExceeded") }
  /// The request's URL has another host or port than the one its ``Route`` was made for.
  ///
  /// Set the route after the URL, or remove it when an interceptor changes the host.
  public static var routeMismatch: Self { Self("routeMismatch") }
  /// The transport does not support what the request needs: see ``TransportCapabilities``.
  ///
  /// On Linux, use the default transport (`CurlTransport`). On Apple platforms a tunnel's transport
  /// dials an address of your choice: without one allow the policy's fallback, or leave the host to the system.
  public static var transportIncapable: Self { Self("transportIncapable") }
  /// The text is no pin of a public key: see ``Pins``.
  ///
  /// Write `sha256/` and the Base64 of the SHA-256 of the certificate's public key.
  public static var invalidPin: Self { Self("invalidPin") }
  /// The data is not a certificate, or not its private key: see ``ClientCertificate`` and
  /// `CurlTransport.Options.additionalAuthorities`.
  ///
  /// Pass the contents of the file that the message describes, as PEM text.
  public static var invalidCertificate: Self { Self("invalidCertificate") }
  /// A session was used after its registry had been invalidated.
  ///
  /// Make a new session from a live registry, and invalidate a registry only after its sessions.
  public static var registryInvalidated: Self { Self("registryInvalidated") }
  /// The requests of a session do not reach its registry: see `verifyInterception()`.
  ///
  /// Make the session after `intercepted(by:)`, from the configuration that it returned; for `URLSession.shared` call
  /// `interceptSharedSession()`. Background sessions, a loader that asks no protocol classes
  /// (`usesClassicLoadingMode = false`) and watchOS cannot be intercepted: load through the registry there.
  public static var notIntercepted: Self { Self("notIntercepted") }
  /// An interceptor left the request to `startLoading` but does not implement it: see ``InlineResponding``.
  ///
  /// Implement `startLoading`, or respond in `respondInline`.
  public static var missingResponse: Self { Self("missingResponse") }
  /// The text is neither a host name, nor an address literal, nor a ``HostPattern``.
  ///
  /// Write only the host, without scheme, path or port: `api.example.com`, `*.example.com`, `203.0.113.7`.
  public static var invalidHost: Self { Self("invalidHost") }
  /// The text is not a path pattern of an ``InterceptorChain/Scope``.
  ///
  /// Write `*` and `**` as whole segments only, and leave out scheme, host and query: `/v1/**`, `/users/*/avatar`.
  public static var invalidPath: Self { Self("invalidPath") }
  /// A downloaded file, or a temporary one, could not be written.
  ///
  /// Check that the folder exists, that the process may write there, and that the disk has space; see
  /// ``WaylayError/underlying``.
  public static var fileNotWritten: Self { Self("fileNotWritten") }
  /// The port is in use, or this process may not listen on it.
  ///
  /// Choose another port, or `0` for any free one.
  public static var cannotListen: Self { Self("cannotListen") }
  /// The server is already being started or stopped.
  ///
  /// Start and stop the server in one place, and wait for each call to return.
  public static var busy: Self { Self("busy") }
  /// The environment variable `WAYLAY_REMOTE` contains no invitation that this version can read, or an invitation would
  /// be too large.
  ///
  /// Set the variable to the value of `RemoteControl.invitation`, unchanged, and add large stubs after the launch.
  public static var invalidInvitation: Self { Self("invalidInvitation") }
  /// The app that was invited does not respond: it has not opened its door, it ended, or it was stopped.
  ///
  /// Check that it is a debug build that calls `RemoteDoor.open`, and that the invitation is in its environment.
  public static var noRemoteDoor: Self { Self("noRemoteDoor") }
  /// The app refused a call of the remote control.
  ///
  /// The message says why: for example a permission that `RemoteDoor.open` does not give, or a stub with a mistake.
  public static var refusedByDoor: Self { Self("refusedByDoor") }
}

extension WaylayError {
  /// Whether the load timed out, the only network failure of this type.
  public var isNetworkFailure: Bool { code == .timedOut }

  /// The `URLError` code that an app sees for this failure.
  var urlErrorCode: URLError.Code {
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
    case .respondedAfterCancellation: .cancelled
    case .fileNotWritten: .cannotWriteToFile
    default: .unknown
    }
  }

  /// The code that `URLSession` uses if an upload's file cannot be read.
  private static func unreadable(_ error: (any Error)?) -> URLError.Code {
    switch (error as? CocoaError)?.code {
    case .fileNoSuchFile, .fileReadNoSuchFile: .fileDoesNotExist
    case .fileReadNoPermission: .noPermissionsToReadFile
    default: .cannotOpenFile
    }
  }
}
