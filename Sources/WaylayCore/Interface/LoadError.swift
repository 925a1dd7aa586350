import Foundation

/// The common protocol of this package's errors, which an app finds beneath the `URLError` of a failed load.
///
/// ```swift
/// do {
///   _ = try await session.data(from: url)
/// } catch let error as URLError {
///   if let cause = error.cause(as: TransportError.self), cause.cause == .certificateExpired { … }
///   if let cause = error.loadError { print(cause.code, cause.message) }
/// }
/// ```
///
/// Conform the errors of your own interceptor to it if others use the interceptor. They reach the app beneath a
/// `URLError` with the code `unknown`; to choose the code, throw a `URLError` with your error under
/// `NSUnderlyingErrorKey`.
///
/// Logs, events and other errors show what an error of this kind says: `message` and `description` contain no
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

extension LoadError {
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
    firstCause { $0 as? Cause }
  }

  /// The outermost error of an interceptor, a transport or the core that this error was made from.
  public var loadError: (any LoadError)? { firstCause { $0 as? any LoadError } }

  /// Whether the error says that the origin could not be reached or did not give a valid HTTP response. An error that
  /// an interceptor throws for its own reasons is not one.
  public var isNetworkFailure: Bool {
    // A link that has given up says why beneath.
    loadError?.isNetworkFailure ?? URLError.Code.unreachable.contains(code)
  }

  private func firstCause<Cause>(_ matches: (any Error) -> Cause?) -> Cause? {
    var next: (any Error)? = userInfo[NSUnderlyingErrorKey] as? any Error
    // Deeper than anybody nests errors, in case they go in a circle.
    for _ in 0..<16 {
      guard let error = next else { return nil }
      if let cause = matches(error) { return cause }
      next = (error as? any LoadError)?.underlying ?? (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? any Error
    }
    return nil
  }
}

extension URLError.Code {
  /// What the loading system says of a network that is not there, or of an origin that is silent.
  fileprivate static let unreachable: Set<URLError.Code> = [
    .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed, .notConnectedToInternet,
    .internationalRoamingOff, .callIsActive, .dataNotAllowed, .cannotLoadFromNetwork,
  ]
}
