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
  /// How long a lookup need not be tried again, where a server said so (RFC 2308, section 5).
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

    /// A text that is neither the name of a host nor the literal of an address.
    ///
    /// Write the host alone, without scheme, port or path.
    public static let invalidName = Code("invalidName")
    /// A rule, or a list of rules, cannot be used.
    ///
    /// The message names the rule and what is wrong with it: usually an address that is not one, or a port out of
    /// range.
    public static let invalidRule = Code("invalidRule")
    /// A key for signed lists is not an Ed25519 public key.
    ///
    /// Give the 32 bytes of the public key, or their Base64.
    public static let invalidKey = Code("invalidKey")
    /// The signature of a list does not match any trusted key.
    ///
    /// Sign the list with the key whose public half is in the app: `waylay hosts sign`. If you did, the list was
    /// changed on its way; do not use it.
    public static let listForged = Code("listForged")
    /// A signed list has a lower serial number than one that was accepted before.
    ///
    /// Give each new list a higher serial number.
    public static let listOutdated = Code("listOutdated")
    /// A signed list has expired.
    ///
    /// Publish a list with a later expiry; check the clock of this machine.
    public static let listExpired = Code("listExpired")
    /// The resolver does not know the host, without saying that it does not exist; the next resolver is asked.
    ///
    /// Add the host to the list, or another resolver to the chain.
    public static let notListed = Code("notListed")
    /// The host does not exist, or has no address.
    ///
    /// Check the spelling; if other networks find it, name another resolver, or addresses of your own in a rule.
    public static let noSuchHost = Code("noSuchHost")
    /// The resolver gave no usable answer.
    ///
    /// Check that the network reaches the resolver; see ``HostError/underlying``. A second resolver in a
    /// `ResolverChain` takes over.
    public static let resolverFailed = Code("resolverFailed")
    /// The resolver took too long.
    ///
    /// Check that the network reaches it; name a second resolver, or raise its timeout.
    public static let resolverTimedOut = Code("resolverTimedOut")
    /// The settings of a resolver cannot work.
    ///
    /// Correct what the message names, usually its URL; give addresses with a resolver that is named by a host.
    public static let invalidResolver = Code("invalidResolver")
    /// A DNS message breaks the format.
    ///
    /// Something between rewrites DNS, or the URL is not a DNS resolver: try another one.
    public static let malformedAnswer = Code("malformedAnswer")
    /// The answer holds only addresses that a public name must not have (DNS rebinding).
    ///
    /// If the name is yours and its address is meant to be private, allow private addresses for it in the policy.
    /// Otherwise the network spoofs DNS.
    public static let answerRefused = Code("answerRefused")
    /// No address of the host has answered; ``HostError/attempts`` says why each one failed.
    ///
    /// Look at the attempts: `refused` and `timedOut` point to the servers or a firewall, certificate failures to wrong
    /// or hijacked addresses.
    public static let allAddressesFailed = Code("allAddressesFailed")
    /// The request's own timeout ended before an address had answered. ``HostError/attempts`` lists what was tried;
    /// ``HostAttempt/Outcome/unfinished`` is what was under way. The timeout itself is ``HostError/underlying``.
    ///
    /// Raise `timeoutInterval`, or give fewer or closer addresses.
    public static let timedOut = Code("timedOut")
    /// A WebSocket task asks for a host that has a rule, and no transport routes WebSockets.
    ///
    /// Exclude the host with `HostRule(excluding:)`, or open the connection with another library.
    public static let webSocketNotRouted = Code("webSocketNotRouted")
    /// The response check rejected an answer over plain `http`: it is not the host's own.
    ///
    /// Use `https`. If the answer is right, correct the check.
    public static let responseRejected = Code("responseRejected")
    /// The transport cannot dial addresses, and the policy allows no other way.
    ///
    /// Use `CurlTransport` (Linux), or let the policy fall back to the system. Apple platforms have no such transport.
    public static let transportIncapable = Code("transportIncapable")
    /// A rule asks for a resolver, and the rewriter has none.
    ///
    /// Give the `HostRewriter` a resolver, or the rule addresses.
    public static let noResolver = Code("noResolver")
  }
}

extension HostError {
  /// Code, message and host on one line, with the URL and the load where they are known.
  public var description: String {
    var text = "HostError.\(code): \(message.withRedactedURLs)"
    if let host { text += " [\(host.withRedactedURLs)]" }
    if let url { text += " [\(url.redacted)]" }
    if let requestID { text += " [load \(requestID)]" }
    return text
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
