/// Loads from a server whose addresses are given, so that looking a host up never needs looking a host up.
///
/// The URL keeps the server's name, and the certificate is checked against it. Nothing is followed, stored or sent
/// along: no redirects, no cookies, no credentials.
struct BootstrapLoader: Sendable {
  /// How long an address that failed is asked last.
  private static let ban: Duration = .seconds(30)

  let endpoints: [HostEndpoint]
  let transport: any Transport
  let clock: HostClock
  let attemptLimit: Duration
  private let bodyLimit: Int
  private let memory = Locked(Memory())

  /// What was learnt of the addresses, by their places in the list.
  struct Memory {
    /// The address that answered last is asked first.
    var preferred = 0
    /// Until when those that failed are asked last.
    var banned: [Int: Duration] = [:]
  }

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
    _ url: URL, at addresses: [HostAddress], transport: (any Transport)?, clock: HostClock,
    attemptLimit: Duration = .seconds(3),
    bodyLimit: Int = 65_536
  ) throws {
    guard let host = url.host, !host.isEmpty, let scheme = url.scheme?.lowercased(),
      scheme == "https" || scheme == "http"
    else {
      throw HostError(.invalidResolver, "\"\(url)\" is not the URL of a server: write https://dns.example/dns-query.")
    }
    let isLiteral = (try? HostAddress(host)) != nil
    guard isLiteral || !addresses.isEmpty else {
      throw HostError(
        .invalidResolver, "\(host) is a name that must be resolved before it can resolve others: give its addresses.",
        host: host)
    }
    let transport = transport ?? PlatformTransport.make(.ephemeral, logger: nil)
    guard addresses.isEmpty || transport.capabilities.contains(.routes) else {
      throw HostError(
        .invalidResolver,
        "\(type(of: transport)) cannot dial a given address: use CurlTransport, on Linux, or a URL whose host is an "
          + "address, https://192.0.2.53/dns-query for example.",
        host: host)
    }
    endpoints = try addresses.map { try HostEndpoint($0) }
    self.transport = transport
    self.clock = clock
    self.attemptLimit = attemptLimit
    self.bodyLimit = bodyLimit
  }

  /// The network is another one.
  func networkChanged() {
    memory.withLock { $0 = Memory() }
    transport.closeConnections()
  }

  /// The addresses in the order in which they are asked.
  func ranked() -> [Int] {
    let now = clock.time()
    return memory.withLock { memory in
      let order = endpoints.indices.map { (memory.preferred + $0) % endpoints.count }
      let banned = Set(memory.banned.filter { $0.value > now }.keys)
      return order.filter { !banned.contains($0) } + order.filter(banned.contains)
    }
  }

  func remember(_ index: Int, hasAnswered: Bool) {
    let now = clock.time()
    memory.withLock { memory in
      if hasAnswered { memory.preferred = index }
      memory.banned[index] = hasAnswered ? nil : now + Self.ban
    }
  }

  func attempt(
    _ request: URLRequest, at index: Int?, gate: DialGate? = nil, isFresh: Bool = false
  ) async throws -> (body: Data, response: InterceptedResponse) {
    var request = request
    // So that the transport can tell that a connection has been silent for the whole of it.
    request.timeoutInterval = attemptLimit / .seconds(1)
    // Nobody needs to know who asks.
    request.setValue("waylay", forHTTPHeaderField: "User-Agent")
    var routed = InterceptedRequest(request)
    if let index {
      var route = try Route(endpoints[index].address.literal, port: endpoints[index].port, gate: gate)
      route.isFresh = isFresh
      routed[Route.self] = route
    }
    do {
      let limit = attemptLimit
      return try await withTimeLimit(limit, on: clock, else: HostError(.resolverTimedOut, "no answer within \(limit)."))
      {
        [transport, bodyLimit, routed] in
        let response = try await transport.load(routed)
        return (try await response.body.collect(upTo: bodyLimit), response)
      }
    } catch let error as HostError {
      throw error
    } catch {
      try Task.checkCancellation()
      throw HostError(
        .resolverFailed, "\((error as? TransportError)?.message ?? "\(error.redacted)")", underlying: error)
    }
  }
}
