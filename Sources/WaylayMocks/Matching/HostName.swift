/// The form of a host's name that equal names share.
enum HostName {
  /// Lower case, percent-encoded octets decoded, `xn--` labels as Unicode (RFC 3492, RFC 5890), no dot at the end.
  static func normalized(_ host: String) -> String {
    isNormal(host.utf8) ? host : folded(host)
  }

  /// Whether nothing needs to be done to a name; `false` for some that need nothing either.
  static func isNormal(_ bytes: some Sequence<UInt8>) -> Bool {
    var previous = UInt8(ascii: ".")
    for byte in bytes {
      if byte >= 0x80 || byte >= 0x41 && byte <= 0x5A || byte == UInt8(ascii: "%") { return false }
      if previous == UInt8(ascii: "."), byte == UInt8(ascii: "x") { return false }
      previous = byte
    }
    return previous != UInt8(ascii: ".")
  }

  private static func folded(_ host: String) -> String {
    var name = PercentCoding.decoded(host).precomposedStringWithCompatibilityMapping.lowercased()
    // The other full stops of IDNA (RFC 3490, section 3.1).
    if name.utf8.contains(where: { $0 >= 0x80 }) {
      name = String(name.map { "\u{3002}\u{FF0E}\u{FF61}".contains($0) ? "." : $0 })
    }
    if name.hasSuffix("."), name.utf8.count > 1 { name.removeLast() }
    guard name.contains("xn--") else { return name }
    return name.split(separator: ".", omittingEmptySubsequences: false)
      .map { label in
        guard label.hasPrefix("xn--"), let unicode = Punycode.decoded(label.dropFirst(4)) else { return String(label) }
        return unicode.precomposedStringWithCanonicalMapping
      }
      .joined(separator: ".")
  }
}
