/// The form of a host's name that equal names share.
enum HostName {
  /// Lower case, percent-encoded octets decoded, `xn--` labels as Unicode (RFC 3492, RFC 5890), no dot at the end.
  static func normalized(_ host: String) -> String {
    var needsWork = false
    var isLabelStart = true
    var previous: UInt8 = 0
    for byte in host.utf8 {
      if byte >= 0x80 || byte >= 0x41 && byte <= 0x5A || byte == UInt8(ascii: "%") { needsWork = true }
      if isLabelStart, byte == UInt8(ascii: "x") { needsWork = true }
      isLabelStart = byte == UInt8(ascii: ".")
      previous = byte
    }
    guard needsWork || previous == UInt8(ascii: ".") else { return host }
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
