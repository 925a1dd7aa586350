/// What a vendor's HTTPDNS service asks and answers: the part of it that is the vendor's own.
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
  /// What events and logs call it. Default: the type's name.
  var name: String { get }

  /// The service. With `https` its certificate is checked against the URL's host; with `http` whoever is between can
  /// answer in its place.
  var url: URL { get }

  /// Where the service is. May be empty when the URL's host is an address.
  var addresses: [HostAddress] { get }

  /// The request for a host, signed as the vendor wants it. Its URL has the scheme, the host and the port of ``url``.
  func request(for query: HostQuery) throws -> URLRequest

  /// Reads the body of a `200 OK`.
  ///
  /// - Throws: ``HostError/Code/noSuchHost`` when the service says that there is no such host; anything else for an
  ///   answer that cannot be used.
  func answer(to query: HostQuery, from body: Data) throws -> HTTPDNSAnswer
}

extension HTTPDNSService {
  /// The type's name.
  public var name: String { String(describing: Self.self) }
}

/// What an HTTPDNS service says of a host.
public struct HTTPDNSAnswer: Hashable, Sendable {
  /// The addresses, in the service's order. None: the host has none.
  public var addresses: [HostAddress]
  /// How long the answer may be used.
  public var timeToLive: Duration

  /// Makes an answer.
  public init(_ addresses: [HostAddress], timeToLive: Duration) {
    self.addresses = addresses
    self.timeToLive = timeToLive
  }
}

/// Asks a vendor's HTTPDNS service.
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
  ///   - service: The vendor's part.
  ///   - privateAddresses: Whether public names may have private addresses.
  ///   - transport: What requests go through: one of its own, so that they pass no chain.
  ///   - limit: How long each of the service's addresses is waited for.
  ///   - clock: What the limit is measured on.
  /// - Throws: ``HostError/Code/invalidResolver`` when the service could never be reached.
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

  /// Closes its connections, and forgets which of its server's addresses were good.
  public func networkChanged() { loader.networkChanged() }

  /// What the service answers.
  ///
  /// - Throws: ``HostError``.
  public func resolve(_ query: HostQuery) async throws -> HostResolution {
    let host = query.host.description
    let request = try service.request(for: query)
    guard let url = request.url, url.hasSameOrigin(as: service.url) else {
      throw HostError(.invalidResolver, "\(name) made a request to another server than its own.", host: host)
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
        .malformedAnswer, "the answer of \(name) cannot be read: \(error.redacted)", host: host, underlying: error)
    }
    guard !answer.addresses.isEmpty else {
      throw HostError(.noSuchHost, "\(name) has no address for the host.", host: host, timeToLive: answer.timeToLive)
    }
    return try HostResolution(
      answer.addresses.map { HostResolution.Candidate($0) }, timeToLive: max(.zero, answer.timeToLive), source: name
    ).screened(for: query, by: privateAddresses)
  }
}
