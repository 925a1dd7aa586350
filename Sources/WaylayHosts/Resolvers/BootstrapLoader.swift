/// Loads from a server whose addresses are given, so that looking a host up never needs looking a host up.
///
/// The URL keeps the server's name, and the certificate is checked against it. Nothing is followed, stored or sent along: no redirects, no
/// cookies, no credentials.
struct BootstrapLoader: Sendable {
  private let endpoints: [HostEndpoint]
  private let transport: any Transport
  private let clock: HostClock
  private let attemptLimit: Duration
  private let bodyLimit: Int
  /// The address that answered last is asked first.
  private let preferred = Locked(0)

  /// Makes a loader.
  ///
  /// - Parameters:
  ///   - url: The server.
  ///   - addresses: Where it is; may be empty when the URL's host is an address itself.
  ///   - transport: What requests go through; the platform's own when there is none.
  ///   - clock: What an attempt's time is measured on.
  ///   - attemptLimit: How long one address is waited for.
  ///   - bodyLimit: The most bytes of an answer.
  /// - Throws: ``HostError/Code/invalidResolver`` when the server could never be reached this way.
  init(
    _ url: URL, at addresses: [HostAddress], transport: (any Transport)?, clock: HostClock, attemptLimit: Duration = .seconds(3),
    bodyLimit: Int = 65_536
  ) throws {
    guard let host = url.host, !host.isEmpty, let scheme = url.scheme?.lowercased(), scheme == "https" || scheme == "http" else {
      throw HostError(.invalidResolver, "\"\(url)\" is not the URL of a server: write https://dns.example/dns-query.")
    }
    let isLiteral = HostAddress(parsing: host) != nil
    guard isLiteral || !addresses.isEmpty else {
      throw HostError(
        .invalidResolver, "\(host) would have to be looked up before it can look anything up: give its addresses.", host: host)
    }
    let transport = transport ?? PlatformTransport.make(.ephemeral, logger: nil)
    guard addresses.isEmpty || transport.capabilities.contains(.routes) else {
      throw HostError(
        .invalidResolver,
        "\(type(of: transport)) cannot dial a given address: use CurlTransport, on Linux, or a URL whose host is an address, https://192.0.2.53/dns-query for example.",
        host: host)
    }
    endpoints = try addresses.map { try HostEndpoint($0) }
    self.transport = transport
    self.clock = clock
    self.attemptLimit = attemptLimit
    self.bodyLimit = bodyLimit
  }

  /// The whole answer of the first address that gives one.
  ///
  /// - Throws: ``HostError/Code/resolverFailed`` or ``HostError/Code/resolverTimedOut`` when none does.
  func load(_ request: URLRequest) async throws -> (body: Data, response: InterceptedResponse) {
    guard !endpoints.isEmpty else { return try await attempt(request, at: nil) }
    let first = preferred.withLock { $0 }
    var failures: [String] = []
    for offset in endpoints.indices {
      let index = (first + offset) % endpoints.count
      do {
        let answer = try await attempt(request, at: endpoints[index])
        preferred.withLock { $0 = index }
        return answer
      } catch let error as HostError {
        guard endpoints.count > 1 else { throw error }
        failures.append("\(endpoints[index]): \(error.message)")
      }
    }
    throw HostError(.resolverFailed, "no address of \(request.url?.host ?? "") answers: \(failures.joined(separator: "; "))")
  }

  private func attempt(_ request: URLRequest, at endpoint: HostEndpoint?) async throws -> (body: Data, response: InterceptedResponse) {
    var routed = InterceptedRequest(request)
    if let endpoint { routed[Route.self] = try Route(endpoint.address.literal, port: endpoint.port) }
    do {
      let limit = attemptLimit
      return try await withTimeLimit(limit, on: clock, else: HostError(.resolverTimedOut, "no answer within \(limit).")) {
        [transport, bodyLimit, routed] in
        let response = try await transport.load(routed)
        return (try await response.body.collect(upTo: bodyLimit), response)
      }
    } catch let error as HostError {
      throw error
    } catch {
      try Task.checkCancellation()
      throw HostError(.resolverFailed, "\((error as? TransportError)?.message ?? "\(error.redacted)")", underlying: error)
    }
  }
}
