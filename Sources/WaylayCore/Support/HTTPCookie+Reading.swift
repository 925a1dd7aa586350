import Foundation

extension HTTPCookie {
  /// The cookies of a `Set-Cookie` field.
  ///
  /// On Linux Foundation counts names, values and dates in one unit and cuts them off in another: what is not ASCII loses
  /// the value, or ends the process (P30). So it is given ASCII alone. Names are ASCII anyway (RFC 6265, section 4.1.1);
  /// a value is put in afterwards, and an attribute that cannot be read is left out (section 5.2).
  static func reading(_ field: String, for url: URL) -> [HTTPCookie] {
    guard field.utf8.contains(where: { $0 >= 0x80 }) else {
      return cookies(withResponseHeaderFields: ["Set-Cookie": field], for: url)
    }
    let parts = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
    guard let pair = parts.first, let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return [] }
    let name = pair[...equals]
    let attributes = parts.dropFirst().filter { $0.allSatisfy { $0 < 0x80 } }
    guard name.allSatisfy({ $0 < 0x80 }) else { return [] }
    let readable = ([Array(name) + [UInt8(ascii: "x")]] + attributes.map { Array($0) }).joined(separator: [0x3B])
    let value = String(decoding: pair[pair.index(after: equals)...], as: UTF8.self)
    let cookies = cookies(
      withResponseHeaderFields: ["Set-Cookie": String(decoding: Array(readable), as: UTF8.self)], for: url)
    guard cookies.count == 1, var properties = cookies[0].properties else { return [] }
    properties[.value] = value.trimmingCharacters(in: .whitespaces)
    return HTTPCookie(properties: properties).map { [$0] } ?? []
  }
}
