import Foundation

extension SecretScanner {
  /// JSON in base64 (RFC 4648, sections 4 and 5), where it begins: `{"` is `ey`, and `[{`, `["` and so on begin with `W`.
  /// It is redacted as what it is, and coded again.
  mutating func replaceCoded(at start: Int) {
    guard depth < Self.mostCodings, start == 0 || !bytes[start - 1].isOfBase64 else { return }
    var end = start
    while end < bytes.count, bytes[end].isOfBase64 { end += 1 }
    // Of what was cut off, whole bytes.
    let count = (end - start) % 4 == 1 ? end - start - 1 : end - start
    guard count >= 12 else { return }
    let isForURLs = bytes[start..<end].contains { "-_".utf8.contains($0) }
    let digits = bytes[start..<start + count].map { byte in
      switch byte {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: byte
      }
    }
    let padded = digits + Array(repeating: UInt8(ascii: "="), count: (4 - count % 4) % 4)
    guard let plain = Data(base64Encoded: Data(padded)), plain.first.map({ "{[".utf8.contains($0) }) == true else {
      return
    }
    var inner = SecretScanner(redaction: redaction, depth: depth + 1)
    let redacted = inner.redacted(Array(plain), mediaType: "application/json")
    guard redacted != Array(plain) else { return }
    found.formUnion(inner.found)
    var coded = Data(redacted).base64EncodedString()
    if isForURLs { coded = coded.replacing("+", with: "-").replacing("/", with: "_") }
    var stop = end
    while stop < bytes.count, stop - end < 2, bytes[stop] == UInt8(ascii: "=") { stop += 1 }
    // As it was: where none was needed, decoders may ask for it all the same.
    if stop == end, isForURLs || count % 4 != 0 { coded.removeAll { $0 == "=" } }
    replace(start..<stop, by: coded, secret: "")
  }

  /// Base64 in base64 in base64 is somebody's game.
  private static let mostCodings = 2
}

extension UInt8 {
  /// Whether it is a digit of one of the alphabets of base64.
  fileprivate var isOfBase64: Bool {
    switch self {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "+/-_".utf8.contains(self)
    }
  }
}
