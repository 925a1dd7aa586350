#if Tunnel
  #if os(Linux)
    import Foundation
    import TestOrigin

    /// How the two ends of a connection through a tunnel send, read and end: made up from a seed. Sockets of the system's
    /// calls at both ends, so that nobody's idea of half a connection is tested but the tunnel's.
    struct EndSchedule: CustomStringConvertible {
      /// One end.
      struct Peer {
        /// What it sends; and how much of that before the other has ended.
        var size = 0
        var sizeBeforeEnd = 0
        /// The most that it reads at a time, out of a buffer that is small where it reads slowly.
        var chunk = 1 << 16
        var sent = 0
        var received = 0
        var hasEnded = false
        var hasSeenEnd = false
        var descriptor: CInt = -1

        var maySend: Bool { !hasEnded && (sent < sizeBeforeEnd || hasSeenEnd || size == sizeBeforeEnd) }
        var isOver: Bool { hasEnded && hasSeenEnd }
      }

      enum Beginning: CaseIterable {
        case plain, hello, request
      }

      let seed: Int
      let beginning: Beginning
      private var client = Peer()
      private var server = Peer()

      init(seed: Int) {
        self.seed = seed
        var random = SplitMix(state: UInt64(seed))
        func pick<Value>(_ values: [Value]) -> Value { values[Int(random.next() % UInt64(values.count))] }
        let sizes = [0, 1, 1000, 70_000, 220_000, 1_500_000]
        beginning = pick(Beginning.allCases)
        // A client that ends before it has said anything has gone, and such a server is no good one.
        let some = beginning == .plain ? Array(sizes.dropFirst()) : sizes
        (client.size, server.size) = (pick(some), pick(some))
        (client.chunk, server.chunk) = (pick([700, 1 << 16]), pick([700, 1 << 16]))
        (client.sizeBeforeEnd, server.sizeBeforeEnd) = (client.size, server.size)
        // One waits for the other's end at most. A server of HTTP may answer before it has the request, not end.
        switch random.next() % 3 {
        case 0: server.sizeBeforeEnd = pick([0, server.size / 2])
        case 1 where beginning != .request: client.sizeBeforeEnd = pick([0, client.size / 2])
        default: break
        }
      }

      var description: String {
        "seed \(seed), \(beginning): \(client.received) of \(server.size) came back, \(server.received) of \(client.size) arrived, "
          + "client \(client.hasSeenEnd) server \(server.hasSeenEnd)"
      }

      /// Runs it, and returns what went wrong.
      mutating func run(tunnel: Int, host: String, credentials: String, _ listener: CInt, _ port: Int) -> String? {
        defer { for descriptor in [client.descriptor, server.descriptor] where descriptor >= 0 { close(descriptor) } }
        do {
          client.descriptor = try Self.socket(smallBuffer: client.chunk < 1000)
          try Self.connect(client.descriptor, tunnel)
          let target = "\(host):\(port)"
          var request = "CONNECT \(target) HTTP/1.1\r\n\(credentials)\r\n"
          if beginning == .request {
            request = "PUT http://\(target)/ HTTP/1.1\r\n\(credentials)Content-Length: \(client.size)\r\n\r\n"
          }
          try Self.say(Array(request.utf8), client.descriptor)
          if beginning != .request { try Self.head(client.descriptor) }
          server.descriptor = accept(listener, nil, nil)
          guard server.descriptor >= 0 else { throw Failure("nobody came") }
          try Self.prepare(server.descriptor, smallBuffer: server.chunk < 1000)
          switch beginning {
          case .plain: break
          case .hello:
            let hello = Hello.record(host: host)
            try Self.say(hello, client.descriptor)
            try Self.hear(hello.count, server.descriptor)
            try Self.say([22, 3, 3, 0, 1, 2], server.descriptor)
            try Self.hear(6, client.descriptor)
          case .request:
            try Self.head(server.descriptor)
            try Self.say(Array("HTTP/1.1 200 OK\r\n\r\n".utf8), server.descriptor)
            try Self.head(client.descriptor)
          }
          while !client.isOver || !server.isOver { try turn() }
        } catch { return "\(self): \((error as? Failure)?.text ?? "\(error)")" }
        return client.received == server.size && server.received == client.size ? nil : "\(self): not all has come"
      }

      private mutating func turn() throws {
        var waits = [client, server].map { peer in
          pollfd(
            fd: peer.isOver ? -1 : peer.descriptor,
            events: Int16((peer.hasSeenEnd ? 0 : POLLIN) | (peer.maySend ? POLLOUT : 0)), revents: 0)
        }
        guard poll(&waits, 2, 30_000) > 0 else { throw Failure("nothing happens") }
        try Self.step(&client, of: server.size, waits[0].revents)
        try Self.step(&server, of: client.size, waits[1].revents)
      }

      private static func step(_ peer: inout Peer, of expected: Int, _ events: Int16) throws {
        if Int32(events) & (POLLIN | POLLHUP | POLLERR) != 0, !peer.hasSeenEnd {
          var bytes = [UInt8](repeating: 0, count: peer.chunk)
          let count = recv(peer.descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
          if count < 0, errno != EAGAIN { throw Failure("recv: \(errno)") }
          if count == 0 { peer.hasSeenEnd = true }
          if count > 0 {
            let isRight = pattern.withUnsafeBytes { memcmp($0.baseAddress! + peer.received % 251, bytes, count) == 0 }
            guard isRight else { throw Failure("other bytes") }
            peer.received += count
          }
        }
        if Int32(events) & POLLOUT != 0, peer.maySend {
          let limit = peer.hasSeenEnd ? peer.size : peer.sizeBeforeEnd
          let count = min(1 << 16, limit - peer.sent)
          let sent =
            count == 0
            ? 0
            : pattern.withUnsafeBytes {
              send(
                peer.descriptor, $0.baseAddress! + peer.sent % 251, count,
                Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            }
          if sent < 0, errno != EAGAIN { throw Failure("send: \(errno)") }
          peer.sent += max(0, sent)
          if peer.sent == peer.size {
            peer.hasEnded = true
            shutdown(peer.descriptor, Int32(SHUT_WR))
          }
        }
      }

      /// Bytes whose place can be told.
      private static let pattern = (0..<(1 << 16) + 251).map { UInt8($0 % 251) }

      // MARK: Sockets

      struct Failure: Error {
        let text: String
        init(_ text: String) { self.text = text }
      }

      static func socket(smallBuffer: Bool = false) throws -> CInt {
        let descriptor = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure("socket: \(errno)") }
        try prepare(descriptor, smallBuffer: smallBuffer)
        return descriptor
      }

      private static func prepare(_ descriptor: CInt, smallBuffer: Bool) throws {
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var size: CInt = 32 << 10
        if smallBuffer { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size)) }
      }

      private static func withAddress<Result>(
        _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
      ) -> Result {
        var address = sockaddr_in()
        (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
      }

      private static func connect(_ descriptor: CInt, _ port: Int) throws {
        guard withAddress(port, { Foundation.connect(descriptor, $0, $1) }) == 0 else {
          throw Failure("connect: \(errno)")
        }
      }

      /// A listener and its port.
      static func listener() throws -> (descriptor: CInt, port: Int) {
        let descriptor = try socket()
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard withAddress(0, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 64) == 0,
          withUnsafeMutablePointer(
            to: &address,
            { $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) } }) == 0
        else { throw Failure("listen: \(errno)") }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
      }

      private static func say(_ bytes: [UInt8], _ descriptor: CInt) throws {
        guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
          throw Failure("send: \(errno)")
        }
      }

      @discardableResult
      private static func hear(_ count: Int, _ descriptor: CInt) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard recv(descriptor, &bytes, count, Int32(MSG_WAITALL)) == count else {
          throw Failure("recv: \(errno)")
        }
        return bytes
      }

      /// Reads a head, and not a byte more.
      private static func head(_ descriptor: CInt) throws {
        var last: [UInt8] = []
        while last != [13, 10, 13, 10] { last = last.suffix(3) + (try hear(1, descriptor)) }
      }
    }
  #endif
#endif
