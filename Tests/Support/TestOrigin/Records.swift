public import Foundation

extension TestOrigin {
  /// A request as it came.
  public struct Request: Sendable {
    /// The connection's number, from 1.
    public let connection: Int
    /// The address that it came in on, such as `127.0.0.2`.
    public let localAddress: String
    /// The version of HTTP: `1.0`, `1.1` or `2`.
    public let httpVersion: String
    /// The method.
    public let method: String
    /// Path and query as they stood on the wire.
    public let target: String
    /// The header fields in order, names as they stood on the wire; of HTTP/2, `:authority` as `host`.
    public let fields: [(name: String, value: String)]
    /// The body.
    public var body = Data()

    /// The path without the query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The values of a field, whatever the case of its name.
    public subscript(name: String) -> [String] {
      fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// The values of a query item, percent-decoded.
    public func query(_ name: String) -> String? {
      URLComponents(string: target)?.queryItems?.first { $0.name == name }?.value
    }

    /// Request line and header fields as text.
    public var head: String {
      (["\(method) \(target) HTTP/\(httpVersion)"] + fields.map { "\($0.name): \($0.value)" }).joined(separator: "\n")
    }
  }

  /// A connection, and what is known of it so far.
  public struct Connection: Sendable {
    /// Its number, from 1.
    public let number: Int
    /// The address that it came in on, such as `127.0.0.2`.
    public let localAddress: String
    /// The client's address.
    public let remoteAddress: String
    /// The client's port.
    public let remotePort: Int
    /// The server name that the client sent in TLS (SNI).
    public internal(set) var sni: String?
    /// The protocol that was agreed on in TLS (ALPN).
    public internal(set) var alpn: String?
    /// The version of TLS; `nil` until the handshake is over.
    public internal(set) var tlsVersion: TLS.Version?
    /// What went wrong in the handshake.
    public internal(set) var handshakeFailure: String?
    /// Why the server has ended a connection of HTTP/2.
    public internal(set) var protocolFailure: String?
    /// What was received, before parsing and after decryption.
    public internal(set) var rawBytes = Data()
    /// Whether it is still open.
    public internal(set) var isOpen = true
    /// Whether a handshake was begun and is not over.
    var isHandshaking = false

    init(number: Int, localAddress: String, remoteAddress: String, remotePort: Int) {
      self.number = number
      self.localAddress = localAddress
      self.remoteAddress = remoteAddress
      self.remotePort = remotePort
    }
  }
}
