import Foundation

/// The one shape of an error in this package: what an app finds beneath the `URLError` that its load fails with.
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
/// Conform to it with the errors of an interceptor that others are to use. They reach the app beneath a `URLError` with
/// the code `unknown`; to choose the code, throw a `URLError` with yours under `NSUnderlyingErrorKey`.
///
/// What an error of this shape says of itself is shown in logs, events and other errors: `message` and `description`
/// carry no credentials, no query values and no bodies.
public protocol LoadError: Error, Sendable, CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
  /// What kind of failure it was.
  associatedtype Code: Hashable & Sendable

  /// What kind of failure it was.
  var code: Code { get }
  /// What happened and what to do about it, for a person.
  var message: String { get }
  /// The URL of the request that failed, where it is about one.
  var url: URL? { get }
  /// The load it happened in, where it is about one.
  var requestID: InterceptedRequest.ID? { get }
  /// The error that was thrown first, where there was one.
  var underlying: (any Error)? { get }
  /// Whether the origin could not be reached, or did not answer as HTTP asks: whether trying later, or what is stored,
  /// may help. Default: `false`.
  var isNetworkFailure: Bool { get }
}

extension LoadError {
  /// `false`: something else went wrong.
  public var isNetworkFailure: Bool { false }

  /// Type, code, message and what is known of the place, on one line. URLs are shown without user info, query values
  /// and fragment.
  public var description: String {
    var text = "\(Self.self).\(code): \(message.withRedactedURLs)"
    if let url { text += " [\(url.redacted)]" }
    if let requestID { text += " [load \(requestID)]" }
    return text
  }

  /// The description: what is beneath may hold anything, and is not in it.
  public var debugDescription: String { description }

  /// The message, with its URLs redacted in the same way.
  public var errorDescription: String? { message.withRedactedURLs }
}

extension URLError {
  /// The error of a given type that this one was made from, however deep it lies.
  ///
  /// ```swift
  /// if let refusal = error.cause(as: TokenError.self) { signOut(because: refusal) }
  /// ```
  ///
  /// Looks through `NSUnderlyingErrorKey` and ``LoadError/underlying``.
  public func cause<Cause: Error>(as type: Cause.Type = Cause.self) -> Cause? {
    firstCause { $0 as? Cause }
  }

  /// The outermost error of an interceptor, a transport or the core that this one was made from.
  public var loadError: (any LoadError)? { firstCause { $0 as? any LoadError } }

  /// Whether it says that the origin could not be reached, or did not answer as HTTP asks. An interceptor's own error,
  /// thrown for reasons of its own, is none.
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
