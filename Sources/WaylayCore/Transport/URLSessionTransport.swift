import Foundation

/// A transport over one inner `URLSession`.
///
/// A registry uses it on Apple platforms, and on Linux if libcurl is not available or foreign protocol classes are to
/// be asked. There is one per installation, never one per request, so that connections are reused. The inner session
/// uses none of Waylay's protocol classes, follows no redirects, keeps no cookies, caches nothing and answers no
/// challenges; foreign protocol classes of the configuration are still asked before the network.
///
/// On Linux an inner session has limitations that no code around it can lift (platform facts U1 to U6): a slow reader
/// does not hold the server back, so a large body is buffered; IPv6 literals and private certificate authorities do not
/// work; and a streamed request body is first written to a temporary file, because the loading system reads it on the
/// one queue that all sessions share.
public final class URLSessionTransport: Transport {
  private struct State {
    var session: URLSession?
    var isInvalidated = false
  }

  private let state = Locked(State())
  private let configuration: Locked<URLSessionConfiguration>
  private let exchanges = ExchangeTable()
  private let hasForeignClasses: Bool
  private let limits: MessageLimits

  /// Makes a transport, which opens its inner session on the first load.
  ///
  /// - Parameters:
  ///   - configuration: The timeouts, proxies, TLS settings and connection limits of the inner session. Its storages
  ///     are not used.
  ///   - limits: The limits for heads, sent and received. They apply after the inner session has read a head.
  public init(configuration: URLSessionConfiguration = .default, limits: MessageLimits = MessageLimits()) {
    self.limits = limits
    let inner = configuration.copied
    inner.httpCookieStorage = nil
    inner.httpShouldSetCookies = false
    inner.httpCookieAcceptPolicy = .never
    inner.urlCache = nil
    inner.urlCredentialStorage = nil
    inner.httpAdditionalHeaders = nil
    hasForeignClasses = inner.hasForeignProtocolClasses
    self.configuration = Locked(inner)
  }

  deinit {
    invalidate()
  }

  /// The capabilities: bodies of known length stream; see the type for the differences between platforms.
  public var capabilities: TransportCapabilities { PlatformExchange.capabilities }

  /// Sends `request`; returns when the response's head arrives.
  public func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    guard request.route == nil else {
      throw WaylayError(
        .transportIncapable,
        "the request has a route, but URLSession cannot connect to any address but its host's: use CurlTransport, on "
          + "Linux.",
        url: request.url, requestID: request.id)
    }
    try request.checkFraming(limits)
    let upload = try await PlatformExchange.Upload(request.body)
    var urlRequest = request.untagged
    // The session knows it: the body is data or a file by now.
    urlRequest.setValue(nil, forHTTPHeaderField: "Content-Length")
    // The core keeps the load's own timeout, by idleness; the inner session's is for an attempt that an interceptor has
    // given another.
    if request.observer?.watchesTimeout == true { urlRequest.timeoutInterval = Self.never }
    // A foreign class may use one of our sessions: the tag lets it be recognised there.
    if hasForeignClasses, let lineage = request.observer?.lineage { RequestTag.tag(&urlRequest, with: lineage) }
    let exchange = Exchange(request, upload: upload, limits: limits)
    return try await withTaskCancellationHandler { [urlRequest] in
      try await exchange.head { try self.makeTask(urlRequest, for: exchange) }
    } onCancel: {
      exchange.cancel()
    }
  }

  /// A week, in seconds.
  private static let never: TimeInterval = 7 * 24 * 60 * 60

  /// Ends all exchanges and closes all connections.
  public func invalidate() {
    let session = state.withLock { state in
      state.isInvalidated = true
      defer { state.session = nil }
      return state.session
    }
    if let session { PlatformClient.leavingQueue { session.invalidateAndCancel() } }
  }

  private func openSession() -> URLSession {
    configuration.withLock { URLSession(configuration: $0, delegate: exchanges, delegateQueue: nil) }
  }

  /// Makes the inner task. Under the lock, because making a task on an invalidated session ends the process.
  private func makeTask(_ request: URLRequest, for exchange: Exchange) throws -> URLSessionTask {
    try state.withLock { state -> URLSessionTask in
      guard !state.isInvalidated else { throw InterceptorRegistry.invalidatedError(url: request.url) }
      let session = state.session ?? openSession()
      state.session = session
      let task = exchange.upload.makeTask(
        request, in: session, showsBody: exchange.showsBody, toForeignClasses: hasForeignClasses)
      exchanges.add(exchange, for: task)
      return task
    }
  }
}

extension URLSessionConfiguration {
  /// Whether there are protocol classes beside the system's own, which only a session asks.
  var hasForeignProtocolClasses: Bool {
    let native = URLSessionConfiguration.default.protocolClasses ?? []
    return (protocolClasses ?? []).contains { candidate in !native.contains { $0 == candidate } }
  }
}
