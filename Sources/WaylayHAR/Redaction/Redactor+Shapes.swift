extension Redactor {
  /// Replaces a secret known by its shape: a credential of a well-known service, a signed or encrypted token (RFC
  /// 7519), a private key (RFC 7468), and by option a payment number.
  ///
  /// - Returns: The end of the secret; `nil` if none begins here.
  mutating func readShape(_ draft: inout Draft, at start: Int) -> Int? {
    let rest = draft.source[start...]
    var (start, end) = (start, Int?.none)
    if rest.first == UInt8(ascii: "-"), rest.starts(with: "-----BEGIN ".utf8) {
      let kind = rest.dropFirst(11).prefix { $0 != UInt8(ascii: "-") && !$0.isLineEnd }
      guard String(decoding: kind, as: UTF8.self).contains("PRIVATE KEY") else { return nil }
      let mark = draft.source.firstRange(of: "-----END ".utf8, from: kind.endIndex)
      end = mark.map { min($0.upperBound + kind.count + 5, rest.endIndex) } ?? rest.endIndex
    } else if rest.first == UInt8(ascii: "L"), rest.starts(with: "LS0tLS1CRUdJTi".utf8) {
      // A private key in Base64.
      guard start == 0 || !Base64.isDigit(draft.source[start - 1]) else { return nil }
      let run = Base64.run(around: start..<start + 1, in: start..<rest.endIndex, of: draft.source)
      let key = Base64.decoded(draft.source[run].prefix { $0 != UInt8(ascii: "=") }) ?? []
      if key.firstRange(of: "PRIVATE KEY".utf8, from: 0) != nil { end = run.upperBound }
    } else if rest.first.map({ $0 | 0x20 }) == UInt8(ascii: "b"), rest.dropFirst().starts(with: "earer ".utf8) {
      let token = rest.dropFirst(7).prefix { $0.isOfWord || "-.~+/=".utf8.contains($0) }
      if token.count >= 16, Array(token).looksRandom { (start, end) = (token.startIndex, token.endIndex) }
    } else {
      end = draft.source.withUnsafeBufferPointer { CredentialShapes.end(in: $0, at: start) }
    }
    if end == nil, redaction.hidesPaymentNumbers { end = endOfPaymentNumber(rest) }
    guard let end else { return nil }
    hide(start..<end, in: &draft, .shape)
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
