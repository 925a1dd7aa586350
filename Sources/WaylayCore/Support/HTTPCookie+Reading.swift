import Foundation

extension HTTPCookie {
  /// Whether Foundation may be given a `Set-Cookie` field to read.
  ///
  /// On Linux it counts the name of a cookie or of an attribute in one unit and cuts it off in another: a name with combining characters loses
  /// the value, or ends the process (P30). Names are ASCII anyway (RFC 6265, section 4.1.1).
  static func canRead(_ field: String) -> Bool {
    field.utf8.split(separator: UInt8(ascii: ";")).allSatisfy { part in
      guard let last = part.lastIndex(of: UInt8(ascii: "=")) else { return true }
      return part[...last].allSatisfy { $0 < 0x80 }
    }
  }
}
