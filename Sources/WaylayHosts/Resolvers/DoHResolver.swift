/// Resolves hosts with DNS over HTTPS (RFC 8484): nobody in between can read the query or forge the answer.
///
/// ```swift
/// let doh = try DoHResolver(URL(string: "https://dns.example.net/dns-query")!, addresses: ["192.0.2.53", "2001:db8::53"])
/// let cache = ResolutionCache(doh)
/// ```
///
/// The server itself is never looked up: the resolver dials the given addresses in turn until one responds, and
/// verifies the server's certificate against the name in the URL. It queries IPv4 and IPv6 addresses concurrently,
/// together with HTTPS records (RFC 9460), whose ports, protocols and address hints become candidates. It follows
/// aliases inside an answer and ignores what the answer says about other names.
///
/// On Apple platforms `URLSession` can dial only the address of the URL's host: there the host must be an address
/// literal (`https://192.0.2.53/dns-query`) that the server's certificate names. The resolver has no fallback: put it
/// into a ``ResolverChain`` for that.
public final class DoHResolver: HostResolver {
  /// How to send a query.
  public struct Method: Hashable, Sendable, CustomStringConvertible {
    /// The method's name.
    public let description: String

    /// A DNS message in the query of the URL, which HTTP caches in between understand.
    public static let get = Method(description: "GET")
    /// A DNS message as the body.
    public static let post = Method(description: "POST")
    /// Name and type in the query of the URL, with a JSON answer, as some public servers support. Without HTTPS
    /// records.
    public static let json = Method(description: "JSON")
  }

  /// The options of a resolver.
  public struct Options: Sendable {
    /// How to send queries.
    public var method = Method.get
    /// Whether to pad queries, so that their length does not reveal the name (RFC 8467).
    public var isPadded = true
    /// Whether to query HTTPS records.
    public var readsServiceRecords = true
    /// The timeout for one address of the server.
    public var timeout = Duration.seconds(3)
    /// How long to wait for the remaining answers once there are addresses to dial.
    public var patience = Duration.milliseconds(500)
    /// Whether public names may have private, loopback and other special addresses.
    public var privateAddresses = PrivateAddressPolicy.refuse

    /// Makes the default options.
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
  ///   - url: The server's URL, with the scheme `https`; a trailing template expression `{?dns}` is supported.
  ///   - addresses: Address literals of the server. Required unless the URL's host is one.
  ///   - options: Further options.
  ///   - transport: The transport for queries; by default a separate one. For a server with a private authority, pass a
  ///     `CurlTransport` that knows it.
  ///   - clock: The clock for timeouts.
  /// - Throws: ``HostError/Code/invalidResolver`` for invalid settings, ``HostError/Code/invalidName`` for text that is
  ///   not an address.
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

  /// Closes the resolver's connections, and forgets which of its server's addresses worked.
  public func networkChanged() { loader.networkChanged() }

  /// Returns the addresses of a host.
  ///
  /// - Throws: ``HostError``: `noSuchHost`, `resolverFailed`, `resolverTimedOut`, `malformedAnswer`, or `answerRefused`
  ///   if all addresses are rejected.
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
