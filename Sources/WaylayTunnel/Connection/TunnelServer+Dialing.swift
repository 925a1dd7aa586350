#if Tunnel
  import WaylayCore
  import WaylayHosts

  /// The transport at the end of the tunnel's chain: a load is a connection, and its response means that the connection
  /// is verified as the host's. So the rewriter's failover, health records and events apply to tunnels as to requests.
  extension TunnelServer: Transport {
    /// The flow of a request.
    enum Key: InterceptedRequest.Key { static let defaultValue: Flow? = nil }

    var capabilities: TransportCapabilities { [.routes, .gates] }

    func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
      guard let flow = request[Key.self] else { preconditionFailure("only the tunnel makes such requests") }
      var failure: (any Error)?
      for endpoint in try await endpoints(of: request, flow) {
        let address = "\(endpoint)"
        do {
          if let reason = refusal(of: endpoint.address, port: endpoint.port ?? 0, for: flow.authority) {
            throw TransportError.unsent(.resourceUnavailable, "it \(reason), and no rule lists it", address)
          }
          let shown = try await flow.attempt(endpoint, request.route)
          var response = InterceptedResponse(to: request, status: shown.status, fields: shown.fields, source: .network)
          var metrics = LoadMetrics()
          (metrics.connect, metrics.isConnectionReused, metrics.address) = (shown.time, false, address)
          response.metrics = metrics
          return response
        } catch let error as TransportError where error.requestBytesSent == 0 && request.route == nil {
          failure = error
        }
      }
      throw failure ?? TransportError.unsent(.cannotFindHost, "it has no address", "\(flow.authority)")
    }

    /// The address of the route; without a route, the system's addresses if the policy allows them.
    private func endpoints(of request: InterceptedRequest, _ flow: Flow) async throws -> [HostEndpoint] {
      let authority = flow.authority
      if let route = request.route {
        return [try HostEndpoint(HostAddress(route.address), port: route.port ?? authority.port)]
      }
      guard rewriter.policy.allowsSystem else {
        throw TransportError.unsent(.cannotFindHost, "the policy does not allow the system's resolver", "\(authority)")
      }
      if authority.host.isAddress, let address = try? HostAddress(authority.host.description) {
        return [try HostEndpoint(address, port: authority.port)]
      }
      return try await SystemResolver().resolve(authority.host, port: authority.port).endpoints.prefix(8).map {
        try HostEndpoint($0.address, port: authority.port)
      }
    }
  }
#endif
