import FlyingSocks
import Foundation
import WaylayCore

/// Bytes between two connections, as they come, in both directions at once.
///
/// What one side does not take is not read from the other. An end of one direction is passed on, and the other goes on.
struct Tunnel {
  /// How long one stays while nothing goes through it.
  static let patience = Duration.seconds(600)

  /// What went through.
  struct Count: Sendable {
    var sent: Int64 = 0
    var received: Int64 = 0
    /// Whether the client began as TLS does, with a handshake (RFC 8446, section 5.1).
    var isTLS = false
  }

  private struct Flow {
    let from: Wire
    let to: Wire
    var buffer: [UInt8] = []
    var begin = 0
    var count: Int64 = 0
    var first: UInt8?
    var hasEnded = false
    var isOver = false

    var isEmpty: Bool { begin == buffer.count }
  }

  /// Passes bytes on until both sides have ended, or one is broken. It waits in `poll`: on a thread of its own.
  static func run(_ client: Wire, _ origin: Wire) -> Count {
    var up = Flow(from: client, to: origin, buffer: [UInt8](client.takeHeld()))
    (up.count, up.first) = (Int64(up.buffer.count), up.buffer.first)
    var down = Flow(from: origin, to: client)
    while !(up.isOver && down.isOver) {
      // A descriptor that nothing is wanted of is left out: that its other side is gone would wake us again and again.
      var entries = [wanted(client, reads: up, writes: down), wanted(origin, reads: down, writes: up)]
      let ready = poll(&entries, 2, Int32(clamping: Int(patience / .milliseconds(1))))
      if ready < 0, errno == EINTR { continue }
      guard ready > 0, step(&up, entries[0], entries[1]), step(&down, entries[1], entries[0]) else { break }
    }
    return Count(sent: up.count, received: down.count, isTLS: up.first == 0x16)
  }

  private static func wanted(_ wire: Wire, reads: Flow, writes: Flow) -> pollfd {
    var events: Int16 = 0
    if !reads.hasEnded, reads.isEmpty { events |= Int16(POLLIN) }
    if !writes.isEmpty { events |= Int16(POLLOUT) }
    return pollfd(fd: events == 0 ? -1 : wire.descriptor, events: events, revents: 0)
  }

  /// Moves what can be moved; `false` where a side is broken.
  private static func step(_ flow: inout Flow, _ from: pollfd, _ to: pollfd) -> Bool {
    if flow.isEmpty, !flow.hasEnded, from.fd >= 0, from.events & Int16(POLLIN) != 0, from.revents != 0 {
      flow.begin = 0
      flow.buffer = [UInt8](repeating: 0, count: 64 << 10)
      let count = Foundation.read(flow.from.descriptor, &flow.buffer, flow.buffer.count)
      let code = errno
      flow.buffer.removeLast(flow.buffer.count - max(0, count))
      if count < 0, code != EAGAIN, code != EINTR { return false }
      if count == 0 { flow.hasEnded = true }
      if flow.first == nil { flow.first = flow.buffer.first }
      flow.count += Int64(max(0, count))
    }
    if !flow.isEmpty {
      let (begin, descriptor) = (flow.begin, flow.to.descriptor)
      let count = flow.buffer.withUnsafeBytes {
        Foundation.write(descriptor, $0.baseAddress.map { $0 + begin }, $0.count - begin)
      }
      if count < 0, errno != EAGAIN, errno != EINTR { return false }
      flow.begin += max(0, count)
    }
    if flow.hasEnded, flow.isEmpty, !flow.isOver {
      flow.isOver = true
      flow.to.finish()
    }
    return true
  }
}

/// A host and a port, as `CONNECT` names them (RFC 9110, section 9.3.6).
struct Authority {
  let host: String
  let port: UInt16

  init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
      return nil
    }
    var host = text[..<colon]
    if host.first == "[", host.last == "]" {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    let isName = host.utf8.allSatisfy { byte in
      UnicodeScalar(byte).properties.isAlphabetic && byte < 0x80 || 0x30...0x39 ~= byte || "-._:".utf8.contains(byte)
    }
    guard !host.isEmpty, host.utf8.count <= 255, isName else { return nil }
    (self.host, self.port) = (String(host), port)
  }

  /// Why no connection was made.
  struct Failure: Error {
    let status: Int
    let reason: String
  }

  /// Connects to the first of its addresses that answers. It waits: on a thread of its own.
  ///
  /// - Parameter forbidden: A port of the loopback addresses that must not be connected to: our own.
  func connect(except forbidden: UInt16) throws -> (wire: Wire, address: String) {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_protocol = Int32(IPPROTO_TCP)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, String(port), &hints, &list)
    guard code == 0 else {
      throw Failure(status: 502, reason: "\(host) cannot be resolved: \(String(cString: gai_strerror(code))).")
    }
    defer { freeaddrinfo(list) }
    var reason = "\(host) has no address."
    for info in sequence(first: list, next: { $0?.pointee.ai_next }) {
      guard let info = info?.pointee, let address = info.ai_addr else { break }
      let text = Self.text(address, info.ai_addrlen)
      if port == forbidden,
        text.hasPrefix("127.") || text == "::1" || text.hasPrefix("::ffff:127.") || text == "0.0.0.0"
          || text == "::"
      {
        throw Failure(status: 508, reason: "\(host):\(port) is this proxy.")
      }
      guard let socket = try? Socket(domain: info.ai_family), let wire = try? Wire(socket) else {
        throw Failure(status: 503, reason: "No socket can be made: \(String(cString: strerror(errno))).")
      }
      let error = Self.connect(wire.descriptor, address, info.ai_addrlen)
      if error == 0 { return (wire, text) }
      wire.close()
      reason = "\(text):\(port) cannot be reached: \(String(cString: strerror(error)))."
    }
    throw Failure(status: 502, reason: reason)
  }

  /// - Returns: 0, or the system's error.
  private static func connect(
    _ descriptor: Int32, _ address: UnsafeMutablePointer<sockaddr>, _ length: socklen_t
  ) -> Int32 {
    if Foundation.connect(descriptor, address, length) == 0 { return 0 }
    guard errno == EINPROGRESS || errno == EINTR else { return errno }
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    var count: Int32 = -1
    repeat { count = poll(&entry, 1, 10_000) } while count < 0 && errno == EINTR
    guard count > 0 else { return count == 0 ? ETIMEDOUT : errno }
    var (error, size): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
    guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 else { return errno }
    return error
  }

  private static func text(_ address: UnsafeMutablePointer<sockaddr>, _ length: socklen_t) -> String {
    var host = [CChar](repeating: 0, count: 64)
    guard getnameinfo(address, length, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0 else { return "" }
    return String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
