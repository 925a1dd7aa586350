#if Tunnel
  import WaylayCore
  public import WaylayHosts

  /// A proxy inside the process that dials the addresses that an app trusts, for every client that can use a proxy.
  ///
  /// ```swift
  /// let tunnel = HostTunnel(HostRewriter(["api.example.com": ["203.0.113.7", "2001:db8::7"]]))
  /// try await tunnel.start()
  /// let variables = tunnel.proxyVariables  // for a child process: http_proxy, https_proxy, all_proxy
  /// ```
  ///
  /// A client asks it for `api.example.com:443` by CONNECT or SOCKS5, and it dials the addresses of the rewriter's rules
  /// and resolvers, as the rewriter itself does: with the same health records, events and `explain`. TLS stays the
  /// client's: the server name, the verification of the certificate, pinning, HTTP/2. The tunnel sees only how a
  /// handshake begins. Until an address has shown that it speaks TLS, the next one is tried within the same connection.
  ///
  /// It listens on the loopback address, and dials nothing for a client without the secret, which is generated at each
  /// start. Other users of the machine cannot use it; programs of the same user that read this process's memory, or the
  /// environment of a child that has the variables, can.
  ///
  /// Do not use it for requests that a `HostRewriter` in a chain can carry: on Linux, `CurlTransport` does so without a
  /// proxy.
  public final class HostTunnel: Sendable {
    /// The options of a tunnel.
    public struct Options: Sendable {
      /// Whether hosts without a rule are passed on to the addresses that the system finds for them, except private ones.
      /// Never under `HostRewriter.Policy.require`. Default: they are refused.
      public var allowsOtherHosts = false
      /// How many connections may be open at once. Each takes two descriptors.
      public var maximumConnections = 1024
      /// How long a connection may be silent before it is closed.
      public var idleTimeout = Duration.seconds(600)
      /// How long ``HostTunnel/stop()`` waits for open connections before it closes them.
      public var gracePeriod = Duration.zero

      /// Makes the default options.
      public init() {}
    }

    private struct State {
      var isBusy = false
      var server: TunnelServer?
      /// Calls that wait for the one under way: ``HostTunnel/stop()`` whether it is cancelled or not, `running()` until
      /// it is.
      var waiters = Waiters()
    }

    /// The user name with which a client leaves the choice of addresses to the rules.
    static let rulesUser = "rules"

    /// The rewriter whose rules, resolvers and health records it uses.
    public let rewriter: HostRewriter
    /// What was done for clients, for those who watch.
    package let records = EventHub<TunnelRecord>()
    let routes = RouteTable()
    private let options: Options
    private let limits: TunnelLimits
    private let state = Locked(State())
    var isBusy: Bool { state.withLock { $0.isBusy } }

    /// Makes a tunnel, which does nothing until you start it.
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

    /// Starts listening, with a new port and a new secret. A tunnel that is running continues.
    ///
    /// - Throws: `HostError`.
    public func start() async throws {
      guard begin() else {
        throw HostError(.busy, "another call is starting or stopping the tunnel: wait for it to return.")
      }
      if let server { return end(server) }
      _ = try await listen()
    }

    /// Starts a server, and ends the turn of the caller.
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

    /// Stops listening, and closes open connections after `Options.gracePeriod`. The secret is worth nothing from then on.
    ///
    /// It waits for another call that is starting or stopping the tunnel. Cancelling the task changes nothing: when the
    /// call returns, the tunnel is stopped.
    public func stop() async {
      while !begin() { await state.wait(at: \.waiters, isCancellable: false) { !$0.isBusy } }
      await stopServer()
      end(nil)
    }

    private func stopServer() async {
      let server = state.withLock { state in
        defer { state.server = nil }
        return state.server
      }
      await server?.stop(within: options.gracePeriod)
    }

    /// The variables that make most programs use the tunnel, for the environment of a child process; empty while the
    /// tunnel is stopped. A variable whose value is empty is to be unset.
    ///
    /// They hold the secret: whoever may read the environment of the child may use the tunnel. Never pass them as
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

    /// The server: a new one where there is none, or where the system has closed its listener while the app was suspended.
    /// Its old port may be anybody's by then.
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

    /// Whether no other call is starting or stopping; none may from then on until `end`.
    private func begin() -> Bool {
      state.withLock { state in
        defer { state.isBusy = true }
        return !state.isBusy
      }
    }

    private func end(_ server: TunnelServer?) {
      state.change(waking: \.waiters) { ($0.server, $0.isBusy) = (server, false) }
    }
  }

  extension HostTunnel: CustomStringConvertible {
    /// Where it listens; never the secret.
    public var description: String { port.map { "HostTunnel at 127.0.0.1:\($0)" } ?? "HostTunnel, stopped" }
  }
#else
  /// The tunnel, which needs the package trait `Tunnel`.
  @available(*, unavailable, message: "Enable the trait Tunnel of the package waylay.")
  public struct HostTunnel: Sendable {
    /// Says which trait is missing.
    public init(_ rewriter: Any, options: Any? = nil) {}
  }
#endif
