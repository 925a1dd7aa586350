/// The ASCII form of labels that are not ASCII (RFC 3492).
enum Punycode {
  /// The label that `text`, without its `xn--`, stands for; `nil` when it stands for none.
  static func decoded(_ text: some StringProtocol) -> String? {
    let bytes = Array(text.utf8)
    // No label of a name is longer than 63 octets.
    guard bytes.count <= 63 else { return nil }
    let delimiter = bytes.lastIndex(of: UInt8(ascii: "-"))
    var output = delimiter.map { bytes[..<$0].map(UInt32.init) } ?? []
    guard output.allSatisfy({ $0 < 0x80 }) else { return nil }
    var (code, index, bias) = (UInt32(128), UInt32(0), UInt32(72))
    var position = delimiter.map { $0 + 1 } ?? 0
    while position < bytes.count {
      let start = index
      var (weight, step) = (UInt32(1), UInt32(36))
      while true {
        guard position < bytes.count, let digit = digit(bytes[position]) else { return nil }
        position += 1
        let (product, overflowed) = digit.multipliedReportingOverflow(by: weight)
        let (sum, carried) = index.addingReportingOverflow(product)
        guard !overflowed, !carried else { return nil }
        index = sum
        let threshold = step <= bias ? 1 : min(step - bias, 26)
        if digit < threshold { break }
        let (next, tooHeavy) = weight.multipliedReportingOverflow(by: 36 - threshold)
        guard !tooHeavy else { return nil }
        weight = next
        step += 36
      }
      let length = UInt32(output.count) + 1
      bias = adapted(index - start, length, isFirst: start == 0)
      let (next, overflowed) = code.addingReportingOverflow(index / length)
      guard !overflowed, next <= 0x10FFFF else { return nil }
      code = next
      index %= length
      output.insert(code, at: Int(index))
      index += 1
    }
    var label = ""
    for value in output {
      guard let scalar = Unicode.Scalar(value) else { return nil }
      label.unicodeScalars.append(scalar)
    }
    return label
  }

  private static func adapted(_ delta: UInt32, _ length: UInt32, isFirst: Bool) -> UInt32 {
    var delta = isFirst ? delta / 700 : delta / 2
    delta += delta / length
    var step: UInt32 = 0
    while delta > 455 {
      delta /= 35
      step += 36
    }
    return step + 36 * delta / (delta + 38)
  }

  private static func digit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a"))
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 26
    default: nil
    }
  }
}
