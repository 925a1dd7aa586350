/// An error while matching, resolving or routing a host, with its context.
///
/// An app finds it beneath the `URLError` of a failed task:
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
public struct HostError: LoadError, Changeable {
  /// The kind of failure. New codes may be added in any release.
  public let code: ErrorCode<HostError>
  /// A human-readable text: what happened and what to do about it.
  public let message: String
  /// The host that the error is about, if any.
  public let host: String?
  /// How long not to repeat the lookup, if a server said so (RFC 2308, section 5).
  public let timeToLive: Duration?
  /// The original error, if there is one.
  public let underlying: (any Error)?
  /// The attempts, in the order in which they ended; for `allAddressesFailed` and `timedOut`.
  public internal(set) var attempts: [HostAttempt] = []
  /// The URL of the failed request, if the error is about one.
  public internal(set) var url: URL?
  /// The load that failed, if the error is about one.
  public internal(set) var requestID: InterceptedRequest.ID?

  /// Makes an error of the given kind.
  public init(
    _ code: ErrorCode<HostError>, _ message: String, host: String? = nil, timeToLive: Duration? = nil,
    underlying: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.host = host
    self.timeToLive = timeToLive
    self.underlying = underlying
  }
}

extension ErrorCode where Domain == HostError {
  /// The text is neither a host name nor an address literal.
  ///
  /// Write only the host, without scheme, port or path.
  public static var invalidName: Self { Self("invalidName") }
  /// A rule, or a list of rules, is invalid.
  ///
  /// The message names the rule and the mistake: usually text that is not an address, or a port out of range.
  public static var invalidRule: Self { Self("invalidRule") }
  /// The serial number of a list is not higher than that of the list in force.
  ///
  /// Give each new list a higher serial number.
  public static var listOutdated: Self { Self("listOutdated") }
  /// A downloaded list has expired.
  ///
  /// Publish a list with a later date in `expires`; check the clock of this machine.
  public static var listExpired: Self { Self("listExpired") }
  /// The file of the cache, or of the newest list, is not trusted: other users may have written it.
  ///
  /// Make the file belong to the user, writable by its owner alone, or remove it.
  public static var fileRefused: Self { Self("fileRefused") }
  /// The resolver does not know the host, without saying that it does not exist; the next resolver is asked.
  ///
  /// Add the host to the list, or another resolver to the chain.
  public static var notListed: Self { Self("notListed") }
  /// The host does not exist, or has no address.
  ///
  /// Check the spelling; if other networks resolve it, use another resolver, or addresses of your own in a rule.
  public static var noSuchHost: Self { Self("noSuchHost") }
  /// The resolver gave no usable answer.
  ///
  /// Check that the network reaches the resolver; see ``HostError/underlying``. A second resolver in a
  /// `ResolverChain` takes over.
  public static var resolverFailed: Self { Self("resolverFailed") }
  /// The resolver took too long to respond.
  ///
  /// Check that the network reaches it; add a second resolver, or raise its timeout.
  public static var resolverTimedOut: Self { Self("resolverTimedOut") }
  /// The settings of a resolver are invalid.
  ///
  /// Correct the setting in the message, usually the URL; if the URL's host is a name, give addresses for the resolver.
  public static var invalidResolver: Self { Self("invalidResolver") }
  /// A DNS message is malformed.
  ///
  /// A device on the path rewrites DNS, or the URL is not a DNS resolver: try another one.
  public static var malformedResponse: Self { Self("malformedResponse") }
  /// The answer contains only addresses that a public name must not have (DNS rebinding).
  ///
  /// If the name is yours and its address is meant to be private, add it to
  /// ``ResolutionCache/Options/privateHosts``.
  /// Otherwise the network spoofs DNS.
  public static var resolutionRejected: Self { Self("resolutionRejected") }
  /// No address of the host responded; ``HostError/attempts`` says why each one failed.
  ///
  /// Check the attempts: `refused` and `timedOut` point to the servers or a firewall, certificate failures to wrong
  /// or hijacked addresses.
  public static var allAddressesFailed: Self { Self("allAddressesFailed") }
  /// The request's own timeout expired before an address responded. ``HostError/attempts`` lists the attempts; those
  /// in progress are `HostAttempt.unfinished`. The timeout itself is ``HostError/underlying``.
  ///
  /// Raise `timeoutInterval`, or give fewer or closer addresses.
  public static var timedOut: Self { Self("timedOut") }
  /// A WebSocket task is for a host with a rule, and no transport routes WebSockets.
  ///
  /// Exclude the host with `HostRule(excluding:)`, or open the connection with another library.
  public static var webSocketNotRouted: Self { Self("webSocketNotRouted") }
  /// The response check rejected a response over plain `http`: it is not the host's own.
  ///
  /// Use `https`. If the response is correct, correct the check.
  public static var responseRejected: Self { Self("responseRejected") }
  /// The transport cannot dial given addresses, and the policy allows no fallback.
  ///
  /// Use `CurlTransport` (Linux) or the `transport` of a `HostTunnel` (Apple platforms), or let the policy fall back to
  /// the system.
  public static var transportIncapable: Self { Self("transportIncapable") }
  /// A rule requires a resolver, and the rewriter has none.
  ///
  /// Give the `HostRewriter` a resolver, or the rule addresses.
  public static var noResolver: Self { Self("noResolver") }
  /// A `HostTunnel` cannot be started: this process may not listen on the loopback address, or has no descriptor left.
  ///
  /// In a sandboxed macOS app, add the entitlement `com.apple.security.network.server`.
  public static var cannotListen: Self { Self("cannotListen") }
  /// The system has closed the listener of a `HostTunnel`, as it does while an app is suspended.
  ///
  /// Nothing to do for requests with a route: the tunnel has begun to listen at a new port, with a new secret. Set the
  /// proxy of a web view's store again.
  public static var listenerLost: Self { Self("listenerLost") }
  /// A `HostTunnel` is already being started or stopped.
  ///
  /// Start and stop the tunnel in one place, and wait for each call to return.
  public static var busy: Self { Self("busy") }
}

extension HostError {
  /// Code, message and host on one line, with the URL and the load if known.
  public var description: String {
    var text = "HostError.\(code): \(message.withRedactedURLs)"
    if let host { text += " [\(host.withRedactedURLs)]" }
    if let url { text += " [\(url.redacted)]" }
    if let requestID { text += " [load \(requestID)]" }
    return text
  }

  /// Whether no address was found or none responded; invalid rules, lists and names are not network failures.
  public var isNetworkFailure: Bool {
    [
      .noSuchHost, .resolverFailed, .resolverTimedOut, .malformedResponse, .resolutionRejected, .allAddressesFailed,
      .timedOut,
    ].contains(code)
  }

  /// Converts the core's error about an invalid host, address or pattern.
  init(_ error: WaylayError, host: String) {
    self.init(.invalidName, error.message, host: host)
  }

  /// Returns the same error with the URL and the ID of a request.
  func about(_ request: InterceptedRequest) -> HostError {
    with { ($0.url, $0.requestID) = (request.url.withoutUserInfo, request.id) }
  }

  /// Wraps the error in a `URLError`.
  func urlError(_ code: URLError.Code, of request: InterceptedRequest) -> URLError {
    URLError(code, underlying: about(request))
  }
}
