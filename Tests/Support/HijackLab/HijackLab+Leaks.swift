import Foundation
import TestOrigin

extension HijackLab {
  /// What hijackers have seen that they should not have: everything but the first message of TLS, which holds the
  /// host's name and nothing of the request.
  ///
  /// One with a certificate of its own may end the handshake before its name is found wrong; what counts is that
  /// nothing comes after.
  public func leaks() -> [String] {
    Hijacker.allCases.flatMap { hijacker -> [String] in
      guard let server = server(hijacker) else { return [] }
      let requests = server.requests.map { "\(hijacker) got the request \($0.method) \($0.target)" }
      let connections = server.connections.compactMap { connection -> String? in
        if server.isSecure {
          return connection.rawBytes.isEmpty ? nil : "\(hijacker) got \(connection.rawBytes.count) bytes of a request"
        }
        guard connection.rawBytes.isEmpty || Self.isClientHello(connection.rawBytes) else {
          return "\(hijacker) got \(connection.rawBytes.count) bytes that are not the first message of TLS"
        }
        return nil
      }
      return requests + connections
    }
  }

  /// Whether bytes are one ClientHello, whole or in part, and nothing after it but an alert (RFC 8446, sections 4.1.2
  /// and 5.1).
  static func isClientHello(_ bytes: Data) -> Bool {
    let bytes = [UInt8](bytes)
    guard bytes.count >= 6, bytes[0] == 22, bytes[1] == 3, bytes[5] == 1 else { return false }
    let end = 5 + Int(bytes[3]) << 8 + Int(bytes[4])
    guard bytes.count > end else { return true }
    return bytes[end] == 21 && bytes.count <= end + 5 + 2
  }
}
