/// An address to dial, and the port if it differs from the URL's.
///
/// ```swift
/// let plain = try HostEndpoint("203.0.113.7")
/// let other = try HostEndpoint("[2001:db8::7]:8443")
/// ```
public struct HostEndpoint: Hashable, Sendable, CustomStringConvertible {
  /// The address.
  public let address: HostAddress
  /// The port to dial; `nil` for the URL's.
  public let port: Int?

  /// Makes an endpoint.
  ///
  /// - Throws: ``HostError/Code/invalidName`` for an invalid port: valid ones are 1 to 65535.
  public init(_ address: HostAddress, port: Int? = nil) throws {
    if let port, !(1...65535).contains(port) {
      throw HostError(.invalidName, "\(port) is not a port: use 1 to 65535.", host: address.literal)
    }
    self.address = address
    self.port = port
  }

  /// Parses `203.0.113.7`, `203.0.113.7:8443`, `2001:db8::7`, `[2001:db8::7]` or `[2001:db8::7]:8443`.
  ///
  /// - Throws: ``HostError/Code/invalidName`` for anything else.
  public init(_ text: String) throws {
    do throws(WaylayError) {
      let pattern = try HostPattern(text)
      let isName = pattern.isWildcard || !(pattern.name?.isAddress ?? false)
      (address, port) = (try HostAddress(isName ? text : pattern.name?.description ?? text), pattern.port)
    } catch {
      throw HostError(error, host: text)
    }
  }

  /// The text form, which ``init(_:)`` parses.
  public var description: String {
    guard let port else { return address.literal }
    return address.isIPv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
  }
}

extension HostAddress {
  /// Reads the address of a server.
  init(server text: String) throws(HostError) {
    do throws(WaylayError) { try self.init(text) } catch { throw HostError(error, host: text) }
  }
}
