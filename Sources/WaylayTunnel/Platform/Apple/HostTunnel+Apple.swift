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
    /// TLS stays the system's: App Transport Security, the verification of certificates, HTTP/2. The tunnel is started
    /// with the first request; after the app was suspended, with a new port and a new secret. Before iOS 17, tvOS 17 and
    /// macOS 14, a request with a route fails with `HostError.transportIncapable`.
    public var transport: any Transport { transport(configuration: .default) }

    /// The same, with timeouts and limits of a configuration; its proxies are replaced.
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

    /// The tunnel as the proxy of a `WKWebsiteDataStore` of its own, or of anything else that takes one; `nil` while it is
    /// stopped. The rules decide where each host leads. It holds the secret.
    ///
    /// ```swift
    /// try await tunnel.start()
    /// let store = WKWebsiteDataStore.nonPersistent()
    /// store.proxyConfigurations = [tunnel.proxyConfiguration].compactMap { $0 }
    /// ```
    ///
    /// Set it before the first load of the store; set it again when the tunnel was started again.
    @available(macOS 14.0, iOS 17.0, tvOS 17.0, *)
    public var proxyConfiguration: ProxyConfiguration? { server.map { Self.proxy($0.port, Self.rulesUser, $0.secret) } }

    /// https://developer.apple.com/documentation/network/proxyconfiguration
    @available(macOS 14.0, iOS 17.0, tvOS 17.0, *)
    private static func proxy(_ port: Int, _ user: String, _ password: String) -> ProxyConfiguration {
      let port = NWEndpoint.Port(rawValue: UInt16(clamping: port)) ?? 0
      var proxy = ProxyConfiguration(httpCONNECTProxy: .hostPort(host: .ipv4(.loopback), port: port))
      proxy.applyCredential(username: user, password: password)
      // Where the tunnel is gone, nothing goes the system's way.
      proxy.allowFailover = false
      return proxy
    }

    /// Copies of what an app gave.
    ///
    /// Unchecked: it is copied when it is made, and only copied from then on.
    private struct Configuration: @unchecked Sendable {
      private let original: URLSessionConfiguration

      init(_ configuration: URLSessionConfiguration) {
        original = configuration.copy() as? URLSessionConfiguration ?? .default
      }

      var copy: URLSessionConfiguration { original.copy() as? URLSessionConfiguration ?? .default }
    }
  }
#endif
