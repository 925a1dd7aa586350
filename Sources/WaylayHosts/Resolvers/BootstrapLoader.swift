/// Loads from a server whose addresses are given, so that looking a host up never needs looking a host up.
///
/// The URL keeps the server's name, and the certificate is checked against it. Nothing is followed, stored or sent
/// along: no redirects, no cookies, no credentials.
struct BootstrapLoader: Sendable {
  /// How long an address that failed is asked last.
  private static let ban: Duration = .seconds(30)
  /// The most bytes of an answer.
  private static let bodyLimit = 65_536

  let endpoints: [HostEndpoint]
  let transport: any Transport
  let clock: HostClock
  let attemptLimit: Duration
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
  /// - Throws: `HostError.invalidResolver` when the server could never be reached this way.
  init(
    _ url: URL, at addresses: [HostAddress], transport: (any Transport)?, clock: HostClock, attemptLimit: Duration
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
    endpoints = addresses.map { HostEndpoint($0) }
    self.transport = transport
    self.clock = clock
    self.attemptLimit = attemptLimit
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
  ) async throws -> Reply {
    var request = request
    // So that the transport can tell that a connection has been silent for the whole of it.
    request.timeoutInterval = attemptLimit / .seconds(1)
    // The name of the process is nobody's business.
    request.setValue("waylay", forHTTPHeaderField: "User-Agent")
    var routed = InterceptedRequest(request)
    if let index {
      var route = try Route(endpoints[index].address.literal, port: endpoints[index].port, gate: gate)
      route.opensNewConnection = isFresh
      routed[Route.self] = route
    }
    do {
      let limit = attemptLimit
      return try await withTimeLimit(limit, on: clock, else: HostError(.resolverTimedOut, "no answer within \(limit)."))
      {
        [transport, routed] in
        let response = try await transport.load(routed)
        return (try await response.body.collect(upTo: Self.bodyLimit), response)
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

extension BootstrapLoader {
  typealias Reply = (body: Data, response: InterceptedResponse)

  /// How long an address has to be connected before the next one is tried beside it.
  private static let stagger: Duration = .milliseconds(250)
  /// How long an address that has the question may be silent before the next one is asked beside it.
  private var silence: Duration { attemptLimit / 3 }

  private enum Signal: Sendable {
    case timer
    case ended(Int, Result<Reply, any Error>)
  }

  /// The whole answer of the first address that gives one.
  ///
  /// The next address is tried beside the others after 250 ms, or at once when one fails. The first that is connected
  /// and verified gets the question; when that is silent for a third of its time another one gets it too, which is
  /// harmless: it is the same server's.
  ///
  /// - Throws: `HostError.resolverFailed` or `HostError.resolverTimedOut` when none does.
  func load(_ request: URLRequest) async throws -> Reply {
    guard !endpoints.isEmpty else { return try await attempt(request, at: nil) }
    let hasGates = transport.capabilities.contains(.gates)
    return try await withThrowingTaskGroup(of: Signal.self) { group in
      defer { group.cancelAll() }
      var waiting = ranked()
      var running = 0
      var gate = hasGates ? DialGate() : nil
      var lastStart: Duration?
      var hasRetried = false
      var failures: [(index: Int, error: HostError)] = []
      func start(_ index: Int, isFresh: Bool = false) {
        // The query may be sent once more: the attempt that has claimed the gate is silent, or has failed.
        if gate?.isClaimed == true { gate = DialGate() }
        running += 1
        lastStart = clock.time()
        group.addTask { [gate] in
          do {
            return .ended(index, .success(try await attempt(request, at: index, gate: gate, isFresh: isFresh)))
          } catch {
            return .ended(index, .failure(error))
          }
        }
      }
      func wait(_ time: Duration) {
        group.addTask { [clock] in
          try? await clock.sleep(time)
          return .timer
        }
      }
      while true {
        if running == 0 {
          guard !waiting.isEmpty else { throw Self.failure(failures, endpoints, request) }
          start(waiting.removeFirst())
          wait(Self.stagger)
        }
        switch try await group.next() {
        case nil: throw Self.failure(failures, endpoints, request)
        case .timer:
          let isAsked = gate?.isClaimed == true
          guard let last = lastStart, running > 0 else { continue }
          let due = last + (isAsked ? silence : Self.stagger)
          if clock.time() < due {
            wait(due - clock.time())
          } else if !waiting.isEmpty {
            start(waiting.removeFirst())
            wait(Self.stagger)
          } else if isAsked, !hasRetried, gate?.isClaimedOnKeptConnection == true, endpoints.count == 1 {
            hasRetried = true
            start(0, isFresh: true)
          }
        case .ended(let index, .success(let reply)):
          remember(index, hasAnswered: true)
          return reply
        case .ended(let index, .failure(let error)):
          running -= 1
          try Task.checkCancellation()
          let error = error as? HostError ?? HostError(.resolverFailed, "\(error)", underlying: error)
          if (error.underlying as? TransportError)?.code == .cancelled {
            // Another one was connected first; this one is as good.
            waiting.append(index)
            continue
          }
          remember(index, hasAnswered: false)
          failures.append((index, error))
          if !waiting.isEmpty, gate?.isClaimed != true || running == 0 {
            start(waiting.removeFirst())
            wait(Self.stagger)
          }
        }
      }
    }
  }

  private static func failure(
    _ failures: [(index: Int, error: HostError)], _ endpoints: [HostEndpoint], _ request: URLRequest
  ) -> HostError {
    if endpoints.count == 1, let only = failures.first?.error { return only }
    let story = failures.map { "\(endpoints[$0.index]): \($0.error.message)" }.joined(separator: "; ")
    return HostError(.resolverFailed, "no address of \(request.url?.host ?? "") answered: \(story)")
  }
}
