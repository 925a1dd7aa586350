import Foundation
import NIOCore
import TestOrigin

/// Sends a text and reads what comes, with the calls of the system: what they say of the end of a connection is exact.
enum BlockingClient {
  /// What came, and the number of the error that it ended with; 0 is an orderly end.
  static func exchange(_ text: String, with origin: TestOrigin) throws -> (text: String, error: CInt) {
    // SOCK_STREAM, which is an enumeration in some C libraries.
    let descriptor = socket(AF_INET, 1, 0)
    defer { close(descriptor) }
    let address = try SocketAddress(ipAddress: "127.0.0.1", port: origin.port)
    guard address.withSockAddr({ connect(descriptor, $0, socklen_t($1)) }) == 0 else { return ("", errno) }
    if !text.isEmpty, send(descriptor, text, text.utf8.count, 0) < 0 { return ("", errno) }
    var received = Data()
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { return (String(decoding: received, as: UTF8.self), count < 0 ? errno : 0) }
      received.append(contentsOf: buffer.prefix(count))
    }
  }
}
