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

  /// Plain http, which a response check can look at in absolute form alone.
  @Suite(
    "Plain http through a tunnel", .enabled(if: Platform.hasLoopbackRange, "loopback has one address"),
    .timeLimit(.minutes(5)))
  struct PlainTests {
    private static var checked: HostRewriter.Policy {
      var policy = HostRewriter.Policy.require
      policy.responseCheck = .field("X-Served-By", equals: "good")
      return policy
    }

    @Test("a response check is not made of a connection to port 80, whose responses nobody sees")
    func unchecked() async throws {
      try await TunnelRig.with(isSecure: false, policy: Self.checked) { rig in
        rig.rewriter.ruleSource.replace(with: try HostRules(["api.test:80": ["127.0.0.1:\(rig.lab.port)"]]))
        let client = try await RawClient.connect(
          port: rig.tunnel.port ?? 0, "CONNECT api.test:80 HTTP/1.1\r\n\(rig.credentials())\r\n")
        await client.until("200 Connection")
        client.send("GET / HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n")
        #expect(await client.rest().contains(HijackLab.answer))
        // What the tunnel has decided is written down by then.
        await rig.tunnel.stop()
        let url = try #require(URL(string: "http://api.test/"))
        #expect(await rig.rewriter.explain(url).rows.map(\.state) == ["proven"])
      }
    }

    @Test("a client whose response was rejected is told so, and how, whatever other addresses there are")
    func rejected() async throws {
      var policy = HostRewriter.Policy.require
      policy.responseCheck = .field("X-Served-By", equals: "nobody")
      policy.connectionAttemptDelay = .zero
      try await TunnelRig.with(isSecure: false, ["127.0.0.9", "127.0.0.1", "::1"], policy: policy) { rig in
        for _ in 0..<20 {
          let client = try await RawClient.connect(
            port: rig.tunnel.port ?? 0, "GET \(rig.lab.url().absoluteString) HTTP/1.1\r\n\(rig.credentials())\r\n")
          let answer = await client.rest()
          #expect(answer.hasPrefix("HTTP/1.1 502 ") && answer.contains("X-Served-By"), "\(answer)")
        }
      }
    }

    @Test("an interim response reaches a client that waits for it at once, though the final one has to be checked")
    func interim() async throws {
      let origin = try await ScriptedOrigin.start { _ in
        ScriptedOrigin.Script("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
      }
      var options = HostTunnel.Options()
      options.idleTimeout = .seconds(5)
      try await TunnelRig.with(isSecure: false, policy: Self.checked, options: options) { rig in
        rig.rewriter.ruleSource.replace(with: try HostRules(["api.test:\(origin.port)": ["127.0.0.1"]]))
        let client = try await RawClient.connect(
          port: rig.tunnel.port ?? 0,
          "GET http://api.test:\(origin.port)/ HTTP/1.1\r\n\(rig.credentials())\r\n")
        let text = await client.until("100 Continue\r\n\(via)\r\n")
        #expect(text == "HTTP/1.1 103 Early Hints\r\n\(via)\r\nHTTP/1.1 100 Continue\r\n\(via)\r\n")
        client.close()
      }
      await origin.stop()
    }

    private let via = "Via: 1.1 waylay\r\n"

    /// Has a client send bytes to an origin that answers with bytes; returns what the client got.
    private func exchange(
      _ request: @escaping (_ credentials: String, _ port: Int) -> String, _ script: ScriptedOrigin.Script,
      policy: HostRewriter.Policy = .require
    ) async throws -> String {
      let origin = try await ScriptedOrigin.start { _ in script }
      var text = ""
      try await TunnelRig.with(isSecure: false, policy: policy) { rig in
        rig.rewriter.ruleSource.replace(with: try HostRules(["api.test:\(origin.port)": ["127.0.0.1"]]))
        let client = try await RawClient.connect(
          port: rig.tunnel.port ?? 0, request(rig.credentials(), origin.port))
        text = await client.rest()
      }
      await origin.stop()
      return text
    }

    @Test("the response has none of the fields of the origin's connection, and says that the client's ends")
    func responseFields() async throws {
      let origin = [
        "HTTP/1.1 103 Early Hints\r\nConnection: X-One\r\nX-One: 1\r\nLink: a\r\n\r\n",
        "HTTP/1.1 200 Fine\r\nconnection: keep-alive,  X-Hop , content-length\r\nKeep-Alive: timeout=5\r\nX-Hop: 1\r\n",
        "Proxy-Authenticate: Basic realm=\"x\"\r\nUpgrade: h2c\r\nConnection: x-two\r\nX-Two: 2\r\nX-End: caf\u{E9}\r\n",
        "Content-Length: 2\r\n\r\nok",
      ].joined()
      for policy in [HostRewriter.Policy.require, Self.acceptingAll] {
        for size in [1, 3, 1000] {
          let bytes = Array(origin.utf8)
          let pieces = stride(from: 0, to: bytes.count, by: size).map { Data(bytes[$0..<min(bytes.count, $0 + size)]) }
          let text = try await exchange(
            { "GET http://api.test:\($1)/ HTTP/1.1\r\n\($0)\r\n" }, .init(pieces, end: .close), policy: policy)
          #expect(
            text
              == "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\(via)\r\nHTTP/1.1 200 Fine\r\nX-End: caf\u{E9}\r\n"
              + "Content-Length: 2\r\n\(via)Connection: close\r\n\r\nok")
          guard Sizes.isWhole else { break }
        }
      }
    }

    private static var acceptingAll: HostRewriter.Policy {
      var policy = HostRewriter.Policy.require
      policy.responseCheck = .field("X-End", equals: "caf\u{E9}")
      return policy
    }

    @Test("of a chunked response's trailers the client gets those that are not the connection's, in whatever pieces")
    func responseTrailers() async throws {
      let head = "HTTP/1.1 200 OK\r\nConnection: x-hop\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
      let body = "3;x=y\r\nabc\r\n0\r\nX-Sum: 6\r\nX-Hop: 1\r\nProxy-Status: a\r\nContent-Length: 9\r\n\r\nmore"
      for size in [1, 7, 1000] {
        let bytes = Array((head + body).utf8)
        let pieces = stride(from: 0, to: bytes.count, by: size).map { Data(bytes[$0..<min(bytes.count, $0 + size)]) }
        let text = try await exchange(
          { "GET http://api.test:\($1)/ HTTP/1.1\r\n\($0)\r\n" }, .init(pieces, end: .close))
        #expect(
          text
            == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\(via)Connection: close\r\n\r\n"
            + "3\r\nabc\r\n0\r\nX-Sum: 6\r\n\r\n")
        guard Sizes.isWhole else { break }
      }
    }

    @Test("a request that may not go further is answered here, without its secrets", arguments: ["TRACE", "OPTIONS"])
    func lastHop(_ method: String) async throws {
      try await TunnelRig.with(isSecure: false) { rig in
        let place = "http://api.test:\(rig.lab.port)/a"
        let names = ["Authorization", "Cookie", "X-GitHub-Token", "xi-api-key", "X-CSRF-Token"]
        let secret = names.map { "\($0): a=b\r\n" }.joined()
        let client = try await RawClient.connect(
          port: rig.tunnel.port ?? 0,
          "\(method) \(place) HTTP/1.1\r\n\(rig.credentials())\(secret)X-A: 1\r\nMax-Forwards: 0\r\n\r\n")
        let text = await client.rest()
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(text)")
        #expect(
          text.hasSuffix(
            method == "TRACE" ? "\r\n\r\nTRACE \(place) HTTP/1.1\r\nX-A: 1\r\nMax-Forwards: 0\r\n\r\n" : "\r\n\r\n"))
        #expect(rig.lab.good.requests.isEmpty && !text.contains("a=b"))
      }
    }

    @Test("a client that keeps connections has its second request answered, and one sent early harms no response")
    func secondRequest() async throws {
      let origin = try await ScriptedOrigin.start { _ in
        .init("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok", end: .close)
      }
      try await TunnelRig.with(isSecure: false) { rig in
        rig.rewriter.ruleSource.replace(with: try HostRules(["api.test:\(origin.port)": ["127.0.0.1"]]))
        if TunnelRig.hasCurl {
          let urls = (1...9).map { "http://api.test:\(origin.port)/\($0)" }
          let end = try await rig.curl(.absolute, URL(string: urls[0]), Array(urls.dropFirst()))
          #expect(end.output == String(repeating: "ok", count: 9) && end.code == 0, "\(end)")
        }
        let head = "GET http://api.test:\(origin.port)/ HTTP/1.1\r\n\(rig.credentials())\r\n"
        let client = try await RawClient.connect(port: rig.tunnel.port ?? 0, head + head)
        let text = await client.rest()
        #expect(text.hasSuffix("\r\n\r\nok") && text.components(separatedBy: "HTTP/1.1").count == 2, "\(text)")
      }
      await origin.stop()
    }

    @Test("a response that is not quite HTTP is passed on as it is, unless it has to be checked")
    func otherResponses() async throws {
      for text in [
        "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "ICY 200 OK\r\nA: b\r\n\r\nnoise",
        "HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\nok",
      ] {
        let get: (String, Int) -> String = { "GET http://api.test:\($1)/ HTTP/1.1\r\n\($0)\r\n" }
        #expect(try await exchange(get, .init(text, end: .close)) == text)
        #expect(try await exchange(get, .init(text, end: .close), policy: Self.checked).hasPrefix("HTTP/1.1 502 "))
      }
    }

    @Test("the origin gets requests with extensions and trailers, for itself, and after empty lines", arguments: 1...3)
    func requests(_ size: Int) async throws {
      try await TunnelRig.with(isSecure: false) { rig in
        let place = "http://api.test:\(rig.lab.port)"
        func send(_ text: String) async throws -> String {
          let client = try await RawClient.connect(port: rig.tunnel.port ?? 0)
          // In a few pieces, wherever they end.
          let bytes = Array(text.utf8)
          for index in stride(from: 0, to: bytes.count, by: bytes.count / size + 1) {
            client.send(Array(bytes[index..<min(bytes.count, index + bytes.count / size + 1)]))
          }
          return await client.rest()
        }
        let body = "3;x=y\r\nabc\r\n0\r\nX-Sum: 6\r\nX-Mine: 1\r\n\r\n"
        let post =
          "POST \(place)/ HTTP/1.1\r\n\(rig.credentials())Connection: X-Mine\r\nTransfer-Encoding: chunked\r\n\r\n"
        let posted = try await send("\r\n\r\n" + post + body)
        #expect(posted.contains(HijackLab.answer), "\(posted)")
        #expect(rig.lab.good.requests.last?.body == Data("abc".utf8))
        #expect(rig.lab.good.rawBytes.last?.hasSuffix("\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 6\r\n\r\n") == true)
        let options = try await send("OPTIONS \(place) HTTP/1.1\r\n\(rig.credentials())\r\n")
        #expect(options.hasPrefix("HTTP/1.1 "), "\(options)")
        #expect(
          rig.lab.good.rawBytes.last?.hasPrefix("OPTIONS * HTTP/1.1\r\nHost: api.test:\(rig.lab.port)\r\n") == true)
      }
    }

    @Test("an attempt that begins when another has won is lost, and does not end the load of the winner")
    func lost() async throws {
      try await TunnelRig.with(isSecure: false) { rig in
        let client = try await RawClient.connect(
          port: rig.tunnel.port ?? 0,
          "CONNECT api.test:\(rig.lab.port) HTTP/1.1\r\n\(rig.credentials())\r\n"
            + "GET / HTTP/1.1\r\nHost: api.test\r\n\r\n")
        await client.until(HijackLab.answer)
        let flow = try #require(rig.tunnel.server?.connections.withLock { $0.first?.flow })
        let endpoint = try HostEndpoint("127.0.0.1:\(rig.lab.port)")
        let error = await #expect(throws: TransportError.self) { _ = try await flow.attempt(endpoint, nil) }
        #expect(error?.code == .cancelled && error?.requestBytesSent == 0)
        client.close()
      }
    }

    @Test(
      "when no address of its rule answers, the system's way is for TLS alone: plain text is not sent there",
      arguments: [true, false])
    func fallback(_ isSecure: Bool) async throws {
      try await TunnelRig.with(isSecure: isSecure, policy: .prefer) { rig in
        rig.rewriter.ruleSource.replace(with: try HostRules(["localhost:\(rig.lab.port)": ["127.0.0.8"]]))
        let client = try await RawClient.connect(
          port: rig.tunnel.port ?? 0, "CONNECT localhost:\(rig.lab.port) HTTP/1.1\r\n\(rig.credentials())\r\n")
        let established = await client.until("200 Connection established\r\n\r\n").utf8.count
        if isSecure {
          client.send(Hello.record(host: "api.test"))
          await client.until { $0.count > established }
          #expect(client.received.dropFirst(established).first == 22)
          client.close()
        } else {
          client.send("POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
          #expect(await client.rest().utf8.count == established)
          #expect(rig.lab.good.rawBytes.allSatisfy { $0.isEmpty })
        }
      }
    }

    @Test("a response that has come whole reaches a client that takes it when its connection is long over")
    func slow() async throws {
      var limits = TunnelLimits()
      limits.halfClosedTime = .milliseconds(50)
      try await TunnelRig.with(isSecure: false, limits: limits) { rig in
        let records = rig.tunnel.records.subscribe(bufferingNewest: 1)
        let client = try await RawClient.connect(
          port: rig.tunnel.port ?? 0,
          "GET \(rig.lab.url("/bytes/200000").absoluteString) HTTP/1.1\r\n\(rig.credentials())\r\n", reads: false)
        for await _ in records { break }
        // The tunnel's side is closed by then.
        try await rig.tunnel.server?.network.group.next().submit {}.get()
        client.read()
        let text = await client.rest()
        #expect(text.utf8.count > 200_000, "\(text.utf8.count)")
      }
    }
  }
#endif
