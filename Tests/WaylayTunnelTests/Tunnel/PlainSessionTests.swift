#if Tunnel
  import Foundation
  import HijackLab
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayHosts

  @testable import WaylayTunnel

  #if os(Linux)
    /// A plain `URLSession` in a process of its own, which knows of the tunnel by its environment alone (U20), and of the
    /// lab's authority by a mount namespace, in which it is the system's only one.
    @Suite(
      "A plain URLSession through a tunnel", .enabled(if: Namespace.isAllowed, "no mount namespace can be made here"),
      .timeLimit(.minutes(5)))
    struct PlainSessionTests {
      static let fronts: [[Hijacker]] = {
        let kinds = Hijacker.allCases
        let all =
          kinds.map { [$0] } + kinds.indices.map { start in (0..<5).map { kinds[(start + $0 * 3) % kinds.count] } }
        return Sizes.isWhole ? all : [[.rogueCertificate, .close, .blackHole]]
      }()

      @Test(
        "it gets its answers from the good server, by the system's own check of certificates", .heavy,
        arguments: fronts,
        [true, false])
      func answers(_ front: [Hijacker], _ isSecure: Bool) async throws {
        var policy = HostRewriter.Policy.require
        if !isSecure { policy.responseCheck = .field("X-Served-By", equals: "good") }
        try await TunnelRig.with(isSecure: isSecure, front.map(\.address) + ["127.0.0.1"], policy: policy) { rig in
          let hidden =
            isSecure ? 2 * front.filter { [.rogueCertificate, .wrongName].contains($0) }.count : 2 * front.count
          // On a busy machine the good address is late at times, too, and a bad one is asked before it once more.
          let urls = (0...hidden + 2).map { rig.lab.url("/?\($0)").absoluteString }
          let resolver = NameServer()
          let (_, output) = try await Namespace.run(
            Program("plain-session").path, urls, trusting: try rig.lab.authority.file().path,
            by: resolver, environment: rig.tunnel.proxyVariables)
          let lines = output.split(separator: "\n")
          #expect(lines.last == "200 \(HijackLab.answer)", "\(output)")
          #expect(lines.allSatisfy { !$0.contains(HijackLab.portalPage) })
          if isSecure { #expect(rig.lab.leaks() == []) }
          #expect(resolver.queries().filter { $0.contains("test") } == [])
          // Where nothing is ruled, the same names are asked for.
          _ = try await Namespace.run(
            "/usr/bin/getent", ["hosts", "api.test"], trusting: "/dev/null", by: resolver, environment: [:])
          #expect(resolver.isReached == resolver.queries().contains { $0.contains("api.test") })
        }
      }
    }
  #endif
#endif
