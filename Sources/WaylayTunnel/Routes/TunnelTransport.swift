#if Tunnel
  import WaylayCore
  import WaylayHosts

  /// Loads routed requests through a tunnel: each route has an inner transport, whose proxy is the tunnel's listener
  /// and whose proxy user is the route's name. A connection names only host and port, so two routes to one host cannot
  /// share a session; and connections to an address that failed must not be reused.
  final class TunnelTransport: Transport {
    /// Makes the inner transport whose proxy is at a port of the loopback address.
    typealias MakeInner = @Sendable (_ port: Int, _ user: String, _ password: String) throws -> any Transport

    /// The maximum number of inner transports, and their idle time.
    private static let most = 16
    private static let idleTime = Duration.seconds(60)

    private struct Inner {
      let transport: any Transport
      var lastUse: Duration
    }

    private struct State {
      /// The secret of the tunnel's start that the inner transports belong to.
      var secret: String?
      var inner: [RouteTable.Endpoint: Inner] = [:]
      var isInvalidated = false
    }

    private let tunnel: HostTunnel
    private let bare: any Transport
    private let makeInner: MakeInner
    private let state = Locked(State())

    /// - Parameter bare: The transport for requests without a route.
    init(_ tunnel: HostTunnel, bare: any Transport, makeInner: @escaping MakeInner) {
      (self.tunnel, self.bare, self.makeInner) = (tunnel, bare, makeInner)
    }

    deinit { bare.invalidate() }

    var capabilities: TransportCapabilities { bare.capabilities.union(.routes) }

    func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
      guard let route = request.route else { return try await bare.load(request) }
      guard let port = request.url.portOrDefault, let host = request.url.host.flatMap({ try? HostName($0) }),
        !host.isLocal, !host.isAddress
      else {
        throw HostError(
          .transportIncapable,
          "the system may pass a local name or an address by the proxy: give the host a public name, or exclude it.",
          host: request.url.host)
      }
      let authority = HostAuthority(host, port: port)
      let address = try HostEndpoint(HostAddress(route.address), port: route.port ?? port)
      let endpoint = RouteTable.Endpoint(authority: authority, endpoint: address)
      let server = try await tunnel.running()
      let inner = try inner(for: endpoint, server)
      tunnel.routes.limit(endpoint, to: route.connectTimeout)
      let begin = tunnel.rewriter.now
      var bareRequest = request
      bareRequest.route = nil
      do {
        var response = try await inner.load(bareRequest)
        response.body = response.body.relayed { chunks in
          // Keeps the session alive while the body is read.
          defer { withExtendedLifetime(inner) {} }
          return try await chunks.next()
        }
        return response
      } catch {
        // The session reports only a proxy failure; the tunnel has the cause, and knows that nothing was sent.
        throw tunnel.routes.failure(of: endpoint, since: begin) ?? error
      }
    }

    private func inner(for endpoint: RouteTable.Endpoint, _ server: TunnelServer) throws -> any Transport {
      let now = tunnel.rewriter.now
      let (port, user) = (server.port, tunnel.routes.name(of: endpoint))
      var dropped: [any Transport] = []
      defer { _ = dropped }
      return try state.withLock { state in
        guard !state.isInvalidated else { throw CancellationError() }
        if state.secret != server.secret {
          // Another process may own the old port by now: drop the old sessions.
          dropped = state.inner.values.map(\.transport)
          (state.secret, state.inner) = (server.secret, [:])
        }
        let transport = try state.inner[endpoint]?.transport ?? makeInner(port, user, server.secret)
        state.inner[endpoint] = Inner(transport: transport, lastUse: now)
        let uses = state.inner.values.map(\.lastUse).sorted()
        let oldest = uses.count > Self.most ? uses[uses.count - Self.most] : .zero
        let limit = max(oldest, now - Self.idleTime)
        dropped += state.inner.values.filter { $0.lastUse < limit }.map(\.transport)
        state.inner = state.inner.filter { $0.value.lastUse >= limit }
        return transport
      }
    }

    /// The number of inner transports.
    var count: Int { state.withLock { $0.inner.count } }

    func closeIdleConnections(to address: String, port: Int) {
      let dropped = state.withLock { state in
        let found = state.inner.filter { $0.key.endpoint.address.literal == address && $0.key.endpoint.port == port }
        for key in found.keys { state.inner[key] = nil }
        return found
      }
      // Released outside of the lock; a transport in use lives until its last body ends.
      _ = dropped
    }

    func closeConnections() {
      for inner in takeAll() { inner.invalidate() }
      bare.closeConnections()
    }

    func invalidate() {
      state.withLock { $0.isInvalidated = true }
      for inner in takeAll() { inner.invalidate() }
      bare.invalidate()
    }

    private func takeAll() -> [any Transport] {
      state.withLock { exchange(&$0.inner, with: [:]).values.map(\.transport) }
    }
  }
#endif
