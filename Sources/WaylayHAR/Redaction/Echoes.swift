import Foundation

/// Secrets in all the spellings in which they may come again.
struct Echoes {
  /// The longest first: a secret may be a part of another.
  private let spellings: [[UInt8]]
  private let replacement: [UInt8]

  var isEmpty: Bool { spellings.isEmpty }

  /// - Parameter secrets: Those of fewer than six bytes are left out: they would be found in texts that have nothing to
  ///   do with them.
  init(of secrets: Set<String>, replacement: String) {
    var spellings: Set<[UInt8]> = []
    for secret in secrets where secret != replacement {
      let plain = secret.removingPercentEncoding ?? secret
      var json = JSONText()
      json.text(plain)
      for text in [secret, plain, plain.replacing(" ", with: "+"), Data(plain.utf8).base64EncodedString()] {
        spellings.insert(Array(text.utf8))
      }
      spellings.insert(Array(json.bytes.dropFirst().dropLast()))
    }
    self.spellings = spellings.filter { $0.count >= 6 }.sorted {
      ($1.count, $0.lexicographicKey) < ($0.count, $1.lexicographicKey)
    }
    self.replacement = Array(replacement.utf8)
  }

  func removed(from bytes: [UInt8]) -> [UInt8] { spellings.reduce(bytes) { removed($1, from: $0) } }

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
    switch value {
    case .string(let text): .string(removed(from: text))
    case .array(let values): .array(values.map { removed(from: $0) })
    case .object(let members): .object(removed(from: members))
    default: value
    }
  }
}

extension [UInt8] {
  /// Orders spellings of one length, so that the result is the same each time.
  fileprivate var lexicographicKey: String { String(decoding: self, as: UTF8.self) }
}

extension UInt8 {
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
