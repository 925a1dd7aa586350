import Foundation

/// `getaddrinfo` (RFC 3493, section 6.1).
enum SystemLookup {
  // glibc declares `SOCK_STREAM` as an enumeration.
  #if canImport(Darwin) || canImport(Musl) || canImport(Android)
    private static let stream = SOCK_STREAM
  #else
    private static let stream = Int32(SOCK_STREAM.rawValue)
  #endif

  /// The addresses of a host, in the system's order. Blocks until the system returns.
  static func addresses(of host: String) throws -> [HostAddress] {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = stream
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, nil, &hints, &list)
    defer { if let list { freeaddrinfo(list) } }
    guard code == 0 else { throw error(code, host) }
    var found: [HostAddress] = []
    var next = list
    while let entry = next?.pointee {
      next = entry.ai_next
      guard let address = address(entry), !found.contains(address) else { continue }
      found.append(address)
    }
    guard !found.isEmpty else {
      throw HostError(.noSuchHost, "the system knows the host, but no address for it.", host: host)
    }
    return found
  }

  private static func address(_ entry: addrinfo) -> HostAddress? {
    guard let place = entry.ai_addr else { return nil }
    let bytes = UnsafeRawBufferPointer(start: place, count: Int(entry.ai_addrlen))
    switch entry.ai_family {
    // Behind the family and the port; in IPv6, also behind the flow.
    case AF_INET: return HostAddress(bytes: bytes.dropFirst(4).prefix(4))
    case AF_INET6: return HostAddress(bytes: bytes.dropFirst(8).prefix(16))
    default: return nil
    }
  }

  private static func error(_ code: Int32, _ host: String) -> HostError {
    let text = String(cString: gai_strerror(code))
    return code == EAI_NONAME
      ? HostError(.noSuchHost, "the system says: \(text).", host: host)
      : HostError(.resolverFailed, "the system could not look the host up: \(text).", host: host)
  }
}
