import Foundation

/// What went wrong inside an interceptor chain, with everything that was known at the failure.
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
/// An interceptor that wants to fail a load with a reason of its own throws a `URLError`, not this type.
public struct WaylayError: LoadError {
  /// What kind of failure it was. New codes may be added in any release.
  public let code: Code
  /// What happened and what to do about it, for a person. Carries no credentials and no query values.
  public let message: String
  /// The name of the interceptor the failure is about, where there is one.
  public let interceptor: String?
  /// The URL of the request that failed.
  public let url: URL?
  /// The load it happened in.
  public let requestID: InterceptedRequest.ID?
  /// The error that was thrown first, where there was one.
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

    /// Makes a code of that name. Modules beside the core add their own this way.
    public init(_ description: String) {
      self.description = description
    }

    /// The request cannot be loaded as it is, for example because it has no URL.
    public static let invalidRequest = Code("invalidRequest")
    /// An answer that no HTTP client can present, for example with the status 99.
    public static let invalidResponse = Code("invalidResponse")
    /// `next` was called after `startLoading` had returned.
    public static let nextAfterReturn = Code("nextAfterReturn")
    /// An interceptor answered a load that had been cancelled; the answer was dropped.
    public static let answeredAfterCancellation = Code("answeredAfterCancellation")
    /// A body that can be read once had been read already.
    public static let bodyConsumed = Code("bodyConsumed")
    /// A body is larger than the limit it was collected with.
    public static let bodyTooLarge = Code("bodyTooLarge")
    /// A body's file or stream could not be read.
    public static let bodyUnreadable = Code("bodyUnreadable")
    /// Nothing happened for longer than the request's timeout, or the whole load took longer than the resource timeout.
    public static let timedOut = Code("timedOut")
    /// A load re-entered interception more often than is allowed.
    public static let loopDetected = Code("loopDetected")
    /// A redirect that the policy does not allow.
    public static let redirectRefused = Code("redirectRefused")
    /// A download task's file cannot be handed over with this version of Foundation on Linux.
    public static let downloadTaskUnsupported = Code("downloadTaskUnsupported")
    /// Foundation's internals are not what this version of Waylay knows.
    public static let foundationChanged = Code("foundationChanged")
    /// A message is over one of the ``MessageLimits``.
    public static let limitExceeded = Code("limitExceeded")
    /// The URL of a request names another host or port than the one its ``Route`` was made for.
    public static let routeMismatch = Code("routeMismatch")
    /// The transport cannot do what the request needs: see ``TransportCapabilities``.
    public static let transportIncapable = Code("transportIncapable")
    /// The registry was invalidated.
    public static let registryInvalidated = Code("registryInvalidated")
    /// A link left its answer to `startLoading`, and has none: see ``InlineAnswering``.
    public static let missingAnswer = Code("missingAnswer")
    /// A text that is neither the name of a host, nor the literal of an address, nor a ``HostPattern``.
    public static let invalidHost = Code("invalidHost")
    /// A file could not be written.
    public static let fileNotWritten = Code("fileNotWritten")
  }
}

extension WaylayError {
  /// Of this type only that nothing has come for too long.
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
