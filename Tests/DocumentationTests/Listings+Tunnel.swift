#if Tunnel
  import Waylay
  import WaylayTunnel

  #if canImport(WebKit)
    import WebKit
  #endif

  // The listings of `TrustedAddressesOnApple.md`.

  private func started(rewriter: HostRewriter) async throws {
    let tunnel = HostTunnel(rewriter)
    try await tunnel.start()
  }

  private func carried(by tunnel: HostTunnel, _ rewriter: HostRewriter) {
    #if canImport(Network)
      let registry = InterceptorRegistry(transport: tunnel.transport) { rewriter }
      let session = URLSession(configuration: .default.intercepted(by: registry))
    #endif
    #if canImport(Network)
      _ = session
    #endif
  }

  @available(macOS 14.0, iOS 17.0, *)
  @MainActor
  private func inAView(_ tunnel: HostTunnel) {
    #if canImport(WebKit)
      let store = WKWebsiteDataStore.nonPersistent()
      store.proxyConfigurations = [tunnel.proxyConfiguration].compactMap { $0 }
      let configuration = WKWebViewConfiguration()
      configuration.websiteDataStore = store
    #endif
  }

  private func outside(_ tunnel: HostTunnel) {
    let variables = tunnel.proxyVariables
    _ = variables
  }
#endif
