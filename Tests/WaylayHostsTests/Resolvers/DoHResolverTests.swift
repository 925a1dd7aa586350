// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import Testing
  import WaylayCore

  @testable import WaylayHosts

  @Suite("DNS over HTTPS", .timeLimit(.minutes(5)))
  struct DoHResolverTests {
    private let query: HostAuthority

    init() throws {
      query = HostAuthority(try HostName("api.example.com"))
    }

    /// Both kinds of address, through an alias, for any name.
    private static let plain: DoHOrigin.Zone = { question in
      let name = question.name.description
      switch question.type {
      case .a:
        return try Messages.answer(
          name, .a, [Messages.alias(name, "edge.test", seconds: 50), Messages.address("edge.test", "203.0.113.7")])
      case .aaaa: return try Messages.answer(name, .aaaa, [Messages.address(name, "2001:db8::7", seconds: 40)])
      default: return try Messages.answer(name, question.type, [], authorities: [Messages.authority("example.com")])
      }
    }

    private func literals(_ resolution: HostResolution) -> [String] { resolution.endpoints.map(\.address.literal) }

    @Test(
      "asks for both kinds of address by GET and by POST, with padded questions",
      arguments: ["GET", "POST"])
    func wire(method: String) async throws {
      try await DoHOrigin.with(Self.plain) { server in
        let resolver = try server.resolver { $0.usesPOST = method == "POST" }
        let resolution = try await resolver.resolve(query)
        #expect(literals(resolution) == ["2001:db8::7", "203.0.113.7"])
        #expect(resolution.timeToLive == .seconds(40))
        #expect(resolution.source == "doh:dns.test")
        let requests = server.origin.requests
        #expect(requests.count == 3)
        for request in requests {
          #expect(request.method == method)
          #expect(request["host"] == ["dns.test:\(server.origin.port)"])
          #expect(request["accept"] == ["application/dns-message"])
          if method == "POST" {
            #expect(request.body.count == 128 && request["content-type"] == ["application/dns-message"])
          }
        }
      }
    }

    @Test("asks an address of its server once, however often it is named")
    func namedTwice() async throws {
      for addresses in [["192.0.2.53"], ["192.0.2.53", "192.0.2.53", "::ffff:192.0.2.53"]] {
        let network = FakeNetwork(["192.0.2.53": .fails(.refused)])
        let url = try #require(URL(string: "https://dns.test/dns-query"))
        let resolver = try DoHResolver(url, addresses: addresses, transport: Dialling(network))
        await #expect(throws: HostError.self) { try await resolver.resolve(query) }
        #expect(network.visited == Array(repeating: "192.0.2.53", count: 3))
      }
    }

    /// Dials addresses, one by one.
    private final class Dialling: Transport {
      let capabilities: TransportCapabilities = .routes
      let network: FakeNetwork

      init(_ network: FakeNetwork) { self.network = network }

      func load(_ request: InterceptedRequest) async throws -> InterceptedResponse { try await network.load(request) }
    }

    @Test(
      "is never asked when its certificate is for another name, expired or of a stranger",
      arguments: TestOrigin.TLS.Certificate.Kind.bad)
    func certificate(kind: TestOrigin.TLS.Certificate.Kind) async throws {
      try await DoHOrigin.with(kind: kind, Self.plain) { server in
        let error = await #expect(throws: HostError.self) { try await server.resolver().resolve(query) }
        #expect(error?.code == .resolverFailed)
        #expect(server.origin.requests.isEmpty)
      }
    }

    @Test("is never asked when its authority is not trusted")
    func authority() async throws {
      try await DoHOrigin.with(Self.plain) { server in
        await #expect(throws: HostError.self) { try await server.resolver(trusts: false).resolve(query) }
        #expect(server.origin.requests.isEmpty)
      }
    }

    @Test("tries the server's next address when one is dead, and begins with it the next time")
    func bootstrap() async throws {
      try await DoHOrigin.with(hosts: ["127.0.0.1", "::1"], Self.plain) { server in
        try await server.origin.stopListening(on: "127.0.0.1")
        let resolver = try server.resolver(addresses: ["127.0.0.1", "::1"])
        #expect(try await literals(resolver.resolve(query)).count == 2)
        #expect(try await literals(resolver.resolve(query)).count == 2)
        #expect(server.origin.requests.allSatisfy { $0.localAddress == "::1" })
      }
    }

    @Test("needs addresses for a name, https, and a transport that can dial them")
    func settings() throws {
      let url = try #require(URL(string: "https://dns.test/dns-query"))
      let plain = try #require(URL(string: "http://dns.test/dns-query"))
      let literal = try #require(
        URL(string: "https://192.0.2.53/dns-query{?dns}") ?? URL(string: "https://192.0.2.53/dns-query%7B?dns%7D"))
      #expect(throws: HostError.self) { try DoHResolver(url) }
      #expect(throws: HostError.self) { try DoHResolver(plain, addresses: ["192.0.2.53"]) }
      #expect(throws: HostError.self) { try DoHResolver(url, addresses: ["dns2.test"]) }
      #expect(throws: HostError.self) {
        try DoHResolver(url, addresses: ["192.0.2.53"], transport: URLSessionTransport())
      }
      _ = try DoHResolver(literal, transport: URLSessionTransport())
    }

    @Test("says that a host does not exist, and for how long; or that it has no address")
    func missing() async throws {
      try await DoHOrigin.with { question in
        try Messages.answer(
          question.name.description, question.type, [], authorities: [Messages.authority("example.com", minimum: 77)],
          code: question.name.description.hasPrefix("no") ? 3 : 0)
      } _: { server in
        let resolver = try server.resolver()
        let missing = await #expect(throws: HostError.self) {
          try await resolver.resolve(HostAuthority(HostName("no.example.com")))
        }
        #expect(missing?.code == .noSuchHost && missing?.timeToLive == .seconds(77))
        let empty = await #expect(throws: HostError.self) { try await resolver.resolve(query) }
        #expect(empty?.code == .noSuchHost && empty?.message.contains("no address") == true)
      }
    }

    @Test("does with one kind of address when the other is not answered, but not for long")
    func partial() async throws {
      try await DoHOrigin.with { question in
        question.type == .a
          ? try Messages.answer(
            question.name.description, .a, [Messages.address(question.name.description, "203.0.113.7", seconds: 900)])
          : nil
      } _: { server in
        let resolution = try await server.resolver { $0.resolutionDelay = .milliseconds(50) }.resolve(query)
        #expect(literals(resolution) == ["203.0.113.7"])
        #expect(resolution.timeToLive == .seconds(30))
      }
    }

    @Test("gives up after its time")
    func silence() async throws {
      try await DoHOrigin.with { _ in
        nil
      } _: { server in
        let resolver = try server.resolver { $0.timeout = .milliseconds(100) }
        let error = await #expect(throws: HostError.self) { try await resolver.resolve(query) }
        #expect(error?.code == .resolverTimedOut)
      }
    }

    @Test(
      "refuses answers that are no DNS, of another question, or of a server that failed",
      arguments: ["type", "status", "noise", "question", "failure"])
    func unusable(what: String) async throws {
      try await DoHOrigin.with { question in
        var message = try Self.plain(question)
        if what == "question" { message?.questions[0].name = try DNSName("other.example.com") }
        if what == "failure" { message?.flags.rawValue |= 2 }
        return message
      } _: { server in
        let type = what == "type" ? "text/html" : "application/dns-message"
        let body = Data("<html>please log in</html>".utf8)
        if ["type", "status", "noise"].contains(what) {
          server.origin.reply(to: "/dns-query") { _ in
            Reply(what == "status" ? 403 : 200, [("Content-Type", type)], .whole(body))
          }
        }
        let error = await #expect(throws: HostError.self) { try await server.resolver().resolve(query) }
        #expect(error?.code == (["noise", "question"].contains(what) ? .malformedResponse : .resolverFailed))
      }
    }

    @Test("takes the time that a cache between has used off the answer's (RFC 8484, section 5.1)")
    func age() async throws {
      try await DoHOrigin.with(fields: [("Age", "25")], Self.plain) { server in
        let resolution = try await server.resolver().resolve(query)
        #expect(resolution.timeToLive == .seconds(15))
      }
    }

    @Test("refuses private addresses for public names, and says why; local names may have them")
    func rebinding() async throws {
      try await DoHOrigin.with { question in
        let name = question.name.description
        let address = question.type == .a ? "192.168.0.1" : name.hasPrefix("half") ? "2001:db9::7" : "::ffff:127.0.0.1"
        guard question.type != .https else { return try Messages.answer(name, .https, []) }
        let record = DNSRecord(
          name: question.name, type: question.type, timeToLive: 60, data: .address(try HostAddress(address)))
        return try Messages.answer(name, question.type, [record])
      } _: { server in
        let resolver = ResolutionCache(try server.resolver())
        let error = await #expect(throws: HostError.self) { try await resolver.resolve(query) }
        #expect(error?.code == .resolutionRejected)
        #expect(error?.message.contains("192.168.0.1") == true && error?.message.contains("127.0.0.1") == true)
        let half = try await resolver.resolve(HostAuthority(HostName("half.example.com")))
        #expect(literals(half) == ["2001:db9::7"])
        let local = try await resolver.resolve(HostAuthority(HostName("printer.home.arpa")))
        #expect(literals(local) == ["127.0.0.1", "192.168.0.1"])
      }
    }
  }

  extension TestOrigin.TLS.Certificate.Kind {
    static let bad = [Self.wrongName, .expired, .selfSigned, .unknownAuthority]
  }
#endif
