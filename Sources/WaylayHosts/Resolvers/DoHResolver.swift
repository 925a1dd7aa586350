/// Resolves hosts with DNS over HTTPS (RFC 8484): the network can neither read the query nor forge the answer.
///
/// ```swift
/// let doh = try DoHResolver(URL(string: "https://dns.example.net/dns-query")!, addresses: ["192.0.2.53", "2001:db8::53"])
/// let cache = ResolutionCache(doh)
/// ```
///
/// The server's own name is never looked up: the resolver dials the given addresses in turn until one responds, and
/// verifies the server's certificate against the name in the URL. It queries IPv4 and IPv6 addresses concurrently,
/// together with HTTPS records (RFC 9460), which may point to other names. It follows aliases inside an answer and
/// ignores the answer's records of other names.
///
/// On Apple platforms `URLSession` can dial only the address of the URL's host: there the host must be an address
/// literal (`https://192.0.2.53/dns-query`) that the server's certificate names. The resolver has no fallback: for one,
/// put the resolver into a ``ResolverChain``.
public final class DoHResolver: HostResolver {
  /// The name or address of the server.
  public let name: String
  let url: URL
  let usesPOST: Bool
  /// How long to wait for the remaining answers once there is an address to dial.
  let resolutionDelay: Duration
  let clock: HostClock
  private let transport: any Transport
  private let authority: HostAuthority
  /// The server's addresses; empty if the transport looks the server up itself.
  private let candidates: [HostCandidate]
  private let policy: HostRewriter.Policy
  private let health: HostHealth
  private let timeout: Duration

  /// Makes a resolver.
  ///
  /// - Parameters:
  ///   - url: The server's URL, with the scheme `https`; a trailing template expression `{?dns}` is supported.
  ///   - addresses: Address literals of the server. Required unless the URL's host is one.
  ///   - usesPOST: Whether a query is the body of a POST; otherwise it is in the URL of a GET, whose answer HTTP caches
  ///     on the way may keep.
  ///   - timeout: The timeout for one address of the server.
  ///   - resolutionDelay: How long to wait for the remaining answers once there is an address to dial.
  ///   - transport: The transport for queries; by default a separate one. For a server with a private authority, pass a
  ///     `CurlTransport` that knows it.
  ///   - clock: The clock for timeouts.
  /// - Throws: `HostError.invalidResolver` for invalid settings, `HostError.invalidName` for text that is
  ///   not an address.
  public init(
    _ url: URL, addresses: [String] = [], usesPOST: Bool = false, timeout: Duration = .seconds(3),
    resolutionDelay: Duration = .milliseconds(500), transport: (any Transport)? = nil,
    clock: any Clock<Duration> = ContinuousClock()
  ) throws {
    guard url.scheme?.lowercased() == "https", let host = url.host, let authority = HostRewriter.authority(of: url)
    else {
      throw HostError(
        .invalidResolver, "\"\(url)\" is not the URL of a server for DNS over HTTPS: use https://host/path.")
    }
    var places = try addresses.map { try HostAddress(server: $0) }
    guard authority.host.isAddress || !places.isEmpty else {
      throw HostError(
        .invalidResolver, "\(host) is a name that must be resolved before it can resolve others: give its addresses.",
        host: host)
    }
    let transport = transport ?? PlatformTransport.make(.ephemeral, logger: nil)
    if !transport.capabilities.contains(.routes) {
      guard places.isEmpty else {
        throw HostError(
          .invalidResolver,
          "\(type(of: transport)) cannot dial a given address: use CurlTransport, on Linux, or a URL whose host is an "
            + "address, https://192.0.2.53/dns-query for example.",
          host: host)
      }
    } else if places.isEmpty {
      places = [try HostAddress(server: authority.host.description)]
    }
    var endpoints: Set<HostEndpoint> = []
    candidates = places.map { HostCandidate($0, port: authority.port, source: "rule") }
      .filter { endpoints.insert($0.endpoint).inserted }
    self.authority = authority
    self.transport = transport
    self.timeout = timeout
    var policy = HostRewriter.Policy.require
    policy.silenceTimeout = timeout / 3
    (policy.initialDeadline, policy.minimumDeadline, policy.maximumDeadline) = (timeout, timeout, timeout)
    self.policy = policy
    health = HostHealth(policy: policy, clock: HostClock(clock))
    name = "doh:\(host)"
    self.url = url
    self.usesPOST = usesPOST
    self.resolutionDelay = resolutionDelay
    self.clock = HostClock(clock)
  }

  /// Closes the resolver's connections, and forgets which of its server's addresses worked.
  public func networkChanged() {
    health.networkChanged()
    transport.closeConnections()
  }

  /// Returns the addresses of a host.
  ///
  /// - Throws: ``HostError``: `noSuchHost`, `resolverFailed`, `resolverTimedOut` or `malformedResponse`.
  public func resolve(_ host: HostName, port: Int) async throws -> HostResolution {
    guard !host.isAddress else {
      throw HostError(.notListed, "\(host) is an address: there is nothing to look up.", host: host.description)
    }
    var findings = try DoHFindings(HostAuthority(host, port: port))
    for _ in 0..<2 {
      // The second round asks about the names that HTTPS records point to.
      let questions = findings.questions()
      guard !questions.isEmpty else { break }
      try await ask(questions, for: &findings)
    }
    return try findings.resolution(source: name)
  }
}

extension DoHResolver {
  /// Sends the questions concurrently and collects the answers; once there is an address to dial, waits only
  /// `resolutionDelay`.
  func ask(_ questions: [DNSQuestion], for findings: inout DoHFindings) async throws {
    let known = findings
    findings = try await withThrowingTaskGroup(of: (DNSQuestion, Result<DNSReply, HostError>)?.self) { group in
      for question in questions {
        group.addTask { (question, await self.outcome(of: question)) }
      }
      defer { group.cancelAll() }
      var findings = known
      var isHurried = false
      while true {
        if findings.hasAddresses, !isHurried {
          isHurried = true
          group.addTask {
            try await self.clock.sleep(self.resolutionDelay)
            return nil
          }
        }
        guard let (question, result) = try await group.next() ?? nil else { break }
        findings.add(result, to: question)
        if questions.allSatisfy({ findings.answers[$0] != nil }) { break }
      }
      return findings
    }
    try Task.checkCancellation()
  }

  private func outcome(of question: DNSQuestion) async -> Result<DNSReply, HostError> {
    do {
      return .success(try await exchange(question))
    } catch let error as HostError {
      return .failure(error)
    } catch {
      return .failure(
        HostError(
          .resolverFailed, "\(name) did not answer: \(error.redacted)", host: question.name.description,
          underlying: error))
    }
  }
}

extension DoHResolver {
  /// Sends one question and returns its answer.
  func exchange(_ question: DNSQuestion) async throws -> DNSReply {
    let response = try await load(InterceptedRequest(request(for: question)))
    let mediaType = response.fields[.contentType]?.prefix { $0 != ";" && $0 != " " }.lowercased() ?? ""
    guard response.status == .ok, mediaType == Self.mediaType else {
      throw HostError(
        .resolverFailed,
        "\(name) answered \(response.status.code) with the type \"\(mediaType)\" instead of a DNS message.",
        host: question.name.description)
    }
    var answer = try DNSReply(to: question, in: DNSMessage(decoding: Array(response.body.inMemory ?? Data())))
    // Subtract the time that an HTTP cache has kept the answer (RFC 8484, section 5.1).
    let age = response.fields[.age].flatMap { UInt32($0) } ?? 0
    answer.timeToLive = answer.timeToLive > age ? answer.timeToLive - age : 0
    return answer
  }

  private static let mediaType = "application/dns-message"

  private func request(for question: DNSQuestion) throws -> URLRequest {
    let message = Data(DNSMessage.query(question.name, question.type))
    var request = URLRequest(url: try url(usesPOST ? nil : message))
    request.timeoutInterval = timeout / .seconds(1)
    request.setValue(Self.mediaType, forHTTPHeaderField: "Accept")
    // Do not reveal the name of the process.
    request.setValue("waylay", forHTTPHeaderField: "User-Agent")
    if usesPOST {
      request.httpMethod = "POST"
      request.setValue(Self.mediaType, forHTTPHeaderField: "Content-Type")
      request.httpBody = message
    }
    return request
  }

  private func url(_ message: Data?) throws -> URL {
    var text = url.absoluteString
    for template in ["{?dns}", "%7B?dns%7D", "%7B%3Fdns%7D"] where text.hasSuffix(template) {
      text.removeLast(template.count)
    }
    if let message { text += (text.contains("?") ? "&dns=" : "?dns=") + message.base64URL }
    guard let url = URL(string: text) else {
      throw HostError(.invalidResolver, "\"\(text)\" is not a URL: check the one that \(name) was made with.")
    }
    return url
  }
}

extension DoHResolver {
  /// The maximum size of an answer in bytes.
  private static let bodyLimit = 65_536

  /// The response of the first address that gives a complete one. The request is routed, so that a lookup never needs
  /// another lookup.
  private func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    guard !candidates.isEmpty else { return try await attempt(request) }
    let ranking = Ranking(candidates, records: health.records(of: candidates, at: authority), at: clock.time())
    let failover = Failover(
      request: request, authority: authority, policy: policy, health: health, clock: clock,
      next: InterceptorChain.Next { try await self.attempt($0) }, transport: transport, report: { _, _ in },
      start: clock.time(), epoch: health.epoch, isHarmless: true)
    do {
      return try await failover.load(ranking.entries)
    } catch {
      try Task.checkCancellation()
      let cause = (error as? URLError)?.cause(as: HostError.self)
      let isLate = cause.map { $0.attempts.allSatisfy { [.timedOut, .silent].contains($0.finding) } } ?? false
      throw HostError(
        isLate ? .resolverTimedOut : .resolverFailed, cause?.message ?? "\(error.redacted)",
        host: authority.host.description, underlying: error)
    }
  }

  /// The attempt includes the body: an address that fails to deliver it has failed.
  private func attempt(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    do {
      return try await withTimeLimit(timeout, on: clock, else: HostError(.resolverTimedOut, "")) { [transport] in
        var response = try await transport.load(request)
        response.body = .data(try await response.body.collect(upTo: Self.bodyLimit))
        return response
      }
    } catch let error as HostError where error.code == .resolverTimedOut {
      throw TransportError(
        .timedOut, phase: .receiving, address: request.route?.address, message: "no response within \(timeout).")
    }
  }
}
