/// Percent-encoded octets (RFC 3986, section 2.1).
enum PercentCoding {
  /// The text that `bytes` stand for. A percent sign without two digits after it stands for itself; what is not UTF-8
  /// is repaired.
  static func decoded<Bytes: BidirectionalCollection>(_ bytes: Bytes, plusIsSpace: Bool = false) -> String
  where Bytes.Element == UInt8 {
    guard bytes.contains(where: { $0 == UInt8(ascii: "%") || plusIsSpace && $0 == UInt8(ascii: "+") }) else {
      return String(decoding: bytes, as: UTF8.self)
    }
    return String(decoding: octets(bytes, plusIsSpace: plusIsSpace), as: UTF8.self)
  }

  static func decoded(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String {
    decoded(Array(text.utf8), plusIsSpace: plusIsSpace)
  }

  private static func octets<Bytes: Collection>(_ bytes: Bytes, plusIsSpace: Bool) -> [UInt8]
  where Bytes.Element == UInt8 {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let high = rest.first.flatMap(digit),
        let low = rest.dropFirst().first.flatMap(digit)
      {
        result.append(high << 4 | low)
        rest = rest.dropFirst(2)
      } else {
        result.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    return result
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
