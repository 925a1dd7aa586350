import Foundation

extension HostName {
  enum Shape {
    /// Is in the form that is wanted.
    case folded
    /// Is not, or has to be looked at more closely.
    case foreign
  }

  /// A look at the bytes, because nearly all names are in the right form already.
  static func shape(of text: String) -> Shape {
    var text = text
    return text.withUTF8 { bytes in
      guard (1...253).contains(bytes.count) else { return .foreign }
      var label = 0
      var isNumber = true
      for byte in bytes {
        switch byte {
        case UInt8(ascii: "-") where label == 0: return .foreign
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          isNumber = false
          label += 1
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
          // A last label that begins with a digit may be a number: hexadecimal ones have letters.
          if label == 0 { isNumber = true }
          label += 1
        case UInt8(ascii: "."):
          guard label > 0, label <= 63 else { return .foreign }
          (label, isNumber) = (0, false)
        default: return .foreign
        }
      }
      return label > 0 && label <= 63 && !isNumber && !Self.endsInHexadecimal(bytes, label) ? .folded : .foreign
    }
  }

  private static func endsInHexadecimal(_ bytes: UnsafeBufferPointer<UInt8>, _ label: Int) -> Bool {
    label >= 2 && bytes[bytes.count - label] == UInt8(ascii: "0") && bytes[bytes.count - label + 1] == UInt8(ascii: "x")
  }

  /// The slow way: upper case, a final dot, addresses, letters beyond ASCII.
  static func folding(_ text: String) throws(WaylayError) -> (String, isAddress: Bool) {
    if let address = HostAddress(parsing: text) { return (address.literal, true) }
    var name = text
    if name.utf8.contains(where: { $0 >= 0x80 }) { name = try toASCII(text) }
    name = name.lowercased()
    if name.utf8.last == UInt8(ascii: ".") { name.removeLast() }
    try check(name, of: text)
    if let address = HostAddress(parsing: name) { return (address.literal, true) }
    guard endsInNumber(name) else { return (name, false) }
    guard isShortAddress(name) else {
      throw WaylayError(
        .invalidHost,
        "\"\(text)\" is neither a host name nor an address: a host that ends in a number must be an IPv4 address.")
    }
    return (name, true)
  }

  /// Whether systems take it for an IPv4 address: up to four numbers, the last of which stands for all the bytes that
  /// are left.
  private static func isShortAddress(_ name: String) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 4 else { return false }
    let numbers = parts.map { part -> UInt64? in
      if part.hasPrefix("0x") { return part.count == 2 ? 0 : UInt64(part.dropFirst(2), radix: 16) }
      return part.hasPrefix("0") && part.count > 1 ? UInt64(part, radix: 8) : UInt64(part)
    }
    guard let last = numbers.last ?? nil, last < 1 << (8 * UInt64(5 - parts.count)) else { return false }
    return numbers.dropLast().allSatisfy { $0.map { $0 <= 255 } ?? false }
  }

  /// The A-labels of an internationalized name (UTS 46), as a URL has them.
  private static func toASCII(_ text: String) throws(WaylayError) -> String {
    // Nothing that would end the host of a URL, or be decoded in it.
    guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F || "/?#@:[]\\%".utf8.contains($0) }),
      let host = URL(string: "http://\(text)/")?.host, !host.isEmpty, host.utf8.allSatisfy({ $0 < 0x80 })
    else {
      throw WaylayError(
        .invalidHost, "\"\(text)\" cannot be converted to A-labels (xn--…): check the spelling, or write the A-labels.")
    }
    return host
  }

  private static func check(_ name: String, of text: String) throws(WaylayError) {
    func refuse(_ reason: String) -> WaylayError {
      WaylayError(.invalidHost, "\"\(text.prefix(300))\" is not a host name: \(reason).")
    }
    guard !name.isEmpty else { throw refuse("it is empty") }
    guard name.utf8.count <= 253 else { throw refuse("it has more than 253 characters") }
    for label in name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
      guard !label.isEmpty else { throw refuse("it has an empty label") }
      guard label.count <= 63 else { throw refuse("it has a label of more than 63 characters") }
      let isPlain = label.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
      }
      guard label.contains(where: { $0 != UInt8(ascii: "-") }) else { throw refuse("it has a label of hyphens only") }
      guard isPlain else { throw refuse("only letters, digits, hyphens, underscores and dots are allowed") }
    }
  }

  /// Whether the last label is a number, which makes the whole name an address for many systems (WHATWG URL, "ends in a
  /// number").
  private static func endsInNumber(_ name: String) -> Bool {
    let last = name.utf8.suffix(while: { $0 != UInt8(ascii: ".") })
    if last.allSatisfy({ (48...57).contains($0) }) { return true }
    guard last.starts(with: "0x".utf8) else { return false }
    return last.dropFirst(2).allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }
}

extension BidirectionalCollection {
  /// The longest suffix whose elements fulfil a condition.
  fileprivate func suffix(while condition: (Element) -> Bool) -> SubSequence {
    var start = endIndex
    while start > startIndex, condition(self[index(before: start)]) { formIndex(before: &start) }
    return self[start...]
  }
}
