// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayHosts

  /// One script of requests, unrouted and routed: what the app sees is the same.
  @Suite("Parity of routed requests", .timeLimit(.minutes(10)))
  struct RoutedParityTests {
    struct Step: Sendable {
      let method: String
      let path: String
      var body: String?
    }

    /// How the servers are reached.
    struct Ground: CustomTestStringConvertible, Sendable {
      let testDescription: String
      let address: String
      var protocols: [String]?
    }

    static let grounds = [
      Ground(testDescription: "http, IPv4", address: "127.0.0.2"),
      Ground(testDescription: "http, IPv6", address: "::1"),
      Ground(testDescription: "https, HTTP/1.1, IPv4", address: "127.0.0.2", protocols: ["http/1.1"]),
      Ground(testDescription: "https, HTTP/2, IPv4", address: "127.0.0.2", protocols: ["h2"]),
      Ground(testDescription: "https, HTTP/2, IPv6", address: "::1", protocols: ["h2"]),
    ]

    static let script: [Step] =
      ["GET", "HEAD", "OPTIONS", "DELETE", "PATCH", "PUT", "POST"].map { Step(method: $0, path: "/hello") }
      + ["POST", "PUT", "DELETE"].map { Step(method: $0, path: "/mirror", body: "a body") }
      + [Step(method: "POST", path: "/mirror", body: String(repeating: "long ", count: 100_000))]
      + [204, 304, 404, 500, 599, 302].map { Step(method: "GET", path: "/status/\($0)") }
      + [
        "/bytes/1000000", "/chunks/5", "/gzip", "/cookies/set?a=1", "/cookies?path", "/cookies?domain",
        "/redirect/301?to=/hello",
        "/redirect/303?to=/hello", "/redirect/308?to=/hello", "/redirect/302?to=/redirect/302%3Fto=/hello", "/away",
        "/close", "/truncated",
      ].map { Step(method: "GET", path: $0) }
      + ["/redirect/302?to=/mirror", "/redirect/307?to=/mirror"].map { Step(method: "POST", path: $0, body: "moved") }

    @Test(
      """
      holds over http and https, HTTP/1.1 and HTTP/2, IPv4 and IPv6, through redirects to the same and to another \
      host
      """,
      .heavy,
      arguments: grounds
    )
    func parity(_ ground: Ground) async throws {
      let authority = try TestAuthority()
      func tls() -> TestOrigin.TLS? {
        guard let protocols = ground.protocols else { return nil }
        var tls = TestOrigin.TLS(authority: authority, names: ["localhost", "other.localhost"])
        tls.applicationProtocols = protocols
        return tls
      }
      let origin = try await TestOrigin.start(hosts: ["127.0.0.1", "127.0.0.2", "::1"], tls: tls())
      let other = try await TestOrigin.start(hosts: ["127.0.0.1", "127.0.0.2", "::1"], tls: tls())
      let target = other.url("/hello", host: "localhost").absoluteString
      origin.reply(to: "/away") { _ in .text("", status: 302, fields: [("Location", target)]) }
      origin.reply(to: "/mirror") { .text(String(decoding: $0.body, as: UTF8.self), fields: [("X-Method", $0.method)]) }
      origin.reply(to: "/cookies") { request in
        .text(
          "set",
          fields: [
            ("Set-Cookie", request.target.hasSuffix("path") ? "p=1; Path=/elsewhere" : "d=1; Domain=example.com")
          ])
      }
      let unrouted = InterceptorRegistry(transport: CurlTransport(trusting: authority)) { Passing() }
      let rewriter = HostRewriter(rules: try HostRules(["localhost": [ground.address]]), policy: .require)
      let routed = InterceptorRegistry(transport: CurlTransport(trusting: authority)) { rewriter }
      for step in Self.script {
        let wanted = try await outcome(step, origin, unrouted)
        let got = try await outcome(step, origin, routed)
        #expect(got == wanted, "\(step.method) \(step.path)")
      }
      #expect(rewriter.counters.systemFallbacks == 0)
      let routedConnections = origin.connections.filter { $0.localAddress == ground.address }
      #expect(!routedConnections.isEmpty && other.connections.contains { $0.localAddress == ground.address })
      for registry in [unrouted, routed] { registry.invalidate() }
      for server in [origin, other] { await server.stop() }
    }

    private struct Passing: RequestInterceptor {
      func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse
      {
        try await next(request)
      }
    }

    private func outcome(_ step: Step, _ origin: TestOrigin, _ registry: InterceptorRegistry) async throws -> Outcome {
      var request = URLRequest(url: origin.url(step.path, host: "localhost"))
      request.httpMethod = step.method
      request.httpBody = step.body.map { Data($0.utf8) }
      return try await Outcome(of: request) { URLSession(configuration: $0.intercepted(by: registry)) }
    }
  }
#endif
