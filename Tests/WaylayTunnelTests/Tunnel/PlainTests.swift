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
        let text = await client.until("100 Continue\r\n\r\n")
        #expect(text == "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
        client.close()
      }
      await origin.stop()
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
