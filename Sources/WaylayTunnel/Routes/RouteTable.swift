#if Tunnel
  import WaylayCore
  import WaylayHosts

  /// The routes that clients may name, and how their handshakes have ended.
  final class RouteTable: Sendable {
    /// A host, and the address that is dialled for it.
    struct Endpoint: Hashable, Sendable {
      let authority: HostAuthority
      let endpoint: HostEndpoint
    }

    private struct Known {
      var name: String?
      /// How long its connection may take.
      var limit: Duration?
      var failure: (error: TransportError, time: Duration)?
      /// When a client has ended right after the first flight, and no other has gone on since.
      var rejection: Duration?
    }

    private struct State {
      var known: [Endpoint: Known] = [:]
      var endpoints: [String: Endpoint] = [:]
      var last = 0
      /// Hosts that clients have found good at one of their addresses.
      var accepted: Set<HostAuthority> = []

      /// What is known of one. More than a process has use for are made up: what is known is forgotten then.
      subscript(_ endpoint: Endpoint) -> Known {
        get { known[endpoint] ?? Known() }
        set {
          if known.count + accepted.count >= 8192 { self = State(last: last) }
          known[endpoint] = newValue
        }
      }
    }

    private let state = Locked(State())

    /// The name of a route: the same for the same one.
    func name(of endpoint: Endpoint) -> String {
      state.withLock { state in
        if let name = state[endpoint].name { return name }
        state.last += 1
        let name = "route-\(state.last)"
        state[endpoint].name = name
        state.endpoints[name] = endpoint
        return name
      }
    }

    /// How long a route's connection may take from now on.
    func limit(_ endpoint: Endpoint, to limit: Duration?) { state.withLock { $0[endpoint].limit = limit } }
    func limit(of endpoint: Endpoint) -> Duration? { state.withLock { $0[endpoint].limit } }

    /// Why a route's address was not reached.
    func failed(_ endpoint: Endpoint, _ error: TransportError, at now: Duration) {
      state.withLock { $0[endpoint].failure = (error, now) }
    }

    func failure(of endpoint: Endpoint, since begin: Duration) -> TransportError? {
      state.withLock { $0[endpoint].failure.flatMap { $0.time >= begin ? $0.error : nil } }
    }

    func endpoint(of name: String) -> Endpoint? { state.withLock { $0.endpoints[name] } }

    /// A client has gone on to send data: it found the certificate good.
    func accepted(_ endpoint: Endpoint) {
      state.withLock { state in
        state[endpoint].rejection = nil
        state.accepted.insert(endpoint.authority)
      }
    }

    /// A client has ended right after the server's first flight; whether that makes two in a row. Those that ran side by
    /// side count once, and one that only closed, as clients do that were told to stop, says nothing once
    /// others have found the host good.
    func rejected(_ endpoint: Endpoint, since begin: Duration, at now: Duration, byAlert: Bool) -> Bool {
      state.withLock { state in
        guard byAlert || !state.accepted.contains(endpoint.authority) else { return false }
        let known = state[endpoint].rejection
        if let known, begin < known { return false }
        state[endpoint].rejection = known == nil ? now : nil
        return known != nil
      }
    }
  }
#endif
