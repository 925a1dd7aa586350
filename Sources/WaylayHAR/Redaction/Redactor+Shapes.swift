extension Redactor {
  /// Hides a secret known by its shape: a signed or encrypted token (RFC 7519), a private key (RFC 7468), credentials
  /// after `Bearer` or `Basic` (RFC 9110, section 11.4), a credential of a well-known service, and by option a payment
  /// number.
  ///
  /// - Returns: The end of the secret; `nil` if none begins here.
  mutating func readShape(_ draft: inout Draft, at start: Int) -> Int? {
    let rest = draft.source[start...]
    var (start, end, shape) = (start, Int?.none, "token")
    switch rest.first.map(\.lowercased) {
    case UInt8(ascii: "-") where rest.starts(with: "-----BEGIN ".utf8):
      let kind = rest.dropFirst(11).prefix { $0 != UInt8(ascii: "-") && !$0.isLineEnd }
      guard String(decoding: kind, as: UTF8.self).contains("PRIVATE KEY") else { return nil }
      let mark = draft.source.firstRange(of: "-----END ".utf8, from: kind.endIndex)
      (end, shape) = (mark.map { min($0.upperBound + kind.count + 5, rest.endIndex) } ?? rest.endIndex, "private key")
    case UInt8(ascii: "b"):
      let scheme = rest.prefix { $0.isASCIILetter }
      let word = rest[scheme.endIndex...].dropFirst().prefix { $0.isOfWord || "-.~+/=".utf8.contains($0) }
      guard rest[scheme.endIndex...].first == 0x20, !word.isEmpty else { break }
      let isSecret =
        switch String(decoding: scheme, as: UTF8.self).lowercased() {
        case "bearer": Array(word).isLikelyCredential
        case "basic": Data(base64Encoded: Data(word))?.contains(UInt8(ascii: ":")) ?? false
        default: false
        }
      if isSecret { (start, end, shape) = (word.startIndex, word.endIndex, "scheme") }
    default: break
    }
    if end == nil {
      end = draft.source.withUnsafeBufferPointer { CredentialShapes.end(in: $0, at: start) }
    }
    if end == nil, redaction.hidesPaymentNumbers { (end, shape) = (endOfPaymentNumber(rest), "payment number") }
    guard let end else { return nil }
    hide(start..<end, in: &draft, "(\(shape))")
    return end
  }

  /// The end of a card's number with its check digit (ISO/IEC 7812), or of an IBAN (ISO 13616).
  private func endOfPaymentNumber(_ text: ArraySlice<UInt8>) -> Int? {
    func isPart(_ byte: UInt8) -> Bool { byte.isASCIIDigit || 0x41...0x5A ~= byte }
    // One space or hyphen separates groups. Words in capitals may follow.
    let run = text.prefix(42).indices.prefix { index in
      isPart(text[index]) || index > text.startIndex && " -".utf8.contains(text[index]) && isPart(text[index - 1])
    }
    return run.last { index in
      isPart(text[index]) && text[(index + 1)...].first?.isOfWord != true
        && Self.isPaymentNumber(text[...index].filter(isPart))
    }.map { $0 + 1 }
  }

  private static func isPaymentNumber(_ text: [UInt8]) -> Bool {
    let values = text.map { $0.isASCIIDigit ? Int($0 - 0x30) : Int($0) - 55 }
    if 13...19 ~= text.count, text.allSatisfy(\.isASCIIDigit), values[0] > 0 {
      let sum = values.reversed().enumerated().reduce(0) { sum, digit in
        let value = digit.element * (digit.offset % 2 + 1)
        return sum + (value > 9 ? value - 9 : value)
      }
      return sum % 10 == 0
    }
    guard 15...34 ~= text.count, values[0] > 9, values[1] > 9, values[2] < 10, values[3] < 10 else { return false }
    return (values[4...] + values[..<4]).reduce(0) { ($0 * ($1 < 10 ? 10 : 100) + $1) % 97 } == 1
  }
}
