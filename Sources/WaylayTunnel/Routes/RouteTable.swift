#if Tunnel
  import WaylayCore
  import WaylayHosts

  /// The routes that clients may name, with the outcome of their handshakes.
  final class RouteTable: Sendable {
    /// A host, and the address to dial for it.
    struct Endpoint: Hashable, Sendable {
      let authority: HostAuthority
      let endpoint: HostEndpoint
    }

    private struct Known {
      var name: String?
      /// The limit for opening a connection.
      var limit: Duration?
      var failure: (error: TransportError, time: Duration)?
      /// When a client last closed after the server's first flight; `nil` once another client has continued.
      var rejection: Duration?
      /// Whether a client has accepted its certificate.
      var isAccepted = false
    }

    private struct State {
      var known: [Endpoint: Known] = [:]
      var endpoints: [String: Endpoint] = [:]
      var last = 0

      /// The record of one route. Far more entries than a process needs come from an attacker: the table is then
      /// cleared.
      subscript(_ endpoint: Endpoint) -> Known {
        get { known[endpoint] ?? Known() }
        set {
          if known.count >= 8192 { self = State(last: last) }
          known[endpoint] = newValue
        }
      }
    }

    private let state = Locked(State())

    /// The name of a route; stable for equal routes.
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

    /// Sets the limit for opening the connection of a route.
    func limit(_ endpoint: Endpoint, to limit: Duration?) { state.withLock { $0[endpoint].limit = limit } }
    func limit(of endpoint: Endpoint) -> Duration? { state.withLock { $0[endpoint].limit } }

    /// Records why a route's address was not reached.
    func failed(_ endpoint: Endpoint, _ error: TransportError, at now: Duration) {
      state.withLock { $0[endpoint].failure = (error, now) }
    }

    func failure(of endpoint: Endpoint, since begin: Duration) -> TransportError? {
      state.withLock { $0[endpoint].failure.flatMap { $0.time >= begin ? $0.error : nil } }
    }

    /// Clears the outcomes of handshakes: those in another network say nothing about the addresses in this one.
    func networkChanged() {
      state.withLock { $0.known = $0.known.mapValues { Known(name: $0.name, limit: $0.limit) } }
    }

    func endpoint(of name: String) -> Endpoint? { state.withLock { $0.endpoints[name] } }

    /// Records that a client sent data, and so accepted the certificate.
    func accepted(_ endpoint: Endpoint) {
      state.withLock { state in
        state[endpoint].rejection = nil
        state[endpoint].isAccepted = true
      }
    }

    /// Records that a client closed after the server's first flight. Returns whether this is the second time in a row.
    /// Concurrent connections count once. A close without an alert, as after a cancellation, is ignored once a client
    /// has accepted the certificate of the address.
    func rejected(_ endpoint: Endpoint, since begin: Duration, at now: Duration, byAlert: Bool) -> Bool {
      state.withLock { state in
        guard byAlert || !state[endpoint].isAccepted else { return false }
        let known = state[endpoint].rejection
        if let known, begin < known { return false }
        state[endpoint].rejection = known == nil ? now : nil
        return known != nil
      }
    }
  }
#endif
