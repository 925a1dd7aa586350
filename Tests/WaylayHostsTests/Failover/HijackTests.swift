// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import HijackLab
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  @testable import WaylayHosts

  /// On real servers: `.test` names do not exist in any resolver, so what is answered was routed.
  @Suite("Hijackers on loopback", .timeLimit(.minutes(10)))
  struct HijackTests {
    private func policy(isSecure: Bool) -> HostRewriter.Policy {
      var policy = HostRewriter.Policy.require
      policy.silenceTimeout = .milliseconds(250)
      if !isSecure { policy.responseCheck = .field("X-Served-By", equals: "good") }
      return policy
    }

    @Test(
      "each kind of hijacker in front of the good address costs no answer, and gets nothing of the request", .heavy,
      arguments: Hijacker.allCases)
    func alone(hijacker: Hijacker) async throws {
      try await HijackLab.with(isSecure: true) { lab in
        var policy = HostRewriter.Policy.patient
        // On a busy machine the good one may be connected before a bad one is found bad.
        if !hijacker.isSlow { policy.connectionAttemptDelay = .seconds(60) }
        let (registry, rewriter) = try lab.routed([hijacker.address, "127.0.0.1"], policy)
        // The race has a winner while a silent one is still waited for; that is no failure of it.
        #expect(try await registry.text(lab.url(), "POST") == HijackLab.answer)
        #expect(try await registry.text(lab.url()) == HijackLab.answer)
        #expect(lab.leaks() == [])
        #expect(rewriter.counters.faults == (hijacker.isSlow ? 0 : 1))
        let isSuspect = [.rogueCertificate, .wrongName, .portal].contains(hijacker)
        #expect(rewriter.counters.suspectedHijacks == (isSuspect ? 1 : 0))
        #expect(lab.good.connections.map(\.sni) == ["api.test"])
        registry.invalidate()
      }
    }

    @Test(
      "over http a portal, a silent one and one that closes are left for the good address",
      arguments: [Hijacker.portal, .silence, .close, .reset, .refusal])
    func plain(hijacker: Hijacker) async throws {
      try await HijackLab.with(isSecure: false) { lab in
        let (registry, _) = try lab.routed([hijacker.address, "::1"], policy(isSecure: false))
        #expect(try await registry.text(lab.url()) == HijackLab.answer)
        registry.invalidate()
      }
    }

    @Test("when only hijackers are there, .require fails, lists them all, and the app sees the certificate's failure")
    func nobodyElse() async throws {
      try await HijackLab.with(isSecure: true) { lab in
        let (registry, _) = try lab.routed(["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.8"])
        let error = await #expect(throws: URLError.self) { try await registry.text(lab.url()) }
        #expect(error?.code == .serverCertificateUntrusted || error?.code == .serverCertificateHasUnknownRoot)
        let attempts = try #require(hostError(error)).attempts
        #expect(
          Set(attempts.map { $0.candidate?.address.literal }) == ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.8"])
        #expect(attempts.filter(\.isSuspectedHijack).map(\.candidate?.address.literal) == [Hijacker.wrongName.address])
        #expect(lab.leaks() == [])
        #expect(lab.good.connectionCount == 0)
        registry.invalidate()
      }
    }

    @Test(
      "a private authority that the app has forgotten is no hijack, and the error names where to add it",
      arguments: [TestOrigin.TLS.Certificate.Kind.valid, .selfSigned, .missingIntermediate, .wrongName, .expired])
    func forgottenAuthority(kind: TestOrigin.TLS.Certificate.Kind) async throws {
      let authority = try TestAuthority()
      let origin = try await TestOrigin.start(tls: .init(authority: authority, names: ["api.test"], kind: kind))
      // The authority is known where the certificate is wrong for another reason.
      let isKnown = kind == .wrongName || kind == .expired
      let rewriter = HostRewriter(rules: try HostRules(["api.test": ["127.0.0.1"]]), policy: .require)
      let registry = InterceptorRegistry(
        transport: CurlTransport(trusting: isKnown ? authority : nil), configuration: .ephemeral
      ) { rewriter }
      let url = origin.url(host: "api.test")
      let error = await #expect(throws: URLError.self) { try await registry.text(url) }
      let message = try #require(hostError(error)).message
      #expect(message.contains("additionalAuthorities") == !isKnown, "\(message)")
      #expect(message.contains("Another server may be posing") == (kind == .wrongName), "\(message)")
      #expect(rewriter.counters.suspectedHijacks == (kind == .wrongName ? 1 : 0))
      await origin.stop()
    }

    @Test("a session gets the answer too, with the URL that it asked for")
    func session() async throws {
      try await HijackLab.with(isSecure: true) { lab in
        let (registry, _) = try lab.routed(["127.0.0.4", "127.0.0.1"])
        let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
        let (data, response) = try await session.data(from: lab.url())
        #expect(String(decoding: data, as: UTF8.self) == HijackLab.answer)
        #expect(response.url == lab.url())
        registry.invalidate()
      }
    }

    @Test("a change of rules takes effect with the next request: no kept connection to the old address is used")
    func routeChange() async throws {
      try await HijackLab.with(isSecure: true) { lab in
        let (registry, rewriter) = try lab.routed(["127.0.0.1"])
        _ = try await registry.text(lab.url())
        rewriter.ruleSource.replace(with: try HostRules(["*.test": ["::1"]]))
        _ = try await registry.text(lab.url())
        _ = try await registry.text(lab.url())
        #expect(lab.good.requests.map(\.localAddress) == ["127.0.0.1", "::1", "::1"])
        #expect(lab.good.connectionCount == 2)
        registry.invalidate()
      }
    }

    @Test("a ban closes the idle connections of its address (U11)")
    func banClosesConnections() async throws {
      try await HijackLab.with(isSecure: false) { lab in
        var policy = policy(isSecure: false)
        policy.silenceTimeout = nil
        // On a busy machine the good one might be connected before the portal.
        policy.connectionAttemptDelay = .seconds(60)
        let (registry, rewriter) = try lab.routed(["127.0.0.9", "127.0.0.1"], policy)
        let portal = try #require(lab.server(.portal))
        #expect(try await registry.text(lab.url()) == HijackLab.answer)
        #expect(rewriter.counters.bans == 1)
        await portal.until { $0.openConnectionCount == 0 }
        #expect(portal.connectionCount == 1)
        #expect(lab.good.openConnectionCount == 1)
        registry.invalidate()
      }
    }

    @Test(
      "waiting for a free connection is not the address's fault: nobody is banned, and nothing goes the system's way")
    func queueing() async throws {
      let origin = try await TestOrigin.start()
      let rules = try HostRules(["api.test": ["127.0.0.1"]])
      let rewriter = HostRewriter(rules: rules, policy: Self.hasty)
      var options = CurlTransport.Options()
      options.maximumConnectionsPerHost = 1
      let transport = CurlTransport(configuration: .ephemeral, options: options)
      func registry(_ rewriter: HostRewriter) -> InterceptorRegistry {
        InterceptorRegistry(transport: transport, configuration: .ephemeral) { rewriter }
      }
      // The one connection is opened without haste, however busy the machine is.
      let busy = try await registry(HostRewriter(rules: rules, policy: .patient)).load(
        URLRequest(url: origin.url("/gate/busy", host: "api.test")))
      let hasty = registry(rewriter)
      async let second = hasty.text(origin.url("/hello", host: "api.test"))
      // What the transport gives up after all deadlines of the policy are over, which began after the second.
      while rewriter.counters.requests < 1, !Task.isCancelled { await Task.yield() }
      let hole = try BlackHole(host: "127.0.0.7", port: origin.port)
      var unanswered = InterceptedRequest(.get, origin.url("/", host: "hole.test"))
      unanswered.route = try Route("127.0.0.7", connectTimeout: .milliseconds(400))
      let late = await failure { [unanswered] in try await transport.load(unanswered) }
      #expect((late as? TransportError)?.code == .timedOut)
      withExtendedLifetime(hole) {}
      origin.release(nil, gate: "busy")
      _ = try await busy.body.collect(upTo: 10)
      #expect(try await second == "hello")
      #expect(rewriter.counters.systemFallbacks == 0 && rewriter.counters.bans == 0)
      hasty.invalidate()
      await origin.stop()
    }

    /// Deadlines that are over at once.
    private static var hasty: HostRewriter.Policy {
      var policy = HostRewriter.Policy.prefer
      policy.initialDeadline = .milliseconds(100)
      policy.minimumDeadline = .milliseconds(100)
      policy.maximumDeadline = .milliseconds(200)
      policy.silenceTimeout = nil
      return policy
    }

    @Test("a redirect to another host is routed anew, and takes no credentials along")
    func redirect() async throws {
      let authority = try TestAuthority()
      let one = try await TestOrigin.start(hosts: ["127.0.0.1"], tls: .init(authority: authority, names: ["one.test"]))
      let two = try await TestOrigin.start(hosts: ["127.0.0.2"], tls: .init(authority: authority, names: ["two.test"]))
      let target = two.url("/hello", host: "two.test").absoluteString
      one.reply(to: "/away") { _ in .text("", status: 302, fields: [("Location", target)]) }
      let rewriter = HostRewriter(
        rules: try HostRules(["one.test": ["127.0.0.1"], "two.test": ["127.0.0.2"]]), policy: .require)
      let registry = InterceptorRegistry(transport: CurlTransport(trusting: authority), configuration: .ephemeral) {
        rewriter
      }
      var request = URLRequest(url: one.url("/away", host: "one.test"))
      request.setValue("secret", forHTTPHeaderField: "Authorization")
      let (data, response) = try await registry.data(for: request)
      #expect(String(decoding: data, as: UTF8.self) == "hello")
      #expect(response.url?.absoluteString == target)
      #expect(two.connections.map(\.sni) == ["two.test"])
      #expect(!two.rawBytes.joined().contains("secret"))
      registry.invalidate()
      for server in [one, two] { await server.stop() }
    }

    @Test("a body that is a stream is sent once, to the address that is verified")
    func stream() async throws {
      try await HijackLab.with(isSecure: true) { lab in
        lab.good.reply(to: "/count") { .text("\($0.body.count)") }
        let (registry, _) = try lab.routed(["127.0.0.2", "127.0.0.4", "127.0.0.6", "127.0.0.1"])
        var request = URLRequest(url: lab.url("/count"))
        request.httpMethod = "POST"
        let stream = AsyncStream<Data> { continuation in
          for _ in 0..<10 { continuation.yield(Data(count: 50_000)) }
          continuation.finish()
        }
        let (data, _) = try await registry.upload(for: request, from: .stream(stream))
        #expect(String(decoding: data, as: UTF8.self) == "500000")
        #expect(lab.leaks() == [])
        registry.invalidate()
      }
    }

    @Test("many requests at once learn from each other and are all answered")
    func manyAtOnce() async throws {
      try await HijackLab.with(isSecure: true) { lab in
        let (registry, _) = try lab.routed(["127.0.0.2", "127.0.0.4", "127.0.0.8", "127.0.0.1", "::1"])
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
          for _ in 0..<40 { group.addTask { try await registry.text(lab.url()) } }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: HijackLab.answer, count: 40))
        #expect(lab.leaks() == [])
        registry.invalidate()
      }
    }
  }
#endif
