/// A URL taken apart for matching, in the form that equal URLs share: percent-encoded octets decoded part by part, the
/// host in lower case and in A-labels, the port of the scheme where none is written.
struct ParsedURL: Sendable {
  let url: URL
  var scheme = ""
  var host = ""
  /// The port, or the scheme's; 0 where there is neither.
  var port = 0
  /// What stands between the slashes; the last is empty when the path ends in one. `/` and no path at all are one empty
  /// segment.
  var segments: [String] = []
  /// What stands after the question mark, as written; `nil` without one.
  var query: String?

  init(_ url: URL) {
    self.url = url
    var text = url.absoluteString
    text.withUTF8 { parse($0) }
  }

  private mutating func parse(_ bytes: UnsafeBufferPointer<UInt8>) {
    let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
    var position = 0
    if let colon = bytes[..<end].firstIndex(of: UInt8(ascii: ":")), Self.isScheme(bytes[..<colon]) {
      scheme = String(decoding: bytes[..<colon], as: UTF8.self)
      if bytes[..<colon].contains(where: { $0 < 0x61 }) { scheme = scheme.lowercased() }
      position = colon + 1
    }
    if position + 1 < end, bytes[position] == UInt8(ascii: "/"), bytes[position + 1] == UInt8(ascii: "/") {
      position += 2
      let authorityEnd = bytes[position..<end].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? end
      parseAuthority(bytes, position..<authorityEnd)
      position = authorityEnd
    }
    let queryStart = bytes[position..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
    if queryStart < end { query = String(decoding: bytes[(queryStart + 1)..<end], as: UTF8.self) }
    parsePath(bytes, position..<queryStart)
    if port == 0 { port = Self.defaultPort(of: scheme) }
  }

  private mutating func parseAuthority(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
    var start = range.lowerBound
    var end = range.upperBound
    if let at = bytes[range].lastIndex(of: UInt8(ascii: "@")) { start = at + 1 }
    if let colon = bytes[start..<end].lastIndex(of: UInt8(ascii: ":")),
      !bytes[colon..<end].contains(UInt8(ascii: "]"))
    {
      if let number = Int(String(decoding: bytes[(colon + 1)..<end], as: UTF8.self)) { port = number }
      end = colon
    }
    host = HostName.comparable(PercentCoding.decoded(bytes[start..<end]))
  }

  private mutating func parsePath(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
    var start = range.lowerBound
    if start < range.upperBound, bytes[start] == UInt8(ascii: "/") { start += 1 }
    segments.reserveCapacity(4)
    while true {
      let end = bytes[start..<range.upperBound].firstIndex(of: UInt8(ascii: "/")) ?? range.upperBound
      segments.append(PercentCoding.decoded(bytes[start..<end]))
      guard end < range.upperBound else { return }
      start = end + 1
    }
  }

  private static func isScheme(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    guard let first = bytes.first, (first | 0x20) >= 0x61, (first | 0x20) <= 0x7A else { return false }
    return bytes.allSatisfy {
      ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A || $0 >= 0x30 && $0 <= 0x39 || $0 == UInt8(ascii: "+")
        || $0 == UInt8(ascii: "-")
        || $0 == UInt8(ascii: ".")
    }
  }

  static func defaultPort(of scheme: String) -> Int {
    switch scheme {
    case "http", "ws": 80
    case "https", "wss": 443
    default: 0
    }
  }

  /// The path with its segments decoded.
  var path: String { "/" + segments.joined(separator: "/") }
}
