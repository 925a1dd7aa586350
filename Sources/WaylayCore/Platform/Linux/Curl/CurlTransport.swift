// The walk, 5 of 5: an exchange is made of the request (`CurlExchange`) and given to the loop (`CurlLoop`), whose
// thread (`CurlLoop+Thread`) has it wait in the queue for its connection's turn (`CurlQueue`), tells libcurl all of it
// (`CurlExchange+Beginning`, `CurlRequest`) and adds it to the others: `curl_multi_add_handle`. What libcurl calls back
// with fills the exchange's head and the pipe of its body.

#if canImport(FoundationNetworking)
  internal import CWaylayCurl
  public import Foundation

  /// The transport on libcurl, the default on Linux: the engine that `URLSession` uses there, without the limits of
  /// `URLSession`.
  ///
  /// Bodies stream both ways in bounded memory: a reader who is slow holds the server back, and a request body is sent
  /// while it is produced. IPv6 literals work, errors of TLS can be told apart, and a ``Route`` dials another address
  /// while the certificate is still checked against the URL's host.
  ///
  /// ```swift
  /// var options = CurlTransport.Options()
  /// options.additionalAuthorities = [try Data(contentsOf: companyAuthority)]
  /// let registry = InterceptorRegistry(transport: CurlTransport(options: options)) { RetryOnUnavailable() }
  /// ```
  ///
  /// libcurl is the copy that FoundationNetworking has loaded (platform fact U7). Where it cannot be found,
  /// ``isAvailable`` is `false`, and a registry uses ``URLSessionTransport``; so it does for sessions that have
  /// protocol classes of others, which libcurl cannot ask. Not on Apple platforms. There is no option that turns the
  /// verification of certificates off.
  public final class CurlTransport: Transport {
    /// What a transport can be told.
    public struct Options: Sendable {
      /// Certificate authorities to trust beside the system's, each as PEM text. For a company's own, or a test
      /// server's.
      public var additionalAuthorities: [Data] = []
      /// The most connections to one host at a time. Default: that of the configuration.
      public var maximumConnectionsPerHost: Int?
      /// Seconds until a connection has to be open, TLS included. Default: the request's timeout.
      public var connectTimeout: TimeInterval?
      /// Bytes of a response that wait for a slow reader before the server is held back; at least 1.
      public var bufferSize = 256 * 1024
      /// How large the heads and trailers may be that are sent and received.
      public var limits = MessageLimits()

      /// Makes options that change nothing.
      public init() {}
    }

    /// Whether libcurl has been found, and is 7.68 or later.
    public static var isAvailable: Bool { waylay_curl_load() }

    /// Why libcurl cannot be used; `nil` when it can.
    public static var unavailableReason: String? {
      isAvailable ? nil : String(cString: waylay_curl_problem())
    }

    /// The version of libcurl, `7.88.1` for example.
    public static var libraryVersion: String? { isAvailable ? String(cString: waylay_curl_version()) : nil }

    /// Whether libcurl asks before it sends a request on an open connection (7.80, U10).
    static var hasPrerequest: Bool { waylay_curl_version_number() >= 0x07_50_00 }

    let options: Options
    private let loop: CurlLoop
    let authorities: CurlAuthorities

    /// Makes a transport; its thread starts with the first load, and ends when there is nothing to do for a while.
    ///
    /// - Parameters:
    ///   - configuration: The number of connections for each host. Its storages are not used.
    ///   - options: What else it is to do.
    public init(configuration: URLSessionConfiguration = .default, options: Options = Options()) {
      var options = options
      // Without room for a byte every body would be held back for good.
      options.bufferSize = max(1, options.bufferSize)
      self.options = options
      loop = CurlLoop(
        connectionsPerHost: options.maximumConnectionsPerHost ?? configuration.httpMaximumConnectionsPerHost)
      authorities = CurlAuthorities(with: options.additionalAuthorities)
    }

    deinit {
      loop.invalidate()
    }

    /// All of them, but for ``TransportCapabilities/gates`` where libcurl is older than 7.80.
    public var capabilities: TransportCapabilities {
      let all: TransportCapabilities = [.backPressure, .streamedUploads, .connectionMetrics, .routes]
      return Self.hasPrerequest ? all.union(.gates) : all
    }

    /// Sends `request`; returns when the response's head is there.
    public func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
      if let reason = Self.unavailableReason {
        throw TransportError(
          .resourceUnavailable, requestBytesSent: 0,
          message: "libcurl cannot be used: \(reason). Use URLSessionTransport instead.")
      }
      guard request.route?.gate == nil || Self.hasPrerequest else {
        throw WaylayError(
          .transportIncapable,
          "libcurl \(Self.libraryVersion ?? "") cannot hold a request back at a gate: use 7.80 or later, or try one "
            + "address at a time.",
          url: request.url, requestID: request.id)
      }
      try request.checkRoute()
      let exchange = try CurlExchange(request, of: self, on: loop)
      return try await withTaskCancellationHandler {
        try await exchange.head()
      } onCancel: {
        exchange.cancel()
      }
    }

    /// Ends all exchanges and closes all connections. Loads that come later fail.
    public func invalidate() {
      loop.invalidate()
    }

    /// Closes all kept connections and ends the thread once nothing is under way, without waiting for somebody to come.
    /// A load that comes all the same begins anew.
    package func rest() {
      loop.rest()
    }

    /// Ends the connections to an address, kept ones and those in use, so that nothing goes there any more on an old
    /// connection; transfers on them fail with `networkConnectionLost`.
    ///
    /// - Parameter address: An IPv4 or IPv6 literal, without brackets.
    /// - Returns: How many connections there were.
    @discardableResult
    public func closeConnections(to address: String) -> Int {
      loop.closeConnections(to: address)
    }

    /// Ends all connections, kept ones and those in use: for a network that has changed, where nothing comes on them
    /// any more.
    ///
    /// An exchange that has received nothing yet, and may be sent again, begins anew; others fail with
    /// `networkConnectionLost`.
    public func closeConnections() {
      _ = loop.closeConnections(to: nil)
    }

    /// Closes the kept connections to an address and port; those in use go on. It is done before a load that begins
    /// after this call.
    ///
    /// Needs libcurl 7.80 or later, which says what connection a request is sent on; with an older one it does nothing.
    public func closeIdleConnections(to address: String, port: Int) {
      guard Self.isAvailable, Self.hasPrerequest else { return }
      loop.send(.closeIdle(address: address, port: port))
    }
  }
#endif
