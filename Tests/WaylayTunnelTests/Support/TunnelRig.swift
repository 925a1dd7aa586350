#if Tunnel
  import Foundation
  import HijackLab
  import NIOCore
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayHosts

  @testable import WaylayTunnel

  /// A tunnel in front of a lab of hijackers; `*.test` leads to the addresses.
  struct TunnelRig {
    let lab: HijackLab
    let rewriter: HostRewriter
    let tunnel: HostTunnel

    static func with(
      isSecure: Bool = true, _ addresses: [String] = ["127.0.0.1"], policy: HostRewriter.Policy = .require,
      limits: TunnelLimits = TunnelLimits(), options: HostTunnel.Options = .init(), isPatient: Bool = false,
      _ body: (TunnelRig) async throws -> Void
    ) async throws {
      let lab = try await HijackLab.start(isSecure: isSecure)
      var policy = policy
      if !isPatient {
        policy.initialDeadline = .milliseconds(400)
        policy.silenceTimeout = .milliseconds(400)
      }
      let rules = try HostRules(["api.test:\(lab.port)": addresses, "*.test:\(lab.port)": addresses])
      let rewriter = HostRewriter(rules: rules, policy: policy)
      let tunnel = HostTunnel(rewriter, options: options, limits: limits)
      try await tunnel.start()
      var failure: (any Error)?
      do { try await body(TunnelRig(lab: lab, rewriter: rewriter, tunnel: tunnel)) } catch { failure = error }
      await tunnel.stop()
      await lab.stop()
      if let failure { throw failure }
    }

    var secret: String { tunnel.server?.secret ?? "" }

    /// The field with the secret.
    func credentials(_ user: String = "rules", _ password: String? = nil) -> String {
      "Proxy-Authorization: Basic \(Data("\(user):\(password ?? secret)".utf8).base64EncodedString())\r\n"
    }

    /// How a client asks.
    enum Way: String, CaseIterable {
      case connect, absolute, socks
    }

    /// The variables for one way alone.
    func variables(_ way: Way) -> [String: String] {
      tunnel.proxyVariables.filter { ($0.key.lowercased() == "all_proxy") == (way == .socks) || $0.value.isEmpty }
    }

    /// Whether there is a curl to run.
    static let hasCurl = access("/usr/bin/curl", X_OK) == 0

    /// Runs curl, and returns its exit code and what it has printed: the body.
    func curl(
      _ way: Way, _ url: URL? = nil, _ more: [String] = [], seconds: Int = 120
    ) async throws -> (code: Int32, output: String) {
      let (arguments, environment) = try command(way, seconds: seconds)
      return try await Program(path: "/usr/bin/curl").run(
        arguments + more + [(url ?? lab.url()).absoluteString], environment: environment)
    }

    /// What tells curl to ask in one way; without one, it is told of no proxy.
    func command(_ way: Way?, seconds: Int = 20) throws -> (arguments: [String], environment: [String: String]) {
      var arguments = ["-sS", "--max-time", "\(seconds)", "--cacert", try lab.authority.file().path]
      if way == .connect, !lab.good.isSecure { arguments.append("--proxytunnel") }
      let clean = ["http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"].reduce(into: [:]) {
        $0[$1] = ""
      }
      return (arguments, way.map { clean.merging(variables($0)) { $1 } } ?? clean)
    }

    /// Expects the good server's answer.
    func expectAnswer(_ way: Way, _ more: [String] = [], sourceLocation: SourceLocation = #_sourceLocation) async throws
    {
      let output = try await curl(way, nil, more).output
      #expect(output == HijackLab.answer, sourceLocation: sourceLocation)
    }

    /// A client with an open tunnel to port 443 of `api.test`, and how many bytes it has received.
    func secureClient() async throws -> (client: RawClient, received: Int) {
      let client = try await RawClient.connect(
        port: tunnel.port ?? 0, "CONNECT api.test:443 HTTP/1.1\r\n\(credentials())\r\n")
      return (client, await client.until("200 Connection established\r\n\r\n").utf8.count)
    }

    /// Waits until the tunnel has dropped the connections that its only client does not use.
    func untilUnused() async throws {
      let server = try #require(tunnel.server)
      let loop = server.network.group.next()
      func isUnused() async throws -> Bool {
        try await loop.submit {
          server.connections.withLock { $0.allSatisfy { $0.flow.map { $0.task == nil } ?? true } }
        }
        .get()
      }
      while try await !isUnused() { await Task.yield() }
    }

    /// The addresses of `https://api.test/` and their states, in the order of the attempts.
    func states() async -> [String] {
      guard let url = URL(string: "https://api.test/") else { return [] }
      return await rewriter.explain(url).rows.map { "\($0.candidate.address) \($0.state)" }
    }

    /// What has reached servers that should have got nothing.
    func connections(_ hijacker: Hijacker) -> Int { lab.server(hijacker)?.connectionCount ?? 0 }
  }
#endif
