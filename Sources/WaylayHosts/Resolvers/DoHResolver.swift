/// Asks a server for DNS over HTTPS (RFC 8484): whoever sits between can neither read the question nor forge the
/// answer.
///
/// ```swift
/// let doh = try DoHResolver(URL(string: "https://dns.example.net/dns-query")!, addresses: ["192.0.2.53", "2001:db8::53"])
/// let cache = ResolutionCache(doh)
/// ```
///
/// The server itself is never looked up: it is dialled at the given addresses, one after the other until one answers,
/// and its certificate is checked against the name in the URL. IPv4 and IPv6 addresses are asked for at once, and HTTPS
/// records (RFC 9460) with them, whose ports, protocols and address hints become candidates. Aliases are followed
/// inside of an answer; what it says of other names is ignored.
///
/// On Apple platforms `URLSession` cannot dial another address than that of the URL's host: there the host of the URL
/// has to be the literal of an address (`https://192.0.2.53/dns-query`) that the server's certificate names. It does
/// not fall back to anything: put it into a ``ResolverChain`` for that.
public final class DoHResolver: HostResolver {
  /// How a question is put.
  public struct Method: Hashable, Sendable, CustomStringConvertible {
    /// The method's name.
    public let description: String

    /// A DNS message in the query of the URL: what caches between understand.
    public static let get = Method(description: "GET")
    /// A DNS message as the body.
    public static let post = Method(description: "POST")
    /// Name and type in the query of the URL, and an answer in JSON, as some public servers have it. Without HTTPS
    /// records.
    public static let json = Method(description: "JSON")
  }

  /// What a resolver can be told.
  public struct Options: Sendable {
    /// How questions are put.
    public var method = Method.get
    /// Whether questions are filled up, so that their length does not tell the name (RFC 8467).
    public var isPadded = true
    /// Whether HTTPS records are asked for.
    public var readsServiceRecords = true
    /// How long one address of the server has time to answer.
    public var timeout = Duration.seconds(3)
    /// How long to wait for the other answers once there are addresses to dial.
    public var patience = Duration.milliseconds(500)
    /// Whether private, loopback and other special addresses are taken for public names.
    public var privateAddresses = PrivateAddressPolicy.refuse

    /// Makes the usual options.
    public init() {}
  }

  /// The name or address of the server.
  public let name: String
  let url: URL
  let options: Options
  let clock: HostClock
  let loader: BootstrapLoader

  /// Makes a resolver.
  ///
  /// - Parameters:
  ///   - url: The server's URL, with the scheme `https`; a template's `{?dns}` at its end is understood.
  ///   - addresses: Literals to dial the server at. Needed unless the URL's host is one.
  ///   - options: What else it is to do.
  ///   - transport: What carries the queries; of its own unless given. For a server with a private authority, give a
  ///     `CurlTransport` that knows it.
  ///   - clock: Where time limits come from.
  /// - Throws: ``HostError/Code/invalidResolver`` for settings that cannot work, ``HostError/Code/invalidName`` for
  ///   what is no address.
  public init(
    _ url: URL, addresses: [String] = [], options: Options = Options(), transport: (any Transport)? = nil,
    clock: any Clock<Duration> = ContinuousClock()
  ) throws {
    guard url.scheme?.lowercased() == "https", let host = url.host else {
      throw HostError(
        .invalidResolver, "\"\(url)\" is not the URL of a server for DNS over HTTPS: use https://host/path.")
    }
    loader = try BootstrapLoader(
      url, at: addresses.map { try HostAddress(server: $0) }, transport: transport, clock: HostClock(clock),
      attemptLimit: options.timeout)
    name = "doh:\(host)"
    self.url = url
    self.options = options
    self.clock = HostClock(clock)
  }

  /// Closes its connections, and forgets which of its server's addresses were good.
  public func networkChanged() { loader.networkChanged() }

  /// The addresses of a host.
  ///
  /// - Throws: ``HostError``: `noSuchHost`, `resolverFailed`, `resolverTimedOut`, `malformedAnswer`, or `answerRefused`
  ///   when all addresses are refused.
  public func resolve(_ query: HostQuery) async throws -> HostResolution {
    guard !query.host.isAddress else {
      throw HostError(
        .notListed, "\(query.host) is an address: there is nothing to look up.", host: query.host.description)
    }
    var findings = try DoHFindings(query)
    for _ in 0..<2 {
      // The second round is for the names that HTTPS records lead to.
      let questions = findings.questions(services: options.readsServiceRecords && options.method != .json)
      guard !questions.isEmpty else { break }
      try await ask(questions, for: &findings)
    }
    return try findings.resolution(source: name).screened(for: query, by: options.privateAddresses)
  }
}
