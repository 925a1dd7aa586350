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

  /// Who may use a tunnel, and for what.
  @Suite("Access to a tunnel", .timeLimit(.minutes(5)))
  struct AccessTests {
    @Test("a hundred connections without the secret reach nobody")
    func withoutSecret() async throws {
      try await TunnelRig.with { rig in
        let port = rig.tunnel.port ?? 0
        let wrong = String(repeating: "0", count: rig.secret.count)
        for number in 0..<100 {
          let target = "api.test:\(rig.lab.port)"
          let fields = [
            "", "Proxy-Authorization: Basic\r\n", rig.credentials("rules", wrong), rig.credentials("rules", ""),
            rig.credentials("nobody"),
          ][number % 5]
          let client = try await RawClient.connect(port: port, "CONNECT \(target) HTTP/1.1\r\n\(fields)\r\n")
          #expect(await client.until("\r\n\r\n").hasPrefix("HTTP/1.1 407 "))
          #expect(!client.isClosed)
          client.close()
        }
        #expect(rig.lab.good.connectionCount == 0)
        #expect(rig.rewriter.counters.requests == 0)
      }
    }

    @Test("after a challenge the same connection may show the secret")
    func challenge() async throws {
      try await TunnelRig.with { rig in
        let target = "CONNECT api.test:\(rig.lab.port) HTTP/1.1\r\n"
        let client = try await RawClient.connect(port: rig.tunnel.port ?? 0, "\(target)\r\n")
        await client.until("Basic realm=\"waylay\"\r\n\r\n")
        client.send("\(target)\(rig.credentials())\r\n")
        #expect(await client.until("200 Connection established\r\n\r\n").contains("200 Connection"))
        client.close()
      }
    }

    @Test("what is not for this tunnel is refused, and the connection closed")
    func refused() async throws {
      let heads = [
        ("GET / HTTP/1.1\r\nHost: api.test\r\n\r\n", 400), ("OPTIONS * HTTP/1.1\r\n\r\n", 400),
        ("GET https://api.test/ HTTP/1.1\r\n\r\n", 400), ("GET http://user@api.test/ HTTP/1.1\r\n\r\n", 400),
        ("GET http://api.test/ HTTP/1.1\r\nA: b\nC: d\r\n\r\n", 400), ("GET http://api.test/ HTTP/2.0\r\n\r\n", 400),
        ("GET http://api.test/ HTTP/1.1\r\nA: b\u{0}\r\n\r\n", 400),
        ("GET http://api.test/ HTTP/1.1\r\n a: b\r\n\r\n", 400),
        ("POST http://api.test/ HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("POST http://api.test/ HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400),
        ("POST http://api.test/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 400),
        ("CONNECT api.test:443 HTTP/1.1\r\nContent-Length: 3\r\n\r\n", 400),
        ("CONNECT api.test HTTP/1.1\r\n\r\n", 400), ("CONNECT api.test:443/ HTTP/1.1\r\n\r\n", 400),
        ("CONNECT a@api.test:443 HTTP/1.1\r\n\r\n", 400), ("GET http://api.test/ HTTP/1.1\r\n\r\n", 407),
      ]
      try await TunnelRig.with { rig in
        for (head, status) in heads {
          let client = try await RawClient.connect(
            port: rig.tunnel.port ?? 0, head + "GET http://api.test/ HTTP/1.1\r\n\r\n")
          let answer = await client.rest()
          #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(head)")
          #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2, "\(head)")
          #expect(!answer.lowercased().contains("access-control"), "\(head)")
          if status == 400 { #expect(!answer.contains("Proxy-Authenticate"), "\(head)") }
        }
        #expect(rig.lab.good.connectionCount == 0)
      }
    }

    @Test("hosts without a rule, literals, other ports and the tunnel itself are not dialled")
    func notDialled() async throws {
      try await TunnelRig.with { rig in
        let (own, other) = (rig.tunnel.port ?? 0, rig.lab.port)
        for target in [
          "example.com:443", "api.test:22", "api.test:\(other + 1)", "127.0.0.1:443", "127.0.0.1:\(other)", "127.1:443",
          "[::1]:443", "localhost:443", "localhost:\(own)", "127.0.0.1:\(own)",
        ] {
          let client = try await RawClient.connect(port: own, "CONNECT \(target) HTTP/1.1\r\n\(rig.credentials())\r\n")
          #expect(await client.rest().hasPrefix("HTTP/1.1 403 "), "\(target)")
        }
        #expect(rig.lab.good.connectionCount == 0)
      }
    }

    @Test("hosts without a rule are passed by choice, and private addresses and the tunnel's own are not")
    func passedByChoice() async throws {
      var options = HostTunnel.Options()
      options.allowsOtherHosts = true
      try await TunnelRig.with(policy: .prefer, options: options) { rig in
        let own = rig.tunnel.port ?? 0
        for target in ["127.0.0.1:80", "10.0.0.1:443", "[::1]:443", "169.254.169.254:80", "127.1:80", "localhost:80"] {
          let client = try await RawClient.connect(port: own, "CONNECT \(target) HTTP/1.1\r\n\(rig.credentials())\r\n")
          #expect(await client.rest().hasPrefix("HTTP/1.1 502 "), "\(target)")
        }
      }
      try await TunnelRig.with(policy: .require, options: options) { rig in
        let client = try await RawClient.connect(
          port: rig.tunnel.port ?? 0, "CONNECT example.com:443 HTTP/1.1\r\n\(rig.credentials())\r\n")
        #expect(await client.rest().hasPrefix("HTTP/1.1 403 "))
      }
    }

    @Test("a local name has a private address only by a rule that names it, and not as the choice of a stranger")
    func localNames() throws {
      let names = ["localhost", "a.localhost", "router.home.arpa", "metadata.google.internal", "printer.local", "nas"]
      let addresses = ["127.0.0.1", "::1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "fe80::1", "fd00::1"]
      for name in names + ["example.com", "127.0.0.1", "169.254.169.254"] {
        for text in addresses {
          func refusal(_ rules: [HostRule]) throws -> String? {
            let rewriter = HostRewriter(rules: try HostRules(rules), policy: .prefer)
            return rewriter.refusal(
              of: try HostAddress(text), for: HostAuthority(try HostName(name), port: 80))
          }
          #expect(try refusal([]) != nil, "\(name) \(text)")
          #expect(try refusal([HostRule("*")]) != nil, "\(name) \(text)")
          #expect(try refusal([HostRule(excluding: name)]) != nil, "\(name) \(text)")
          #expect(try refusal([HostRule(name, endpoints: [text])]) == nil, "\(name) \(text)")
          // The resolver's answer of a rule without addresses.
          #expect((try refusal([HostRule(name)]) == nil) == names.contains(name), "\(name) \(text)")
        }
      }
    }

    @Test("a port is open that the rule names, with its host or with an address, and a refusal names the rule")
    func ports() async throws {
      try await TunnelRig.with { rig in
        let port = rig.lab.port
        func answer(_ rules: [String: [String]], host: String = "api.test", _ port: Int) async throws -> String {
          rig.rewriter.ruleSource.replace(with: try HostRules(rules))
          let client = try await RawClient.connect(
            port: rig.tunnel.port ?? 0, "CONNECT \(host):\(port) HTTP/1.1\r\n\(rig.credentials())\r\n")
          let text = await client.until("\r\n\r\n")
          return text.contains(" 200 ") ? "open" : await client.rest()
        }
        #expect(try await answer(["api.test": ["127.0.0.1:\(port)"]], port) == "open")
        #expect(try await answer(["api.test": ["127.0.0.8", "127.0.0.1:\(port)"]], port) == "open")
        #expect(try await answer(["*.test": ["127.0.0.1:\(port)"]], port) == "open")
        #expect(try await answer(["api.test": ["127.0.0.1:\(port)"]], 443) == "open")
        let other = try await answer(["api.test": ["127.0.0.1:\(port)"], "*.test:22": ["127.0.0.1"]], 22)
        #expect(
          other.hasPrefix("HTTP/1.1 403 ") && other.contains("the rule for api.test does not name it"), "\(other)")
        let none = try await answer(["api.test": ["127.0.0.1:\(port)"]], host: "www.test", port)
        #expect(none.hasPrefix("HTTP/1.1 403 ") && none.contains("no rule names it"), "\(none)")
      }
    }

    @Test("the name of a route dials its one address, and no other host")
    func route() async throws {
      try await TunnelRig.with(["127.0.0.8"]) { rig in
        let authority = HostAuthority(try HostName("api.test"), port: rig.lab.port)
        let name = rig.tunnel.routes.name(
          of: .init(authority: authority, endpoint: try HostEndpoint("127.0.0.1:\(rig.lab.port)")))
        func connect(_ host: String) async throws -> RawClient {
          try await RawClient.connect(
            port: rig.tunnel.port ?? 0, "CONNECT \(host):\(rig.lab.port) HTTP/1.1\r\n\(rig.credentials(name))\r\n")
        }
        let foreign = try await connect("other.test")
        #expect(await foreign.rest().hasPrefix("HTTP/1.1 403 "))
        // No rule lists it: the address is not one for a public name.
        let unlisted = try await connect("api.test")
        #expect(await unlisted.rest().hasPrefix("HTTP/1.1 502 "))
        rig.rewriter.ruleSource.replace(with: try HostRules(["api.test:\(rig.lab.port)": ["127.0.0.1"]]))
        let client = try await connect("api.test")
        #expect(await client.until("200 Connection").contains("200 Connection"))
        client.close()
      }
    }

    @Test("the secret is in no description, event or error, and another one at each start")
    func secrecy() async throws {
      try await TunnelRig.with(["127.0.0.8"]) { rig in
        let secret = rig.secret
        #expect(secret.count == 32)
        let events = Locked<[String]>([])
        let stream = rig.rewriter.events()
        let reader = Task { for await event in stream { events.withLock { $0.append("\(event)") } } }
        let client = try await RawClient.connect(
          port: rig.tunnel.port ?? 0, "GET http://api.test:\(rig.lab.port)/ HTTP/1.1\r\n\(rig.credentials())\r\n")
        let answer = await client.rest()
        #expect(answer.hasPrefix("HTTP/1.1 502 "))
        reader.cancel()
        await reader.value
        let texts = events.withLock { $0 } + [answer, "\(rig.tunnel)", "\(String(reflecting: rig.tunnel))"]
        #expect(
          texts.allSatisfy { !$0.contains(secret) && !$0.contains(Data("rules:\(secret)".utf8).base64EncodedString()) })
        let old = rig.tunnel.port
        await rig.tunnel.stop()
        #expect(rig.tunnel.proxyVariables.isEmpty)
        try await rig.tunnel.start()
        #expect(rig.secret != secret)
        _ = old
      }
    }
  }
#endif
