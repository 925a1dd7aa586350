import Foundation

/// The public key of a certificate, in the form that pins hash: its SubjectPublicKeyInfo (RFC 5280, section 4.1).
enum PublicKeyInfo {
  /// The digest for a certificate in PEM.
  static func digest(ofPEM text: String) -> Data? {
    Data(base64Encoded: text.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined())
      .flatMap(digest(ofCertificate:))
  }

  /// The SHA-256 of the public key; `nil` if the data is not a DER certificate.
  static func digest(ofCertificate der: Data) -> Data? {
    var certificate = Elements(Array(der)[...])
    guard var outer = certificate.next(0x30), var inner = outer.inside.next(0x30) else { return nil }
    // The optional version; serial number, algorithm, issuer, validity, subject.
    if inner.inside.tag == 0xA0 { _ = inner.inside.next() }
    for _ in 1...5 { guard inner.inside.next() != nil else { return nil } }
    guard let key = inner.inside.next(0x30) else { return nil }
    return Data(MessageDigest.sha256(bytes: Array(key.whole)))
  }

  private struct Element {
    let whole: ArraySlice<UInt8>
    var inside: Elements
  }

  /// A sequence of DER elements (X.690, sections 8.1 and 10.1).
  private struct Elements {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var tag: UInt8? { rest.first }

    mutating func next(_ wanted: UInt8? = nil) -> Element? {
      guard rest.count >= 2, let tag, wanted == nil || tag == wanted else { return nil }
      var (start, length) = (rest.startIndex + 2, Int(rest[rest.startIndex + 1]))
      if length >= 0x80 {
        let count = length - 0x80
        guard (1...3).contains(count), rest.endIndex - start >= count else { return nil }
        length = rest[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
        start += count
      }
      guard rest.endIndex - start >= length else { return nil }
      let whole = rest[..<(start + length)]
      rest = rest[(start + length)...]
      return Element(whole: whole, inside: Elements(whole[start...]))
    }
  }
}
