import Foundation

extension HTTPCookie {
  /// A `Set-Cookie` field as Foundation may be given it to read; `nil` for one that it may not.
  ///
  /// On Linux it counts the name of a cookie or of an attribute in one unit and cuts it off in another: a name with
  /// combining characters loses the value, or ends the process, and so does a date of expiry with one (P30). Names and
  /// dates are ASCII anyway (RFC 6265, section 4.1.1). A date that is none is left out, as section 5.2.1 has it.
  static func readable(_ field: String) -> String? {
    guard field.utf8.contains(where: { $0 >= 0x80 }) else { return field }
    let parts = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
    var readable: [String] = []
    for part in parts {
      if let last = part.lastIndex(of: UInt8(ascii: "=")), part[...last].contains(where: { $0 >= 0x80 }) { return nil }
      // Foundation takes a field apart at commas, too: wherever a date may begin, it may be one.
      let text = String(decoding: part, as: UTF8.self)
      guard part.contains(where: { $0 >= 0x80 }), text.lowercased().utf8.contains(Array("expires".utf8)) else {
        readable.append(text)
        continue
      }
      if readable.isEmpty { return nil }
    }
    return readable.joined(separator: ";")
  }
}
