#if Tunnel
  import WaylayCore
  public import WaylayHosts

  /// A proxy inside the process that dials the addresses that an app trusts, for every client that supports proxies.
  ///
  /// ```swift
  /// let tunnel = HostTunnel(HostRewriter(["api.example.com": ["203.0.113.7", "2001:db8::7"]]))
  /// try await tunnel.start()
  /// let variables = tunnel.proxyVariables  // for a child process: http_proxy, https_proxy, all_proxy
  /// ```
  ///
  /// A client requests `api.example.com:443` by CONNECT or SOCKS5, and the tunnel dials the addresses of the rewriter's
  /// rules and resolvers, with the same health records, events and `explain` as the rewriter. TLS remains the client's:
  /// the server name, certificate validation, pinning, HTTP/2. The tunnel sees only the beginning of a handshake. Until
  /// an address has spoken TLS, the tunnel tries the next one within the same connection.
  ///
  /// The tunnel listens on the loopback address, and refuses clients without the secret, which is generated at each
  /// start. Other users of the machine cannot use it; programs of the same user can if they read this process's memory,
  /// or the environment of a child process that has the variables.
  ///
  /// Do not use it for requests that a `HostRewriter` in a chain can route: on Linux, `CurlTransport` does so without a
  /// proxy.
  public final class HostTunnel: Sendable {
    /// The options of a tunnel.
    public struct Options: Sendable {
      /// Whether the tunnel forwards hosts without a rule, at the addresses of the system's resolver, except private
      /// ones. Never under `HostRewriter.Policy.require`. Default: it refuses them.
      public var allowsOtherHosts = false
      /// The maximum number of open connections. Each takes two descriptors.
      public var maximumConnections = 1024
      /// The idle time after which a connection is closed.
      public var idleTimeout = Duration.seconds(600)
      /// How long ``HostTunnel/stop()`` waits for open connections before it closes them.
      public var gracePeriod = Duration.zero

      /// Makes the default options.
      public init() {}
    }

    private struct State {
      var isBusy = false
      var server: TunnelServer?
      /// Waiters for the start or stop in progress: ``HostTunnel/stop()`` ignores cancellation, `running()` stops
      /// waiting.
      var waiters = Waiters()
    }

    /// The user name of a client that lets the rules determine the addresses.
    static let rulesUser = "rules"

    /// The rewriter, with its rules, resolvers and health records.
    public let rewriter: HostRewriter
    /// Records of the flows, for observers.
    package let records = EventHub<TunnelRecord>()
    let routes = RouteTable()
    private let options: Options
    private let limits: TunnelLimits
    private let state = Locked(State())
    var isBusy: Bool { state.withLock { $0.isBusy } }

    /// Makes a tunnel; call ``start()`` to use it.
    public convenience init(_ rewriter: HostRewriter, options: Options = Options()) {
      self.init(rewriter, options: options, limits: TunnelLimits())
    }

    init(_ rewriter: HostRewriter, options: Options, limits: TunnelLimits) {
      (self.rewriter, self.options, self.limits) = (rewriter, options, limits)
    }

    deinit {
      guard let server = state.withLock({ $0.server }) else { return }
      Task { await server.stop(within: .zero) }
    }

    /// The port on `127.0.0.1` while the tunnel runs.
    public var port: Int? { server?.port }

    var server: TunnelServer? { state.withLock { $0.server } }

    /// Starts listening, with a new port and a new secret. No-op while the tunnel is running.
    ///
    /// - Throws: `HostError`.
    public func start() async throws {
      guard begin() else {
        throw HostError(.busy, "another call is starting or stopping the tunnel: wait for it to return.")
      }
      if let server { return end(server) }
      _ = try await listen()
    }

    /// Starts a server, and clears the busy flag.
    private func listen() async throws -> TunnelServer {
      let server = TunnelServer(rewriter, options, limits, routes, records)
      do {
        try await server.start()
      } catch {
        end(nil)
        throw HostError(
          .cannotListen, "the tunnel cannot listen on the loopback address: \(error.localizedDescription)",
          underlying: error)
      }
      end(server)
      return server
    }

    /// Stops listening, and closes open connections after `Options.gracePeriod`. The secret is invalid from then on.
    ///
    /// It waits for another call that is starting or stopping the tunnel. Cancellation has no effect: when the call
    /// returns, the tunnel is stopped.
    public func stop() async {
      while !begin() { await state.wait(at: \.waiters, isCancellable: false) { !$0.isBusy } }
      await stopServer()
      end(nil)
    }

    private func stopServer() async {
      await state.withLock { $0.server.take() }?.stop(within: options.gracePeriod)
    }

    /// The environment variables that make most programs use the tunnel, for a child process; empty while the tunnel is
    /// stopped. Unset a variable whose value is empty.
    ///
    /// They contain the secret: a program that can read the child's environment can use the tunnel. Never pass them as
    /// arguments, and never set them in this process, where other threads may be reading the environment.
    public var proxyVariables: [String: String] {
      guard let server else { return [:] }
      let place = "\(Self.rulesUser):\(server.secret)@127.0.0.1:\(server.port)"
      var variables = ["no_proxy": "", "NO_PROXY": ""]
      for name in ["http_proxy", "https_proxy", "ws_proxy", "wss_proxy", "all_proxy"] {
        let url = "\(name == "all_proxy" ? "socks5h" : "http")://\(place)"
        (variables[name], variables[name.uppercased()]) = (url, url)
      }
      return variables
    }

    /// The running server; starts a new one if there is none, or if the system closed its listener while the app was
    /// suspended. Another process may own the old port by then.
    func running() async throws -> TunnelServer {
      if let server, !server.isDefunct { return server }
      while !begin() {
        try Task.checkCancellation()
        await state.wait(at: \.waiters) { !$0.isBusy }
      }
      if let server {
        guard server.isDefunct else {
          end(server)
          return server
        }
        await stopServer()
        rewriter.happened(
          .tunnelRestarted,
          HostError(
            .listenerLost,
            "the system has closed the tunnel's listener, as it does while an app is suspended: it got a new port."))
      }
      return try await listen()
    }

    /// Sets the busy flag. Returns `false` if another call is starting or stopping the tunnel.
    private func begin() -> Bool {
      state.withLock { !exchange(&$0.isBusy, with: true) }
    }

    private func end(_ server: TunnelServer?) {
      state.change(waking: \.waiters) { ($0.server, $0.isBusy) = (server, false) }
    }
  }

  extension HostTunnel: CustomStringConvertible {
    /// The address of the listener; never the secret.
    public var description: String { port.map { "HostTunnel at 127.0.0.1:\($0)" } ?? "HostTunnel, stopped" }
  }
#else
  /// The tunnel, which requires the package trait `Tunnel`.
  @available(*, unavailable, message: "Enable the trait Tunnel of the package waylay.")
  public struct HostTunnel: Sendable {
    /// Unavailable: names the missing trait.
    public init(_ rewriter: Any, options: Any? = nil) {}
  }
#endif
