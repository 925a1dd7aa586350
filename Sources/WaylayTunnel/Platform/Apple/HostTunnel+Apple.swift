#if Tunnel && canImport(Network) && !os(watchOS)
  import Foundation
  public import Network
  public import WaylayCore
  import WaylayHosts

  extension HostTunnel {
    /// The transport with which a `HostRewriter` routes on Apple platforms.
    ///
    /// ```swift
    /// let registry = InterceptorRegistry(transport: tunnel.transport) { rewriter }
    /// ```
    ///
    /// TLS remains that of the system: App Transport Security, certificate validation, HTTP/2. The first request starts
    /// the tunnel; after the app was suspended, the next request restarts it with a new port and a new secret. Before
    /// iOS 17, tvOS 17 and macOS 14, a request with a route fails with `HostError.transportIncapable`.
    public var transport: any Transport { transport(configuration: .default) }

    /// The same transport with the timeouts and limits of a configuration; the configuration's proxies are replaced.
    public func transport(configuration: URLSessionConfiguration) -> any Transport {
      let configuration = Configuration(configuration)
      return TunnelTransport(self, bare: URLSessionTransport(configuration: configuration.copy)) {
        port, user, password in
        // https://developer.apple.com/documentation/foundation/urlsessionconfiguration/proxyconfigurations
        guard #available(macOS 14.0, iOS 17.0, tvOS 17.0, *) else {
          throw HostError(
            .transportIncapable, "routes need iOS 17, tvOS 17, macOS 14 or visionOS: exclude the host there.")
        }
        let inner = configuration.copy
        inner.proxyConfigurations = [Self.proxy(port, user, password)]
        return URLSessionTransport(configuration: inner)
      }
    }

    /// The tunnel as the proxy of a separate `WKWebsiteDataStore`, or of any API that accepts a proxy; `nil` while the
    /// tunnel is stopped. The rules determine the addresses of each host. The value contains the secret.
    ///
    /// ```swift
    /// try await tunnel.start()
    /// let store = WKWebsiteDataStore.nonPersistent()
    /// store.proxyConfigurations = [tunnel.proxyConfiguration].compactMap { $0 }
    /// ```
    ///
    /// Set it before the first load of the store; set it again after a restart of the tunnel.
    @available(macOS 14.0, iOS 17.0, tvOS 17.0, *)
    public var proxyConfiguration: ProxyConfiguration? { server.map { Self.proxy($0.port, Self.rulesUser, $0.secret) } }

    /// Makes a proxy at the loopback address. https://developer.apple.com/documentation/network/proxyconfiguration
    @available(macOS 14.0, iOS 17.0, tvOS 17.0, *)
    private static func proxy(_ port: Int, _ user: String, _ password: String) -> ProxyConfiguration {
      let port = NWEndpoint.Port(rawValue: UInt16(clamping: port)) ?? 0
      var proxy = ProxyConfiguration(httpCONNECTProxy: .hostPort(host: .ipv4(.loopback), port: port))
      proxy.applyCredential(username: user, password: password)
      // If the tunnel is gone, requests must not bypass it.
      proxy.allowFailover = false
      return proxy
    }

    /// Copies of the app's configuration.
    ///
    /// Unchecked: the original is copied once, and never changes.
    private struct Configuration: @unchecked Sendable {
      private let original: URLSessionConfiguration

      init(_ configuration: URLSessionConfiguration) {
        original = configuration.copy() as? URLSessionConfiguration ?? .default
      }

      var copy: URLSessionConfiguration { original.copy() as? URLSessionConfiguration ?? .default }
    }
  }
#endif
