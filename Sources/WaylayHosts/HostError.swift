/// What went wrong while a host was matched, looked up or routed, with everything that was known at the failure.
///
/// An app finds it beneath the `URLError` that its task fails with:
///
/// ```swift
/// do {
///   _ = try await session.data(from: url)
/// } catch let error as URLError {
///   if let cause = error.cause(as: HostError.self), cause.code == .noSuchHost {
///     print(cause.message)
///   }
/// }
/// ```
public struct HostError: LoadError {
  /// What kind of failure it was. New codes may be added in any release.
  public let code: Code
  /// What happened and what to do about it, for a person.
  public let message: String
  /// The host that it is about, where there is one.
  public let host: String?
  /// How long a look-up need not be tried again, where a server said so (RFC 2308, section 5).
  public let timeToLive: Duration?
  /// The error that was thrown first, where there was one.
  public let underlying: (any Error)?
  /// What was tried, in the order in which it ended; for ``Code/allAddressesFailed`` and ``Code/timedOut``.
  public internal(set) var attempts: [HostAttempt] = []
  /// The URL of the request that failed, where it is about one.
  public internal(set) var url: URL?
  /// The load it happened in, where it is about one.
  public internal(set) var requestID: InterceptedRequest.ID?

  /// Makes an error of the given kind.
  public init(
    _ code: Code, _ message: String, host: String? = nil, timeToLive: Duration? = nil, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.host = host
    self.timeToLive = timeToLive
    self.underlying = underlying
  }
}

extension HostError {
  /// The kinds of failure. A struct rather than an enum, so that new ones do not break a `switch`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name.
    public let description: String

    /// Makes a code of that name. Resolvers of other packages add their own this way.
    public init(_ description: String) {
      self.description = description
    }

    /// A text that is not the name of a host, or the literal of an address.
    public static let invalidName = Code("invalidName")
    /// A rule, or a list of rules, that cannot be used.
    public static let invalidRule = Code("invalidRule")
    /// A key for signed lists that is not one.
    public static let invalidKey = Code("invalidKey")
    /// A signed list that is not what the holder of a trusted key has signed.
    public static let listForged = Code("listForged")
    /// A signed list that is older than the one before.
    public static let listOutdated = Code("listOutdated")
    /// A signed list whose time is over.
    public static let listExpired = Code("listExpired")
    /// The resolver does not know the host and does not say that it does not exist: the next one is asked.
    public static let notListed = Code("notListed")
    /// The host does not exist, or has no address.
    public static let noSuchHost = Code("noSuchHost")
    /// The resolver gave no answer that can be used.
    public static let resolverFailed = Code("resolverFailed")
    /// The resolver took too long.
    public static let resolverTimedOut = Code("resolverTimedOut")
    /// The resolver's settings cannot work.
    public static let invalidResolver = Code("invalidResolver")
    /// A DNS message that breaks the format.
    public static let malformedAnswer = Code("malformedAnswer")
    /// The answer holds only addresses that a public name must not have (DNS rebinding).
    public static let answerRefused = Code("answerRefused")
    /// No address of the host has answered: see ``HostError/attempts``.
    public static let allAddressesFailed = Code("allAddressesFailed")
    /// The request's own timeout was over before an address had answered: see ``HostError/attempts``, where
    /// ``HostAttempt/Outcome/unfinished`` is what was under way. The timeout itself is ``HostError/underlying``.
    public static let timedOut = Code("timedOut")
    /// A WebSocket task to a host that has a rule: no transport routes one.
    public static let webSocketNotRouted = Code("webSocketNotRouted")
    /// The answer over plain `http` is not the host's own, as the response check says.
    public static let responseRejected = Code("responseRejected")
    /// The transport cannot dial addresses, and the policy allows no other way.
    public static let transportIncapable = Code("transportIncapable")
    /// A rule asks for a resolver, and the rewriter has none.
    public static let noResolver = Code("noResolver")
  }
}

extension HostError {
  /// Code, message and host on one line.
  public var description: String {
    let place = host.map { " [\($0)]" } ?? ""
    return "HostError.\(code): \(message.withRedactedURLs)\(place)"
  }

  /// No address was found, or none answered; what is wrong with rules, lists and names is no failure of the network.
  public var isNetworkFailure: Bool {
    switch code {
    case .noSuchHost, .resolverFailed, .resolverTimedOut, .malformedAnswer, .answerRefused, .allAddressesFailed,
      .timedOut, .listExpired:
      true
    default: false
    }
  }

  /// A text that the core does not take for a host, an address or a pattern.
  init(_ error: WaylayError, host: String) {
    self.init(.invalidName, error.message, host: host)
  }

  /// The same error about a request.
  func about(_ request: InterceptedRequest) -> HostError {
    var error = self
    (error.url, error.requestID) = (request.url.withoutUserInfo, request.id)
    return error
  }

  /// As an app sees it.
  func urlError(_ code: URLError.Code, of request: InterceptedRequest) -> URLError {
    let error = about(request)
    return URLError(
      code,
      userInfo: [
        NSUnderlyingErrorKey: error, NSLocalizedDescriptionKey: error.message.withRedactedURLs,
        NSURLErrorFailingURLErrorKey: request.url.withoutUserInfo,
      ])
  }
}
