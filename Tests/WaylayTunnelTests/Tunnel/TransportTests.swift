#if Tunnel
  import Foundation
  import HijackLab
  import NIOCore
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayHosts

  @testable import WaylayTunnel

  /// The transport of Apple platforms, with a model of what a session does with its proxy: CONNECT without credentials,
  /// a challenge, CONNECT with them, and for a failure an error that says nothing.
  @Suite("Routes through a tunnel", .timeLimit(.minutes(5)))
  struct TransportTests {
    /// A session of the system, as far as its proxy is concerned.
    private struct Inner: Transport {
      let port: Int
      let user: String
      let password: String
      let log: Locked<[String]>
      let capabilities: TransportCapabilities = []

      func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
        let target = "CONNECT \(request.url.host ?? ""):\(request.url.portOrDefault ?? 0) HTTP/1.1\r\n"
        let credentials = "Proxy-Authorization: Basic \(Data("\(user):\(password)".utf8).base64EncodedString())\r\n"
        let client = try await RawClient.connect(port: port, "\(target)\r\n")
        await client.until("\r\n\r\n")
        client.send("\(target)\(credentials)\r\n")
        await client.until { String(decoding: $0, as: UTF8.self).components(separatedBy: "HTTP/1.1 ").count == 3 }
        let isOpen = client.text.contains(" 200 ")
        client.close()
        log.withLock { $0.append("\(port) \(user) \(isOpen)") }
        guard request.route == nil, isOpen else { throw URLError(.unknown) }
        return InterceptedResponse(to: request, body: .text("over \(user)"), source: .network)
      }
    }

    private struct Bare: Transport {
      let capabilities: TransportCapabilities = []
      func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
        InterceptedResponse(to: request, body: .text("bare"), source: .network)
      }
    }

    private static func transport(_ tunnel: HostTunnel, _ log: Locked<[String]>) -> TunnelTransport {
      TunnelTransport(tunnel, bare: Bare()) { Inner(port: $0, user: $1, password: $2, log: log) }
    }

    @Test("a chain's failover goes from address to address, each by a session of its own, and learns why one failed")
    func failover() async throws {
      try await TunnelRig.with(["127.0.0.8", "127.0.0.1"]) { rig in
        let log = Locked<[String]>([])
        let registry = InterceptorRegistry(transport: Self.transport(rig.tunnel, log), configuration: .ephemeral) {
          rig.rewriter
        }
        let (data, _) = try await registry.data(for: URLRequest(url: rig.lab.url()))
        #expect(String(decoding: data, as: UTF8.self) == "over route-2")
        let port = rig.tunnel.port ?? 0
        #expect(log.withLock { $0 } == ["\(port) route-1 false", "\(port) route-2 true"])
        #expect(rig.rewriter.counters.bans == 1)
        let rows = await rig.rewriter.explain(rig.lab.url()).rows.map { "\($0.candidate.address) \($0.state)" }
        #expect(rows == ["127.0.0.1 proven", "127.0.0.8 banned: refused"])
        let other = try await registry.data(for: URLRequest(url: #require(URL(string: "http://example.com/")))).0
        #expect(String(decoding: other, as: UTF8.self) == "bare")
        registry.invalidate()
      }
    }

    @Test("a listener that the system has closed comes back at once with another secret, sessions and an event")
    func restart() async throws {
      try await TunnelRig.with { rig in
        let log = Locked<[String]>([])
        let transport = Self.transport(rig.tunnel, log)
        func load() async throws {
          var request = InterceptedRequest(.get, rig.lab.url())
          request.route = try Route("127.0.0.1")
          _ = try await transport.load(request)
        }
        let events = rig.rewriter.events()
        try await load()
        let (port, secret) = (rig.tunnel.port, rig.secret)
        try await rig.tunnel.server?.channel.withLock { $0 }?.close().get()
        async let first: Void = load()
        async let second: Void = load()
        _ = try await (first, second)
        #expect(rig.secret != secret)
        #expect(Set(log.withLock { $0.dropFirst() }) == ["\(rig.tunnel.port ?? 0) route-1 true"])
        for await event in events where event.kind == .tunnelRestarted {
          #expect((event.error as? HostError)?.code == .listenerLost)
          break
        }
        _ = port
      }
    }

    @Test("no more than sixteen sessions are kept, and none for local names")
    func sessions() async throws {
      try await TunnelRig.with { rig in
        let transport = Self.transport(rig.tunnel, Locked([]))
        for number in 1...20 {
          var request = InterceptedRequest(.get, rig.lab.url())
          request.route = try Route("127.0.0.1", port: number == 20 ? rig.lab.port : number)
          _ = try? await transport.load(request)
        }
        #expect(transport.count <= 16)
        for host in ["localhost", "printer.local", "127.0.0.1", "intranet"] {
          var request = InterceptedRequest(.get, try #require(URL(string: "https://\(host)/")))
          request.route = try Route("127.0.0.1")
          await #expect(throws: HostError.self) { _ = try await transport.load(request) }
        }
      }
    }
  }
#endif
