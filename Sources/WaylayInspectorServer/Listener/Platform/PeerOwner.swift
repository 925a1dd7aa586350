#if InspectorServer && !NO_SERVER
  import Foundation
  import NIOCore

  /// The user that owns the peer of a loopback connection.
  enum PeerOwner {
    /// Whether the peer belongs to this user, and is open. On Linux the kernel reports it, and a missing report means
    /// no; other systems have no such check.
    static func isThisUser(_ channel: any Channel) -> Bool {
      #if os(Linux)
        guard let peer = channel.remoteAddress, let own = channel.localAddress else { return false }
        // sock_diag(7): a query for one socket, and the kernel's reply. The sizes and offsets are those of
        // `inet_diag_req_v2` and `inet_diag_msg` after a `nlmsghdr`. The query also finds an IPv6 socket that speaks
        // IPv4.
        let question =
          number(UInt32(72)) + number(UInt16(20)) + number(UInt16(1)) + number(UInt64(0))
          + [UInt8(AF_INET), UInt8(IPPROTO_TCP), 0, 0] + number(UInt32.max)
          + number(UInt16(peer.port ?? 0).bigEndian) + number(UInt16(own.port ?? 0).bigEndian)
          + address(peer) + address(own) + number(UInt32(0)) + number(UInt64.max)
        // A datagram socket of AF_NETLINK, for NETLINK_SOCK_DIAG.
        let socket = Foundation.socket(16, 2 | O_CLOEXEC, 4)
        guard socket >= 0 else { return false }
        defer { close(socket) }
        var answer = [UInt8](repeating: 0, count: 1024)
        guard send(socket, question, question.count, 0) == question.count,
          recv(socket, &answer, answer.count, Int32(MSG_DONTWAIT)) >= 88, answer[4] == 20
        else { return false }
        let (user, file) = answer.withUnsafeBytes {
          ($0.load(fromByteOffset: 80, as: UInt32.self), $0.load(fromByteOffset: 84, as: UInt32.self))
        }
        // A socket without an open descriptor has no inode.
        return user == geteuid() && file != 0
      #else
        return true
      #endif
    }

    private static func number(_ number: some FixedWidthInteger) -> [UInt8] {
      withUnsafeBytes(of: number) { Array($0) }
    }

    /// An IPv4 address, padded to the length of either family.
    private static func address(_ address: SocketAddress) -> [UInt8] {
      let bytes = (address.ipAddress ?? "").split(separator: ".").compactMap { UInt8($0) }
      return bytes + [UInt8](repeating: 0, count: 16 - bytes.count)
    }
  }
#endif
