/// A domain name as DNS messages hold it: labels, in lower case, so that two names are the same when their bytes are
/// (RFC 1035, section 2.3.3).
struct DNSName: Hashable, Sendable {
  /// Length and bytes of each label, without the empty label at the end.
  let wire: [UInt8]

  /// The empty name.
  static let root = DNSName(unchecked: [])

  /// Labels that are known to be of legal length.
  init(unchecked wire: [UInt8]) {
    self.wire = wire
  }

  /// Reads dotted text.
  ///
  /// - Throws: `HostError` for an empty or too long label, and for a name of more than 255 bytes.
  init(_ text: String) throws {
    var wire: [UInt8] = []
    for label in text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
      guard (1...63).contains(label.count) else {
        throw HostError(.invalidName, "\"\(text)\" has a label that is empty or has more than 63 bytes.", host: text)
      }
      wire.append(UInt8(truncatingIfNeeded: label.count))
      wire.append(contentsOf: label.lazy.map(Self.lowercased))
    }
    guard wire.count < 255 else { throw HostError(.invalidName, "\"\(text)\" has more than 255 bytes.", host: text) }
    self.wire = wire
  }

  /// The name of the HTTPS records of a host at a port (RFC 9460, section 9.1).
  init(service host: String, port: Int) throws {
    try self.init(port == 443 || port == 80 ? host : "_\(port)._https.\(host)")
  }

  static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  /// The labels, from the first to the last.
  var labels: [ArraySlice<UInt8>] {
    var labels: [ArraySlice<UInt8>] = []
    var position = 0
    while position < wire.count {
      let end = position + 1 + Int(wire[position])
      guard end <= wire.count else { break }
      labels.append(wire[(position + 1)..<end])
      position = end
    }
    return labels
  }
}

extension DNSName: CustomStringConvertible {
  /// Dotted text; bytes that are not printable, and dots and backslashes inside of labels, as `\DDD` (RFC 1035, section
  /// 5.1).
  var description: String {
    guard !wire.isEmpty else { return "." }
    return labels.map { label in
      label.map { byte in
        let isPlain = (0x21...0x7E).contains(byte) && byte != UInt8(ascii: ".") && byte != UInt8(ascii: "\\")
        if isPlain { return String(UnicodeScalar(byte)) }
        let digits = String(byte)
        return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
      }.joined()
    }.joined(separator: ".")
  }
}
