import Foundation

/// A URL in the form that equal requests share.
struct KeyText: Sendable {
  /// Scheme and host in lower case, no default port, no user info, no fragment, a path.
  let text: String
  /// The user info, which is a credential.
  let userInfo: String?

  /// - Parameters:
  ///   - url: The URL.
  ///   - rules: The rules that cover it.
  init(_ url: URL, rules: [KeyRule] = []) {
    let string = url.absoluteString
    guard !rules.isEmpty || !Self.isNormal(string) else {
      (text, userInfo) = (string, nil)
      return
    }
    let bytes = Array(string.utf8)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
      (text, userInfo) = (url.absoluteString, nil)
      return
    }
    var key: [UInt8] = []
    key.reserveCapacity(bytes.count + 1)
    key += bytes[..<colon].map(Self.lowercased)
    let scheme = key
    key += "://".utf8
    let rest = bytes[(colon + 3)...]
    let end =
      rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? rest.endIndex
    var authority = rest[..<end]
    if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
      userInfo = String(decoding: authority[..<at], as: UTF8.self)
      authority = authority[(at + 1)...]
    } else {
      userInfo = nil
    }
    key += Self.withoutDefaultPort(authority, scheme: scheme).map(Self.lowercased)
    let target = rest[end...].prefix { $0 != UInt8(ascii: "#") }
    if target.first != UInt8(ascii: "/") { key.append(UInt8(ascii: "/")) }
    key += rules.contains { $0.sortsQuery || !$0.queryItems.isEmpty } ? Self.edited(target, rules) : Array(target)
    text = String(decoding: key, as: UTF8.self)
  }

  /// Whether a URL is in that form already, as nearly all are: then its text is the key.
  private static func isNormal(_ string: String) -> Bool {
    // 0 in the scheme, 1 and 2 in the slashes, 3 in the authority, 4 behind it.
    var part = 0
    for byte in string.utf8 {
      switch (part, byte) {
      case (0, UInt8(ascii: ":")): part = 1
      case (1...2, UInt8(ascii: "/")): part += 1
      case (1...2, _): return false
      case (3, UInt8(ascii: "/")): part = 4
      case (3, UInt8(ascii: "@")), (3, UInt8(ascii: ":")), (3, UInt8(ascii: "?")): return false
      case (0...3, UInt8(ascii: "A")...UInt8(ascii: "Z")): return false
      case (_, UInt8(ascii: "#")): return false
      default: continue
      }
    }
    return part == 4
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }

  private static func withoutDefaultPort(_ authority: ArraySlice<UInt8>, scheme: [UInt8]) -> ArraySlice<UInt8> {
    guard let colon = authority.lastIndex(of: UInt8(ascii: ":")) else { return authority }
    let port = authority[(colon + 1)...]
    let isDefault =
      port.isEmpty || scheme == Array("http".utf8) && port.elementsEqual("80".utf8)
      || scheme == Array("https".utf8) && port.elementsEqual("443".utf8)
    return isDefault ? authority[..<colon] : authority
  }

  private static func edited(_ target: ArraySlice<UInt8>, _ rules: [KeyRule]) -> [UInt8] {
    guard let mark = target.firstIndex(of: UInt8(ascii: "?")) else { return Array(target) }
    var items = String(decoding: target[(mark + 1)...], as: UTF8.self).split(
      separator: "&", omittingEmptySubsequences: false)
    items.removeAll { item in
      let name = item.prefix { $0 != "=" }
      return rules.contains { $0.ignores(queryItem: name) }
    }
    if rules.contains(where: \.sortsQuery) { items.sort() }
    return Array(target[..<mark]) + (items.isEmpty ? [] : Array(("?" + items.joined(separator: "&")).utf8))
  }
}
