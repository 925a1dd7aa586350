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
        if !isSecure { policy.responseCheck = .header("X-Served-By", equals: "good") }
        try await TunnelRig.with(isSecure: isSecure, front.map(\.address) + ["127.0.0.1"], policy: policy) { rig in
          let hidden =
            isSecure ? 2 * front.filter { [.rogueCertificate, .wrongName].contains($0) }.count : 2 * front.count
          // On a busy machine the good address is late at times, too, and a bad one is asked before it once more.
          let urls = (0...hidden + 2).map { rig.lab.url("/?\($0)").absoluteString }
          let resolver = try NameServer()
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

    /// The system's resolver for a program in a namespace: it notes what it is asked, and says nothing.
    final class NameServer {
      private let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      /// Whether it may have a resolver's port, which belongs to the system's own user.
      let isReached: Bool
      private var names: [String] = []

      init() throws {
        let address = try SocketAddress(ipAddress: "127.0.0.53", port: 53)
        let descriptor = descriptor
        isReached = address.withSockAddr { bind(descriptor, $0, socklen_t($1)) } == 0
      }

      deinit { close(descriptor) }

      /// The names in all that it was sent.
      func queries() -> [String] {
        var bytes = [UInt8](repeating: 0, count: 512)
        while case let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT)), count > 12 {
          names.append(String(decoding: bytes[12..<count].map { $0 < 33 ? 46 : $0 }, as: UTF8.self))
        }
        return names
      }
    }

    /// Runs programs to which one authority is the system's.
    enum Namespace {
      private static let bundle = "/etc/ssl/certs/ca-certificates.crt"
      private static let flags = getuid() == 0 ? "-m" : "-Urm"

      static let isAllowed: Bool = {
        guard access("/usr/bin/unshare", X_OK) == 0, access(bundle, R_OK) == 0 else { return false }
        let program = Program(path: "/usr/bin/unshare")
        let nothing = Program.File.open("/dev/null", O_RDWR)
        let script = "mount --bind /dev/null \(bundle)"
        guard let process = try? program.spawn([flags, "sh", "-c", script], files: [nothing, nothing, nothing]) else {
          return false
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status == 0
      }()

      static func run(
        _ program: String, _ arguments: [String], trusting authority: String, by resolver: NameServer,
        environment: [String: String]
      ) async throws -> (code: Int32, output: String) {
        let file = resolver.isReached ? "nameserver 127.0.0.53\\noptions timeout:1 attempts:1\\n" : ""
        let script = """
          mount --bind "$0" \(bundle) && mount -t tmpfs none /mnt && printf '\(file)' >/mnt/resolv.conf &&
          mount --bind /mnt/resolv.conf /etc/resolv.conf && exec "$@"
          """
        return try await Program(path: "/usr/bin/unshare").run(
          [flags, "sh", "-c", script, authority, program] + arguments, environment: environment, limit: .seconds(120))
      }
    }
  #endif
#endif
