#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayHosts

  @Suite("Faults of this machine", .timeLimit(.minutes(5)))
  struct LocalFaultTests {
    @Test("a lack of this machine is told from what an address cannot do")
    func numbers() {
      for address in ["127.0.0.1:80", "[2001:db8::7]:443"] {
        for number in [POSIXErrorCode.EMFILE, .ENFILE, .ENOBUFS, .ENOMEM] {
          #expect(TransportError.isLocal(number, dialing: address))
        }
        for number in [POSIXErrorCode.ECONNREFUSED, .ENETUNREACH, .EHOSTUNREACH, .EAFNOSUPPORT, .EACCES] {
          #expect(!TransportError.isLocal(number, dialing: address))
        }
      }
      // Where IPv6 is off, this is said of each of its addresses.
      #expect(TransportError.isLocal(.EADDRNOTAVAIL, dialing: "127.0.0.1:80"))
      #expect(!TransportError.isLocal(.EADDRNOTAVAIL, dialing: "[::1]:80"))
    }

    @Test("without a descriptor left no address is blamed, and with one again all is well", .exitTest)
    func descriptorsUsedUp() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let origin = try await TestOrigin.start(hosts: ["127.0.0.1", "::1"])
        origin.reply(to: "/") { _ in .text("here") }
        let rewriter = HostRewriter(
          rules: try HostRules(["api.test:\(origin.port)": ["127.0.0.1", "::1"]]), policy: .require)
        let registry = InterceptorRegistry(
          transport: CurlTransport(configuration: .ephemeral), configuration: .ephemeral
        ) { rewriter }
        let url = origin.url(host: "api.test")
        // What the first load opens for itself is open by then.
        _ = try await registry.data(for: URLRequest(url: origin.url(host: "127.0.0.1")))
        var taken: [CInt] = []
        while case let copy = dup(0), copy >= 0 { taken.append(copy) }
        let failure: String
        do {
          _ = try await registry.data(for: URLRequest(url: url))
          failure = "none"
        } catch { failure = "\(error)" }
        for descriptor in taken { close(descriptor) }
        let states = await rewriter.explain(url).rows.map(\.state)
        Process.require(states.allSatisfy { $0 == "untried" }, "\(states): \(failure)")
        let text = try await registry.data(for: URLRequest(url: url)).0
        Process.require(text == Data("here".utf8), "not served")
      }
    }
  }
#endif
