// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import TestOrigin
  import WaylayCore

  @testable import WaylayHosts

  /// A server for DNS over HTTPS on loopback, with a certificate of its own authority for `dns.test`.
  struct DoHOrigin {
    /// What the server answers to a question; `nil` for silence.
    typealias Zone = @Sendable (DNSQuestion) throws -> DNSMessage?

    let origin: TestOrigin
    let authority: TestAuthority
    /// Which requests get no answer.
    let silence: Locked<@Sendable (TestOrigin.Request) -> Bool>

    /// Starts a server, runs a test with it, and stops it.
    static func with(
      names: [String] = ["dns.test"], kind: TestOrigin.TLS.Certificate.Kind = .valid, hosts: [String] = ["127.0.0.1"],
      fields: [(String, String)] = [],
      _ zone: @escaping Zone,
      _ body: (DoHOrigin) async throws -> Void
    ) async throws {
      let authority = try TestAuthority()
      let origin = try await TestOrigin.start(hosts: hosts, tls: .init(authority: authority, names: names, kind: kind))
      let silence = Locked<@Sendable (TestOrigin.Request) -> Bool> { _ in false }
      origin.reply(to: "/dns-query") { request in
        do {
          guard !silence.withLock({ $0 })(request) else { return Reply(200, [], .never) }
          let bytes = request.method == "POST" ? Data(request.body) : Self.decoded(request.target) ?? Data()
          let query = try DNSMessage(decoding: Array(bytes))
          guard let question = query.questions.first, let answer = try zone(question) else {
            return Reply(200, [], .never)
          }
          return Reply(200, [("Content-Type", "application/dns-message")] + fields, .whole(Data(try answer.encoded())))
        } catch {
          return Reply(400)
        }
      }
      do {
        try await body(DoHOrigin(origin: origin, authority: authority, silence: silence))
        await origin.stop()
      } catch {
        await origin.stop()
        throw error
      }
    }

    /// What tests change of a resolver. A busy machine needs time; a third of it is when the question is put again.
    struct Settings {
      var usesPOST = false
      var timeout = Duration.seconds(150)
      var resolutionDelay = Duration.seconds(60)
    }

    /// A resolver that asks the server.
    func resolver(
      addresses: [String] = ["127.0.0.1"], trusts: Bool = true, clock: HostClock = .system,
      _ change: (inout Settings) -> Void = { _ in }
    ) throws -> DoHResolver {
      var settings = Settings()
      change(&settings)
      var curl = CurlTransport.Options()
      if trusts { curl.additionalAuthorities = [Data(authority.pem.utf8)] }
      let transport = CurlTransport(configuration: .ephemeral, options: curl)
      return try DoHResolver(
        origin.url("/dns-query", host: "dns.test"), addresses: addresses, usesPOST: settings.usesPOST,
        timeout: settings.timeout, resolutionDelay: settings.resolutionDelay, transport: transport, clock: clock)
    }

    private static func decoded(_ target: String) -> Data? {
      guard let text = target.split(separator: "dns=").last else { return nil }
      let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
      return Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4))
    }
  }
#endif
