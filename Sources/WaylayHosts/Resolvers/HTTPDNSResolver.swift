/// The requests and answers of a vendor's HTTPDNS service: the vendor-specific part.
///
/// ```swift
/// struct ExampleDNS: HTTPDNSService {
///   let url = URL(string: "https://httpdns.example.net")!
///   let addresses = [try! HostAddress("203.0.113.53")]
///
///   func request(for query: HostQuery) throws -> URLRequest {
///     URLRequest(url: url.appending(queryItems: [URLQueryItem(name: "host", value: query.host.description)]))
///   }
///
///   func answer(to query: HostQuery, from body: Data) throws -> HTTPDNSAnswer {
///     struct Answer: Decodable { var ips: [String], ttl: Int }
///     let answer = try JSONDecoder().decode(Answer.self, from: body)
///     return HTTPDNSAnswer(try answer.ips.map { try HostAddress($0) }, timeToLive: .seconds(answer.ttl))
///   }
/// }
/// ```
public protocol HTTPDNSService: Sendable {
  /// The name in events and logs. Default: the type's name.
  var name: String { get }

  /// The URL of the service. With `https`, its certificate is verified against the URL's host; with `http`, anybody in
  /// between can respond in its place.
  var url: URL { get }

  /// The addresses of the service. May be empty if the URL's host is an address.
  var addresses: [HostAddress] { get }

  /// Returns the request for a host, signed as the vendor requires. Its URL has the scheme, the host and the port of
  /// ``url``.
  func request(for query: HostQuery) throws -> URLRequest

  /// Parses the body of a `200 OK`.
  ///
  /// - Throws: ``HostError/Code/noSuchHost`` if the service says that the host does not exist; any other error for an
  ///   unusable answer.
  func answer(to query: HostQuery, from body: Data) throws -> HTTPDNSAnswer
}

extension HTTPDNSService {
  /// The type's name.
  public var name: String { String(describing: Self.self) }
}

/// The answer of an HTTPDNS service for a host.
public struct HTTPDNSAnswer: Hashable, Sendable {
  /// The addresses, in the service's order. If empty, the host has none.
  public var addresses: [HostAddress]
  /// How long the answer may be used.
  public var timeToLive: Duration

  /// Makes an answer.
  public init(_ addresses: [HostAddress], timeToLive: Duration) {
    self.addresses = addresses
    self.timeToLive = timeToLive
  }
}

/// Resolves hosts with a vendor's HTTPDNS service.
///
/// ```swift
/// let resolver = try HTTPDNSResolver(ExampleDNS())
/// ```
public struct HTTPDNSResolver: HostResolver {
  private let service: any HTTPDNSService
  private let loader: BootstrapLoader
  private let privateAddresses: PrivateAddressPolicy

  /// Makes a resolver.
  ///
  /// - Parameters:
  ///   - service: The vendor-specific part.
  ///   - privateAddresses: Whether public names may have private addresses.
  ///   - transport: The transport for requests; by default a separate one, so that they pass through no chain.
  ///   - limit: The timeout for each of the service's addresses.
  ///   - clock: The clock for the limit.
  /// - Throws: ``HostError/Code/invalidResolver`` if the service could never be reached.
  public init(
    _ service: some HTTPDNSService, privateAddresses: PrivateAddressPolicy = .refuse, transport: (any Transport)? = nil,
    limit: Duration = .seconds(3), clock: any Clock<Duration> = ContinuousClock()
  ) throws {
    self.service = service
    self.privateAddresses = privateAddresses
    loader = try BootstrapLoader(
      service.url, at: service.addresses, transport: transport, clock: HostClock(clock), attemptLimit: limit)
  }

  /// The service's name.
  public var name: String { service.name }

  /// Closes the resolver's connections, and forgets which of its server's addresses worked.
  public func networkChanged() { loader.networkChanged() }

  /// Returns the answer of the service.
  ///
  /// - Throws: ``HostError``.
  public func resolve(_ query: HostQuery) async throws -> HostResolution {
    let host = query.host.description
    let request = try service.request(for: query)
    guard let url = request.url, url.hasSameOrigin(as: service.url) else {
      throw HostError(.invalidResolver, "\(name) made a request to a server other than its own.", host: host)
    }
    let (body, response) = try await loader.load(request)
    guard response.status == .ok else {
      throw HostError(.resolverFailed, "\(name) answered with status \(response.status.code).", host: host)
    }
    let answer: HTTPDNSAnswer
    do {
      answer = try service.answer(to: query, from: body)
    } catch let error as HostError {
      throw error
    } catch let error as WaylayError where error.code == .invalidHost {
      throw HostError(error, host: host)
    } catch {
      throw HostError(
        .malformedAnswer, "the answer from \(name) cannot be read: \(error.redacted)", host: host, underlying: error)
    }
    guard !answer.addresses.isEmpty else {
      throw HostError(.noSuchHost, "\(name) has no address for the host.", host: host, timeToLive: answer.timeToLive)
    }
    return try HostResolution(
      answer.addresses.map { HostResolution.Candidate($0) }, timeToLive: max(.zero, answer.timeToLive), source: name
    ).screened(for: query, by: privateAddresses)
  }
}
