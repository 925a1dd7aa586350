/// Finds the addresses of hosts.
///
/// ### Use an existing resolver
///
/// ``DoHResolver`` uses DNS over HTTPS, ``SystemResolver`` the system, and ``HostRules`` a table; ``ResolverChain``
/// combines several resolvers in order. ``ResolutionCache`` caches the answers.
///
/// ### Implement a custom resolver
///
/// ```swift
/// struct FixedResolver: HostResolver {
///   let address: HostAddress
///
///   func resolve(_ host: HostName, port: Int) async throws -> HostResolution {
///     HostResolution([address], timeToLive: .seconds(60), source: name)
///   }
/// }
/// ```
///
/// A resolver does not cache: the ``ResolutionCache`` does. It throws ``HostError``: `HostError.notListed` if it does
/// not know the host, `HostError.noSuchHost` if it knows that the host does not exist, another code if it failed. It
/// ends when its task is cancelled.
public protocol HostResolver: Sendable {
  /// The name in events and logs. Default: the type's name.
  var name: String { get }

  /// Finds the addresses of a host. It never returns without an address: it throws.
  ///
  /// - Parameters:
  ///   - host: The host. Never an address literal.
  ///   - port: The URL's port. An HTTPS record belongs to a host and a port (RFC 9460, section 9.1); addresses belong
  ///     to the host alone.
  func resolve(_ host: HostName, port: Int) async throws -> HostResolution

  /// Tells the resolver that the network has changed, which invalidates its connections and measured times. Default:
  /// does nothing.
  func networkChanged()
}

extension HostResolver {
  /// The type's name.
  public var name: String { String(describing: Self.self) }

  /// Does nothing.
  public func networkChanged() {}

  func resolve(_ authority: HostAuthority) async throws -> HostResolution {
    try await resolve(authority.host, port: authority.port)
  }
}

/// A host and the port of its URL: the key of resolutions and health records.
package struct HostAuthority: Hashable, Sendable, CustomStringConvertible {
  package let host: HostName
  package let port: Int

  package init(_ host: HostName, port: Int = 443) {
    self.host = host
    self.port = port
  }

  package var description: String { "\(host):\(port)" }
}

/// The answer of a resolver: where to dial a host.
public struct HostResolution: Hashable, Sendable {
  /// The maximum number of addresses used per host, from a rule or an answer; the rest are ignored.
  static let mostCandidates = 64

  /// The addresses to dial, in the resolver's order of preference, with a port if it differs from the URL's. Never
  /// empty: a resolver without an address throws.
  public var endpoints: [HostEndpoint]
  /// How long the answer may be used.
  public var timeToLive: Duration
  /// The name of the resolver that gave the answer.
  public var source: String

  /// Makes an answer.
  public init(_ endpoints: [HostEndpoint], timeToLive: Duration, source: String) {
    self.endpoints = endpoints
    self.timeToLive = timeToLive
    self.source = source
  }

  /// Makes an answer of addresses, to be dialed at the URL's port.
  public init(_ addresses: [HostAddress], timeToLive: Duration, source: String) {
    self.init(addresses.map { HostEndpoint($0) }, timeToLive: timeToLive, source: source)
  }
}

/// Screens answers: a public name must not have a private address.
///
/// In a DNS rebinding attack, a web page reaches a home router through a public name of the attacker's that resolves to
/// a private address. So the cache removes loopback, private, link-local, multicast and reserved addresses of public
/// names from every answer, whether of a resolver or of its file.
extension HostResolution {
  /// Returns the same answer without the addresses that a public name must not have.
  ///
  /// - Parameter exceptions: The public names that may have special addresses.
  /// - Throws: `HostError.resolutionRejected` if no address remains.
  func screened(for query: HostAuthority, except exceptions: [HostPattern]) throws -> HostResolution {
    guard !query.host.isLocal, !exceptions.contains(where: { $0.matches(query.host, port: query.port) }) else {
      return self
    }
    var screened = self
    screened.endpoints = endpoints.filter { $0.address.specialPurpose == nil }
    guard screened.endpoints.isEmpty, !endpoints.isEmpty else { return screened }
    let reasons = endpoints.map { "\($0.address) \($0.address.specialPurpose ?? "")" }
    throw HostError(
      .resolutionRejected,
      "\(source) returned no public address for a public name: \(reasons.joined(separator: ", ")). If the name is "
        + "yours, add it to the names that may have private addresses.",
      host: query.host.description)
  }
}

extension HostAddress {
  /// The purpose of a special address (RFC 6890); `nil` for a public one.
  var specialPurpose: String? {
    func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    let bytes = bytes
    guard isIPv6 else { return Self.specialPurpose4(UInt32(number(bytes[...]))) }
    return Self.specialPurpose6(number(bytes[..<8]), number(bytes[8...]))
  }

  private static func specialPurpose6(_ high: UInt64, _ low: UInt64) -> String? {
    switch (high, low) {
    case (0, 0): return "is the unspecified address (RFC 4291, section 2.5.2)"
    case (0, 1): return "is a loopback address (RFC 4291, section 2.5.3)"
    // Forms that embed an IPv4 address in their last bits, or after the prefix 2002 (6to4).
    case (0, _) where low >> 32 == 0, (0x0064_FF9B << 32, _) where low >> 32 == 0:
      return specialPurpose4(UInt32(truncatingIfNeeded: low))
    // IPv4-translated: ::ffff:0:a.b.c.d (RFC 7915).
    case (0, _) where low >> 32 == 0xFFFF_0000: return specialPurpose4(UInt32(truncatingIfNeeded: low))
    default: break
    }
    if high >> 16 == 0x0064_FF9B_0001 { return "is an address for translation within a network (RFC 8215)" }
    if high >> 48 == 0x2002 { return specialPurpose4(UInt32(truncatingIfNeeded: high >> 16)) }
    if high >> 54 == 0xFE80 >> 6 { return "is a link-local address (RFC 4291, section 2.5.6)" }
    if high >> 54 == 0xFEC0 >> 6 { return "is a site-local address (RFC 3879)" }
    if high >> 57 == 0xFC >> 1 { return "is a unique local address (RFC 4193)" }
    if high >> 56 == 0xFF { return "is a multicast address (RFC 4291, section 2.7)" }
    return nil
  }

  private static func specialPurpose4(_ address: UInt32) -> String? {
    func isWithin(_ network: UInt32, _ bits: UInt32) -> Bool { address >> (32 - bits) == network >> (32 - bits) }
    if isWithin(0, 8) { return "is an address of \"this network\" (RFC 1122, section 3.2.1.3)" }
    if isWithin(0x7F00_0000, 8) { return "is a loopback address (RFC 1122, section 3.2.1.3)" }
    if isWithin(0x0A00_0000, 8) || isWithin(0xAC10_0000, 12) || isWithin(0xC0A8_0000, 16) {
      return "is a private address (RFC 1918)"
    }
    if isWithin(0xA9FE_0000, 16) { return "is a link-local address (RFC 3927)" }
    if isWithin(0x6440_0000, 10) { return "is an address shared by a provider's customers (RFC 6598)" }
    if isWithin(0xC000_0000, 24) { return "is an address for protocols (RFC 6890)" }
    if isWithin(0xC612_0000, 15) { return "is an address for measurements (RFC 2544)" }
    if isWithin(0xE000_0000, 4) { return "is a multicast address (RFC 5771)" }
    if isWithin(0xF000_0000, 4) { return "is a reserved address (RFC 1112)" }
    return nil
  }
}
