#if Tunnel
  #if os(Linux)
    import Foundation
    import NIOCore
    import TestSupport
    import WaylayCore

    /// The system's resolver for programs in a namespace: it notes the names that it is asked for, and knows none.
    final class NameServer {
      /// Where it is: an address of its own, since several tests have one at a time.
      let address: String?
      private let names = Locked<[String]>([])
      private let queue = DispatchQueue(label: "name server")
      private let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      private let source: any DispatchSourceRead

      init() {
        let descriptor = descriptor
        address = (53..<100).lazy.map { "127.0.0.\($0)" }.first { address in
          (try? SocketAddress(ipAddress: address, port: 53))?.withSockAddr { bind(descriptor, $0, socklen_t($1)) } == 0
        }
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [names] in Self.answer(descriptor, names) }
        source.setCancelHandler { close(descriptor) }
        source.resume()
      }

      deinit { source.cancel() }

      /// Whether it may have a resolver's port, which belongs to the system's own user.
      var isReached: Bool { address != nil }

      /// The names in all that it was sent.
      func queries() -> [String] { queue.sync { Self.answer(descriptor, names) } }

      @discardableResult
      private static func answer(_ descriptor: CInt, _ names: Locked<[String]>) -> [String] {
        var bytes = [UInt8](repeating: 0, count: 512)
        var client = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutablePointer(to: &client) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { client in
            while case let count = recvfrom(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT), client, &length),
              count > 12
            {
              names.withLock { $0.append(String(decoding: bytes[12..<count].map { $0 < 33 ? 46 : $0 }, as: UTF8.self)) }
              // An answer: there is no such name (RFC 1035, section 4.1.1).
              (bytes[2], bytes[3]) = (0x81, 0x83)
              _ = sendto(descriptor, bytes, count, 0, client, length)
            }
          }
        }
        return names.withLock { $0 }
      }
    }

    /// Runs programs to which one authority and one resolver are the system's.
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

      /// Whether programs can have a network of their own.
      static let hasNetworks: Bool = {
        let nothing = Program.File.open("/dev/null", O_RDWR)
        let script = "ip link set lo up && ip -6 addr flush dev lo"
        guard
          let process = try? Program(path: "/usr/bin/unshare").spawn(
            ["-rn", "sh", "-c", script], files: [nothing, nothing, nothing])
        else { return false }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status == 0
      }()

      /// Whether programs in it can be given a resolver that sees what they ask.
      static let hasResolver = isAllowed && NameServer().isReached

      /// The command that runs a program there; its path and arguments come after it.
      static func command(trusting authority: String, by resolver: NameServer) -> [String] {
        let file = resolver.address.map { "nameserver \($0)\\noptions timeout:1 attempts:1\\n" } ?? ""
        let script = """
          mount --bind "$0" \(bundle) && mount -t tmpfs none /mnt && printf '\(file)' >/mnt/resolv.conf &&
          mount --bind /mnt/resolv.conf /etc/resolv.conf && exec "$@"
          """
        return ["/usr/bin/unshare", flags, "sh", "-c", script, authority]
      }

      static func run(
        _ program: String, _ arguments: [String], trusting authority: String, by resolver: NameServer,
        environment: [String: String]
      ) async throws -> (code: Int32, output: String) {
        let command = command(trusting: authority, by: resolver)
        return try await Program(path: command[0]).run(
          command.dropFirst() + [program] + arguments, environment: environment, limit: .seconds(120))
      }
    }
  #endif
#endif
