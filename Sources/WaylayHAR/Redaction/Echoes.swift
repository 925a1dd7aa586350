import Foundation

/// Secrets in all the spellings in which they may come again.
struct Echoes {
  /// The longest first: a secret may be a part of another.
  private let spellings: [[UInt8]]
  private let replacement: [UInt8]
  /// The secrets as they are, the longest first.
  private let plain: [[UInt8]]

  var isEmpty: Bool { spellings.isEmpty }

  /// - Parameter secrets: Those of fewer than six bytes are left out: they would be found in texts that have nothing to
  ///   do with them.
  init(of secrets: Set<String>, replacement: String) {
    var spellings: Set<[UInt8]> = []
    for secret in secrets where secret != replacement {
      let plain = secret.removingPercentEncoding ?? secret
      var json = JSONWriter()
      json.text(plain)
      for text in [secret, plain, plain.replacing(" ", with: "+"), Data(plain.utf8).base64EncodedString()] {
        spellings.insert(Array(text.utf8))
      }
      for text in Self.base64(within: plain) { spellings.insert(Array(text.utf8)) }
      spellings.insert(Array(json.bytes.dropFirst().dropLast()))
    }
    plain = Set(secrets.map { $0.removingPercentEncoding ?? $0 }).map { Array($0.utf8) }.filter { $0.count >= 6 }
      .sorted { ($1.count, $0.lexicographicKey) < ($0.count, $1.lexicographicKey) }
    self.spellings = spellings.filter { $0.count >= 6 }.sorted {
      ($1.count, $0.lexicographicKey) < ($0.count, $1.lexicographicKey)
    }
    self.replacement = Array(replacement.utf8)
  }

  /// How the bytes of a secret read in the base64 of a longer text: by where they begin in it, in both alphabets.
  private static func base64(within secret: String) -> [String] {
    (0..<3).flatMap { offset -> [String] in
      let bytes = Data(repeating: 0, count: offset) + Data(secret.utf8)
      // Characters at both ends have bits of what stands beside it.
      let whole = bytes.base64EncodedString().dropFirst([0, 2, 3][offset])
      let text = String(whole.dropLast(bytes.count % 3 == 0 ? 0 : bytes.count % 3 == 1 ? 3 : 2))
      guard text.utf8.count >= 8 else { return [] }
      return [text, text.replacing("+", with: "-").replacing("/", with: "_")]
    }
  }

  func removed(from bytes: [UInt8]) -> [UInt8] {
    spellings.reduce(removedWithinBase64(bytes)) { removed($1, from: $0) }
  }

  /// Removes secrets from within what is base64 of a longer text, so that it stays base64.
  private func removedWithinBase64(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var (copied, start) = (0, 0)
    while start < bytes.count {
      guard bytes[start].isBase64 else {
        start += 1
        continue
      }
      var end = start
      while end < bytes.count, bytes[end].isBase64 { end += 1 }
      let stop = end
      while end < bytes.count, end - stop < 2, bytes[end] == UInt8(ascii: "=") { end += 1 }
      if stop - start >= 12, let redacted = redacted(base64: bytes[start..<stop], isPadded: end > stop) {
        result += bytes[copied..<start] + redacted
        copied = end
      }
      start = end
    }
    return copied == 0 ? bytes : result + bytes[copied...]
  }

  private func redacted(base64 text: ArraySlice<UInt8>, isPadded: Bool) -> [UInt8]? {
    let isOfURLs = text.contains { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    var standard = text.map { byte -> UInt8 in
      switch byte {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: byte
      }
    }
    while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
    guard let decoded = Data(base64Encoded: Data(standard)),
      plain.contains(where: { decoded.firstRange(of: $0) != nil })
    else { return nil }
    if plain.contains(where: { decoded.elementsEqual($0) }) { return replacement }
    let redacted = Data(plain.reduce(Array(decoded)) { removed($1, from: $0) }).base64EncodedString()
    let plainText = isPadded ? redacted : String(redacted.prefix { $0 != "=" })
    return Array(
      (isOfURLs ? plainText.replacing("+", with: "-").replacing("/", with: "_") : plainText).utf8)
  }

  private func removed(_ spelling: [UInt8], from bytes: [UInt8]) -> [UInt8] {
    guard bytes.count >= spelling.count else { return bytes }
    // Percent signs may stand for any of its bytes.
    let (plain, offsets) = bytes.contains(UInt8(ascii: "%")) ? Self.unescaped(bytes) : (Data(bytes), nil)
    guard var found = plain.firstRange(of: spelling) else { return bytes }
    var result: [UInt8] = []
    var end = 0
    while true {
      result += bytes[end..<(offsets?[found.lowerBound] ?? found.lowerBound)]
      result += replacement
      end = offsets?[found.upperBound] ?? found.upperBound
      guard let next = plain[found.upperBound...].firstRange(of: spelling) else { break }
      found = next
    }
    return result + bytes[end...]
  }

  /// The bytes without percent signs, and where each of them, and the end, is in the original.
  private static func unescaped(_ bytes: [UInt8]) -> (Data, [Int]?) {
    var (plain, offsets) = (Data(), [Int]())
    var index = 0
    while index < bytes.count {
      offsets.append(index)
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
        let byte = UInt8(hex: bytes[index + 1], bytes[index + 2])
      {
        plain.append(byte)
        index += 3
      } else {
        plain.append(bytes[index])
        index += 1
      }
    }
    return (plain, offsets + [bytes.count])
  }

  func removed(from text: String) -> String { String(decoding: removed(from: Array(text.utf8)), as: UTF8.self) }

  func removed(from field: HAR.Field) -> HAR.Field {
    var field = field
    field.value = removed(from: field.value)
    field.comment = field.comment.map { removed(from: $0) }
    return field
  }

  func removed(from members: [String: JSONValue]) -> [String: JSONValue] {
    Dictionary(members.map { (removed(from: $0.key), removed(from: $0.value)) }) { $1 }
  }

  private func removed(from value: JSONValue) -> JSONValue {
    switch value.kind {
    case .string(let text): JSONValue(removed(from: text))
    case .array(let values): JSONValue(values.map { removed(from: $0) })
    case .object(let members):
      JSONValue(
        .object(members.map { JSONValue.Member(name: removed(from: $0.name), value: removed(from: $0.value)) }))
    default: value
    }
  }
}

extension [UInt8] {
  /// Orders spellings of one length, so that the result is the same each time.
  fileprivate var lexicographicKey: String { String(decoding: self, as: UTF8.self) }
}

extension UInt8 {
  /// Whether it is of one of the alphabets of base64 (RFC 4648, sections 4 and 5).
  fileprivate var isBase64: Bool {
    switch self {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// The byte that two digits of base 16 stand for.
  fileprivate init?(hex high: UInt8, _ low: UInt8) {
    func digit(_ byte: UInt8) -> UInt8? {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
      default: nil
      }
    }
    guard let high = digit(high), let low = digit(low) else { return nil }
    self = high << 4 | low
  }
}
