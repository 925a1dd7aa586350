#if AsyncHTTPClient
  public import AsyncHTTPClient
  import HTTPTypes
  public import NIOCore
  import NIOHTTP1
  import NIOHTTPCompression

  /// A transport over AsyncHTTPClient, for servers that already use SwiftNIO.
  ///
  /// ```swift
  /// let registry = InterceptorRegistry(transport: AsyncHTTPClientTransport()) { Retry() }
  /// let response = try await registry.load(URLRequest(url: url))
  /// ```
  ///
  /// Bodies stream in both directions in bounded memory. TLS, proxies and the number of connections follow the client's
  /// configuration; HTTP/2 is off unless requested. The transport sends the fields of the request, and adds `Host`, the
  /// length and, if absent, `Accept-Encoding`.
  ///
  /// It supports neither a `Route`, nor the trailer fields of a response, nor a registry's pins: do not use it for
  /// these. A TLS failure names a wrong certificate name, but no other problem of a certificate. A request that the
  /// server's closing of an idle connection interrupts fails; the chain has to send it again.
  public final class AsyncHTTPClientTransport: Transport {
    private let client: HTTPClient
    private let isOwned: Bool
    private let followsRedirects: Bool
    private let limits: MessageLimits
    private let isInvalidated = Locked(false)

    /// Makes a transport with its own client, which is shut down with the transport.
    ///
    /// The configuration applies with these exceptions: redirects are off, the size of decompressed bodies is
    /// unlimited, and a connection that cannot be opened fails the waiting loads at once. If `timeout.connect` is not
    /// set, it is 60 s, the timeout of a request.
    ///
    /// - Parameters:
    ///   - configuration: The client's configuration.
    ///   - allowsHTTP2: Whether its `httpVersion` counts. AsyncHTTPClient 1.37.0 ends the process when an HTTP/2 server
    ///     responds and resets the stream while a body is sent (its issue 922): ask for it only with servers that you
    ///     trust. The same holds for a client of your own.
    ///   - eventLoopGroup: The threads.
    ///   - limits: The limits for heads, sent and received.
    public init(
      configuration: HTTPClient.Configuration = HTTPClient.Configuration(), allowsHTTP2: Bool = false,
      eventLoopGroup: any EventLoopGroup = HTTPClient.defaultEventLoopGroup, limits: MessageLimits = MessageLimits()
    ) {
      var configuration = configuration
      configuration.redirectConfiguration = .disallow
      if !allowsHTTP2 { configuration.httpVersion = .http1Only }
      if case .disabled = configuration.decompression { configuration.decompression = .enabled(limit: .none) }
      configuration.connectionPool.retryConnectionEstablishment = false
      configuration.timeout.connect = configuration.timeout.connect ?? .seconds(60)
      client = HTTPClient(eventLoopGroup: eventLoopGroup, configuration: configuration)
      (isOwned, followsRedirects) = (true, false)
      self.limits = limits
    }

    /// Makes a transport over your client, which you shut down.
    ///
    /// A client that follows redirects itself would bypass the chain and keep the request's credentials: its loads fail
    /// with `WaylayError.transportIncapable`. `HTTPClient.shared` is such a client.
    ///
    /// - Parameters:
    ///   - client: A client whose `redirectConfiguration` is `.disallow`.
    ///   - limits: The limits for heads, sent and received.
    public convenience init(client: HTTPClient, limits: MessageLimits = MessageLimits()) {
      // The client's configuration is not public: reflection reads it; if that fails, the first redirect reveals it.
      let mode = Mirror(reflecting: client).descendant("configuration", "redirectConfiguration", "mode", "follow")
      self.init(client: client, followsRedirects: mode != nil, limits: limits)
    }

    init(client: HTTPClient, followsRedirects: Bool, limits: MessageLimits = MessageLimits()) {
      (self.client, self.followsRedirects, self.limits, isOwned) = (client, followsRedirects, limits, false)
    }

    deinit { invalidate() }

    /// Bodies stream in both directions.
    public var capabilities: TransportCapabilities { [.backPressure, .streamedUploads] }

    /// Sends `request`; returns when the response's head arrives.
    public func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
      guard request.route == nil else {
        throw incapable(
          "AsyncHTTPClient cannot connect to any address but the host's: use CurlTransport, on Linux", request)
      }
      guard let scheme = request.url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
        throw TransportError(
          .unsupportedURL, requestBytesSent: 0, message: "\(request.url.redacted) is neither http nor https.")
      }
      try request.checkFraming(limits)
      guard !followsRedirects else { throw followingRedirects(request) }
      try Task.checkCancellation()
      guard !isInvalidated.withLock({ $0 }) else { throw InterceptorRegistry.invalidatedError(url: request.url) }
      let exchange = ClientExchange(request, of: self)
      let (client, message) = (client, message(of: request, exchange.upload))
      do {
        let response = try await exchange.inTime { try await client.execute(message, deadline: .distantFuture) }
        guard response.history.count < 2 else { throw followingRedirects(request) }
        return try await exchange.respond(response, limits)
      } catch {
        throw exchange.failed(error)
      }
    }

    private func followingRedirects(_ request: InterceptedRequest) -> WaylayError {
      incapable("the registry follows redirects: set the client's redirectConfiguration to .disallow", request)
    }

    private func incapable(_ reason: String, _ request: InterceptedRequest) -> WaylayError {
      WaylayError(.transportIncapable, "\(reason).", url: request.url, requestID: request.id)
    }

    private func message(of request: InterceptedRequest, _ upload: Upload) -> HTTPClientRequest {
      var message = HTTPClientRequest(url: request.url.absoluteString)
      message.method = HTTPMethod(rawValue: request.method.rawValue)
      var names: Set<String> = []
      for field in request.fields {
        names.insert(field.name.canonicalName)
        message.headers.add(name: field.name.rawName, value: field.value)
      }
      if isOwned, !names.contains("accept-encoding") {
        message.headers.add(name: "Accept-Encoding", value: "gzip, deflate")
      }
      message.body = upload.body
      return message
    }

    /// Whether the transport was invalidated, which explains all later failures.
    var isOver: Bool { isInvalidated.withLock { $0 } }

    /// Cancels all exchanges and closes all connections; a client of yours stays open. Later loads fail.
    public func invalidate() {
      let isFirst = isInvalidated.withLock { !exchange(&$0, with: true) }
      // The client retains itself during the shutdown. It fails only if the client was already shut down.
      if isFirst, isOwned { client.shutdown { _ in } }
    }
  }
#else
  /// The transport over AsyncHTTPClient, which requires the package trait `AsyncHTTPClient`.
  @available(*, unavailable, message: "Enable the trait AsyncHTTPClient of the package waylay.")
  public struct AsyncHTTPClientTransport: Sendable {
    /// Unavailable: names the missing trait.
    public init(configuration: Any? = nil, allowsHTTP2: Bool = false, eventLoopGroup: Any? = nil, limits: Any? = nil) {}
    /// Unavailable: names the missing trait.
    public init(client: Any, limits: Any? = nil) {}
  }
#endif
