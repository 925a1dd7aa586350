/// A host name in the one form used for comparison: lowercase A-labels without a trailing dot.
///
/// ```swift
/// let name = try HostName("API.Bücher.example.")
/// print(name)                                             // api.xn--bcher-kva.example
/// print(name == (try HostName("api.bücher.EXAMPLE")))     // true
/// ```
///
/// An address literal is a name too (``isAddress``), in its canonical form. Labels consist of letters, digits, hyphens
/// and underscores, at most 63 of them; a name has at most 253 characters (RFC 1035, section 2.3.4).
public struct HostName: Hashable, Sendable, CustomStringConvertible {
  /// The name.
  public let description: String
  /// Whether the name is an address, or something that systems accept as one, such as `127.1` and `0x7f000001`.
  public let isAddress: Bool

  /// Normalizes a name.
  ///
  /// - Throws: ``WaylayError/Code/invalidHost`` for text that is neither a name nor an address.
  public init(_ text: String) throws(WaylayError) {
    switch Self.shape(of: text) {
    case .folded: (description, isAddress) = (text, false)
    case .foreign: (description, isAddress) = try Self.folding(text)
    }
  }

  init(_ address: HostAddress) {
    (description, isAddress) = (address.literal, true)
  }

  /// Whether the name has no dot, such as `intranet` and `localhost`.
  public var isSingleLabel: Bool { !isAddress && !description.utf8.contains(UInt8(ascii: ".")) }

  /// Whether names of this kind are meaningful on one machine or in one network only: single labels, and names below
  /// `local` (RFC 6762), `localhost` (RFC 6761), `home.arpa` (RFC 8375) and `internal`.
  public var isLocal: Bool {
    guard !isAddress else { return false }
    return isSingleLabel || ["local", "localhost", "home.arpa", "internal"].contains { isBelow($0) }
  }

  private func isBelow(_ name: String) -> Bool { Self.isBelow(description, name) }

  static func isBelow(_ host: String, _ name: String) -> Bool {
    let utf8 = host.utf8
    return utf8.count > name.utf8.count && host.hasSuffix(name)
      && utf8[utf8.index(utf8.endIndex, offsetBy: -name.utf8.count - 1)] == UInt8(ascii: ".")
  }

  /// The text that hosts are compared by: the name's, or, for the host of a URL that is no name, its own in lower case
  /// without a final dot.
  package static func comparable(_ host: String) -> String {
    if shape(of: host) == .folded || host.isEmpty { return host }
    if let name = try? HostName(host) { return name.description }
    let text = host.lowercased()
    return text.utf8.last == UInt8(ascii: ".") ? String(text.dropLast()) : text
  }
}
