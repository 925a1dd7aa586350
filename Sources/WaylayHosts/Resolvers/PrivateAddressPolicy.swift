/// Whether a resolver may give a private address for a public name.
///
/// In a DNS rebinding attack, a web page reaches the router at home through a name that anybody can register and that
/// leads into a private network. So answers for public names lose their loopback, private, link-local, multicast and
/// reserved addresses, and an answer without any others is an error. Names that are not public (single labels and names
/// below `local`, `localhost`, `internal` and `home.arpa`) are not checked, and neither are the addresses of a rule,
/// which were written by hand.
///
/// ```swift
/// let resolver = SystemResolver(privateAddresses: .allow(for: [try HostPattern("*.corp.example.com")]))
/// ```
public struct PrivateAddressPolicy: Hashable, Sendable {
  private let allowsAll: Bool
  private let exceptions: [HostPattern]

  /// Rejects private addresses for public names.
  public static let refuse = PrivateAddressPolicy(allowsAll: false, exceptions: [])
  /// Accepts all addresses from a resolver. For tests, and if all names are your own.
  public static let allow = PrivateAddressPolicy(allowsAll: true, exceptions: [])

  /// Rejects private addresses for public names, except for these.
  public static func allow(for exceptions: [HostPattern]) -> PrivateAddressPolicy {
    PrivateAddressPolicy(allowsAll: false, exceptions: exceptions)
  }

  /// Why an address is not one for a public name; `nil` when it is.
  func reason(against address: HostAddress, for host: HostName, port: Int) -> String? {
    guard !allowsAll, !host.isLocal, !exceptions.contains(where: { $0.matches(host, port: port) }) else { return nil }
    return address.specialPurpose
  }
}

extension HostResolution {
  /// The same answer without the addresses that a public name must not have.
  ///
  /// - Throws: ``HostError/Code/answerRefused`` when there are no others.
  func screened(for query: HostQuery, by policy: PrivateAddressPolicy) throws -> HostResolution {
    var screened = self
    screened.candidates = []
    for candidate in candidates {
      if let reason = policy.reason(against: candidate.address, for: query.host, port: query.port) {
        screened.refusals.append(Refusal(candidate.address, reason: reason))
      } else {
        screened.candidates.append(candidate)
      }
    }
    guard screened.candidates.isEmpty else { return screened }
    throw HostError(
      .answerRefused,
      "\(source) returned no public address for a public name: "
        + "\(screened.refusals.map(\.description).joined(separator: ", ")). If the name is yours, allow private "
        + "addresses for it.",
      host: query.host.description)
  }
}

extension HostAddress {
  /// What an address is for, when it is not for hosts of the internet (RFC 6890).
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
    // Forms that carry an IPv4 address in their last bits, or after 2002.
    case (0, _) where low >> 32 == 0, (0x0064_FF9B << 32, _) where low >> 32 == 0:
      return specialPurpose4(UInt32(truncatingIfNeeded: low))
    default: break
    }
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
