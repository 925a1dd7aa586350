public import Foundation
import NIOConcurrencyHelpers
import NIOCore

/// A port that refuses connections: it is taken, so that nothing else comes to listen on it, and nobody listens.
public final class ClosedPort: Sendable {
  /// The port.
  public let port: Int
  private let host: String
  private let descriptor: NIOLockedValueBox<CInt?>

  /// Takes a port of a loopback address: a free one, or a particular one.
  public convenience init(host: String = "127.0.0.1", port: Int = 0) throws {
    try self.init(host: host, port: port, besideListener: false)
  }

  /// - Parameter besideListener: Whether a listener of this process has the port still, and lets it be shared.
  init(host: String, port: Int, besideListener: Bool) throws {
    let address = try SocketAddress.makeAddressResolvingHost(host, port: port)
    let descriptor = try Self.socket(for: address)
    do {
      if besideListener { try Self.set(SO_REUSEPORT, of: descriptor, true) }
      do {
        try Self.bind(descriptor, to: address)
      } catch  where port > 0 {
        // Connections that are open, or were lately, are no obstacle; another closed port would be none either, so this
        // comes second.
        try Self.setReusable(descriptor, true)
        try Self.bind(descriptor, to: address)
        try Self.setReusable(descriptor, false)
      }
      // Nobody else is let in.
      if besideListener { try Self.set(SO_REUSEPORT, of: descriptor, false) }
      self.port = try Self.port(of: descriptor)
    } catch {
      Foundation.close(descriptor)
      throw error
    }
    self.host = host
    self.descriptor = NIOLockedValueBox(descriptor)
  }

  deinit { close() }

  /// Gives the port back.
  public func close() {
    let descriptor = descriptor.withLockedValue { descriptor in
      defer { descriptor = nil }
      return descriptor
    }
    if let descriptor { Foundation.close(descriptor) }
  }

  /// The URL of a path on this port.
  public func url(_ path: String = "/", scheme: String = "http") -> URL {
    let authority = host.contains(":") ? "[\(host)]" : host
    guard let url = URL(string: "\(scheme)://\(authority):\(port)\(path)") else {
      preconditionFailure("not a path: \(path)")
    }
    return url
  }

  private static func bind(_ descriptor: CInt, to address: SocketAddress) throws {
    try check("bind", address.withSockAddr { Foundation.bind(descriptor, $0, socklen_t($1)) })
  }

  private static func setReusable(_ descriptor: CInt, _ isReusable: Bool) throws {
    try set(SO_REUSEADDR, of: descriptor, isReusable)
  }

  private static func set(_ option: CInt, of descriptor: CInt, _ isOn: Bool) throws {
    var value: CInt = isOn ? 1 : 0
    try check("setsockopt", setsockopt(descriptor, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<CInt>.size)))
  }

  /// A socket that a process started from this one does not get: it would keep the port when this one gives it back.
  private static func socket(for address: SocketAddress) throws -> CInt {
    let descriptor = try check("socket", Foundation.socket(address.protocol.rawValue, streamSocketType, 0))
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
  }

  /// A socket that is bound and may listen; its taker closes it. SwiftNIO's own are passed on to other
  /// processes.
  static func listener(host: String, port: Int) throws -> CInt {
    let address = try SocketAddress.makeAddressResolvingHost(host, port: port)
    let descriptor = try socket(for: address)
    do {
      try setReusable(descriptor, true)
      try bind(descriptor, to: address)
      return descriptor
    } catch {
      Foundation.close(descriptor)
      throw error
    }
  }

  private static func port(of descriptor: CInt) throws -> Int {
    // Room for an address of either family. Both have the port after two bytes, in network order.
    try withUnsafeTemporaryAllocation(byteCount: 128, alignment: 8) { bytes in
      var length = socklen_t(bytes.count)
      // The buffer is not empty, so it has a base address.
      try check(
        "getsockname", getsockname(descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), &length))
      return Int(UInt16(bigEndian: bytes.load(fromByteOffset: 2, as: UInt16.self)))
    }
  }

  @discardableResult
  private static func check(_ call: String, _ result: CInt) throws -> CInt {
    guard result >= 0 else { throw IOError(errnoCode: errno, reason: call) }
    return result
  }
}
