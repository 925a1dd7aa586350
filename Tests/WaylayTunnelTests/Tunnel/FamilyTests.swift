#if Tunnel
  #if os(Linux)
    import Foundation
    import TestOrigin
    import TestSupport
    import Testing
    import WaylayCore
    import WaylayHosts

    @testable import WaylayTunnel

    /// Hosts and tunnel on a machine with one family of addresses: the loads below, in a namespace of their own.
    @Suite(
      "Hosts and tunnel with one family of addresses",
      .enabled(if: Namespace.hasNetworks, "no network namespace can be made here (unshare -rn, ip)"),
      .timeLimit(.minutes(5)))
    struct FamilyTests {
      @Test("every load reaches the address of the family that there is", .heavy, arguments: Loads.Family.allCases)
      func alone(_ family: Loads.Family) async throws {
        let tests = try #require(Program.tests)
        let change =
          family == .ipv4
          ? "ip -6 addr flush dev lo" : "ip -4 addr flush dev lo && ip addr add 127.0.0.1/32 dev lo"
        let script = "ip link set lo up && \(change) && exec \"$@\""
        let end = try await Program(path: "/usr/bin/unshare").run(
          ["-rn", "sh", "-c", script, "sh", tests.path, "--testing-library", "swift-testing"]
            + ["--filter", "FamilyTests.Loads"], environment: ["WAYLAY_FAMILY": family.rawValue])
        #expect(end.code == 0 && end.output.contains("5 loads by hosts, 5 by a tunnel"), "\(end)")
      }

      /// The loads, where both families are too.
      @Suite("Loads by one family of addresses", .timeLimit(.minutes(5)))
      struct Loads {
        enum Family: String, CaseIterable {
          case ipv4, ipv6

          static let here = ProcessInfo.processInfo.environment["WAYLAY_FAMILY"].flatMap(Self.init) ?? .ipv4
          var address: String { self == .ipv4 ? "127.0.1.1" : "::1" }
          /// Of the other one, and of this one with no way there.
          var others: [String] {
            self == .ipv4 ? ["2001:db8::7", "fe80::1", "::2"] : ["127.0.1.1", "203.0.113.7", "2001:db8::7"]
          }
        }

        @Test(
          "an address of the other family is one that fails, and no fault of the machine",
          .enabled(if: Platform.hasLoopbackRange || Family.here == .ipv6, "loopback has one address"))
        func loads() async throws {
          let family = Family.here
          let origin = try await TestOrigin.start(host: family.address)
          origin.reply(to: "/") { _ in .text("here") }
          var served = 0
          for places in [family.others.prefix(1) + [family.address], family.others + [family.address]] {
            let rules = try HostRules(["api.test:\(origin.port)": Array(places)])
            let transport = CurlTransport(configuration: .ephemeral)
            let registry = InterceptorRegistry(transport: transport, configuration: .ephemeral) {
              HostRewriter(rules: rules, policy: .require)
            }
            for _ in 0..<5 {
              let text = try await registry.data(for: URLRequest(url: origin.url(host: "api.test"))).0
              #expect(text == Data("here".utf8))
              served += 1
            }
            registry.invalidate()
            let tunnel = HostTunnel(HostRewriter(rules: rules, policy: .require))
            try await tunnel.start()
            let secret = Data("rules:\(tunnel.server?.secret ?? "")".utf8).base64EncodedString()
            for _ in 0..<5 {
              let client = try await RawClient.connect(
                port: tunnel.port ?? 0,
                "GET http://api.test:\(origin.port)/ HTTP/1.1\r\nProxy-Authorization: Basic \(secret)\r\n\r\n")
              let text = await client.rest()
              #expect(text.hasSuffix("here"), "\(text)")
            }
            await tunnel.stop()
            if served == 5 { print("5 loads by hosts, 5 by a tunnel") }
          }
          await origin.stop()
        }
      }
    }
  #endif
#endif
