// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import TestOrigin
  import Testing
  import WaylayHosts

  @Suite("A vendor's HTTPDNS service", .timeLimit(.minutes(5)))
  struct HTTPDNSTests {
    private struct Service: HTTPDNSService {
      let url: URL
      var addresses: [HostAddress] = []
      var path = "/d"

      func request(for query: HostQuery) throws -> URLRequest {
        var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
        components?.path = path
        components?.queryItems = [URLQueryItem(name: "host", value: query.host.description)]
        guard let url = components?.url else { throw URLError(.badURL) }
        return URLRequest(url: url)
      }

      func answer(to query: HostQuery, from body: Data) throws -> HTTPDNSAnswer {
        struct Answer: Decodable {
          var ips: [String]
          var ttl: Int
        }
        let answer = try JSONDecoder().decode(Answer.self, from: body)
        return HTTPDNSAnswer(try answer.ips.map { try HostAddress($0) }, timeToLive: .seconds(answer.ttl))
      }
    }

    private let query: HostQuery

    init() throws {
      query = HostQuery(try HostName("api.example.com"))
    }

    /// A service behind TLS whose name is in no DNS.
    private func withService(
      names: [String] = ["httpdns.example.test"], hosts: [String] = ["127.0.0.1"],
      says text: String = #"{"ips": ["203.0.113.7"], "ttl": 90}"#,
      _ body: (TestOrigin, URL, CurlTransport) async throws -> Void
    ) async throws {
      let authority = try TestAuthority()
      let origin = try await TestOrigin.start(hosts: hosts, tls: TestOrigin.TLS(authority: authority, names: names))
      origin.reply(to: "/d") { _ in .text(text) }
      origin.reply(to: "/elsewhere") { _ in .text("", status: 302, fields: [("Location", "/d")]) }
      var options = CurlTransport.Options()
      options.additionalAuthorities = [Data(authority.pem.utf8)]
      let transport = CurlTransport(configuration: .ephemeral, options: options)
      do {
        try await body(origin, origin.url("/", host: "httpdns.example.test"), transport)
      } catch {
        transport.invalidate()
        await origin.stop()
        throw error
      }
      transport.invalidate()
      await origin.stop()
    }

    @Test("is reached at a given address, under its own name, with nothing looked up")
    func reached() async throws {
      try await withService { origin, url, transport in
        let service = Service(url: url, addresses: [try HostAddress("127.0.0.1")])
        let resolution = try await resolver(service, transport).resolve(query)
        #expect(resolution.candidates.map(\.address.literal) == ["203.0.113.7"])
        #expect(resolution.timeToLive == .seconds(90))
        #expect(resolution.source == "Service")
        #expect(origin.requests.map(\.target) == ["/d?host=api.example.com"])
        #expect(origin.connections.first?.sni == "httpdns.example.test")
      }
    }

    @Test("whose certificate is for another name is not believed, and not asked")
    func impostor() async throws {
      try await withService(names: ["other.example.test"]) { origin, url, transport in
        let service = Service(url: url, addresses: [try HostAddress("127.0.0.1")])
        let error = await #expect(throws: HostError.self) { try await resolver(service, transport).resolve(query) }
        #expect(error?.code == .resolverFailed)
        #expect(origin.requests.isEmpty)
      }
    }

    /// One that has the time that a busy machine needs.
    private func resolver(_ service: Service, _ transport: CurlTransport) throws -> HTTPDNSResolver {
      try HTTPDNSResolver(service, transport: transport, limit: .seconds(60))
    }

    @Test("is asked at its next address when one does not answer, and there first from then on")
    func failover() async throws {
      try await withService(hosts: ["127.0.0.2"]) { origin, url, transport in
        let service = Service(url: url, addresses: [try HostAddress("127.0.0.9"), try HostAddress("127.0.0.2")])
        let resolver = try self.resolver(service, transport)
        for _ in 0..<3 { #expect(try await resolver.resolve(query).candidates.count == 1) }
        #expect(origin.requests.count == 3 && origin.connectionCount == 1)
      }
    }

    @Test(
      "that answers with nothing of use is an error that says so",
      arguments: [
        ("{}", HostError.Code.malformedAnswer), ("", .malformedAnswer), (#"{"ips": ["x"], "ttl": 1}"#, .invalidName),
        (#"{"ips": [], "ttl": 30}"#, .noSuchHost), (#"{"ips": ["192.168.0.1"], "ttl": 30}"#, .answerRefused),
      ])
    func useless(text: String, code: HostError.Code) async throws {
      try await withService(says: text) { _, url, transport in
        let service = Service(url: url, addresses: [try HostAddress("127.0.0.1")])
        let error = await #expect(throws: HostError.self) { try await resolver(service, transport).resolve(query) }
        #expect(error?.code == code)
      }
    }

    @Test("is not followed to another place")
    func redirected() async throws {
      try await withService { origin, url, transport in
        let service = Service(url: url, addresses: [try HostAddress("127.0.0.1")], path: "/elsewhere")
        let error = await #expect(throws: HostError.self) { try await resolver(service, transport).resolve(query) }
        #expect(error?.code == .resolverFailed)
        #expect(origin.requests.count == 1)
      }
    }

    @Test("that would have to be looked up itself is a mistake")
    func circular() throws {
      let service = Service(url: try #require(URL(string: "https://httpdns.example.test/")))
      let error = #expect(throws: HostError.self) { try HTTPDNSResolver(service) }
      #expect(error?.code == .invalidResolver)
      let session = URLSessionTransport(configuration: .ephemeral)
      let routed = Service(url: service.url, addresses: [try HostAddress("192.0.2.53")])
      #expect(throws: HostError.self) { try HTTPDNSResolver(routed, transport: session) }
      #expect(throws: Never.self) {
        try HTTPDNSResolver(Service(url: #require(URL(string: "https://192.0.2.53/"))), transport: session)
      }
    }
  }
#endif
