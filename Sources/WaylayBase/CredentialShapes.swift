/// Credentials that are known by their shape, under whatever name they stand: signed and encrypted tokens (RFC 7519),
/// and those of well-known services, which begin with a prefix.
package enum CredentialShapes {
  /// Prefixes of credentials, by their first byte.
  private static let prefixes: [[[UInt8]]] = {
    var prefixes = [[[UInt8]]](repeating: [], count: 256)
    let list = """
      AGE-SECRET-KEY-1 AIza AKIA ASIA ATATT3 ATCTT3 GOCSPX- NRAK- PMAK- SG. dapi dckr_pat_ doo_v1_ dop_v1_ figd_ gho_ \
      ghp_ ghr_ ghs_ ghu_ github_pat_ gldt- glpat- gsk_ hf_ hvs. lin_api_ npm_ ntn_ nvapi- pul- pypi- r8_ rk_live_ \
      rk_test_ shpat_ shpca_ shppa_ shpss_ sk- sk_live_ sk_test_ sntrys_ sq0atp- sq0csp- whsec_ xapp- xoxa- xoxb- xoxc- \
      xoxd- xoxe- xoxe. xoxp- xoxr- xoxs- ya29.
      """
    for prefix in list.utf8.split(separator: 0x20) { prefixes[Int(prefix.first ?? 0)].append(Array(prefix)) }
    return prefixes
  }()

  /// The end of a credential that begins at an index; `nil` if none does.
  package static func end(in bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> Int? {
    let rest = bytes[start...]
    if bytes[start] == UInt8(ascii: "e"), rest.starts(with: "eyJ".utf8) {
      let header = rest.prefix { $0.isOfWord || $0 == UInt8(ascii: "-") }
      guard header.count >= 10, header.endIndex < bytes.count, bytes[header.endIndex] == UInt8(ascii: ".") else {
        return nil
      }
      // The part may be empty, as the key of an encrypted token is with `dir`, or short, as the payload `e30` is.
      let part = bytes[(header.endIndex + 1)...].prefix { $0.isOfWord || $0 == UInt8(ascii: "-") }
      guard part.endIndex < bytes.count, bytes[part.endIndex] == UInt8(ascii: ".") else { return nil }
      let end = endOfToken(bytes, from: part.endIndex)
      return end - header.endIndex >= 12 ? end : nil
    }
    guard let prefix = prefixes[Int(bytes[start])].first(where: rest.starts) else { return nil }
    let text = rest.dropFirst(prefix.count).prefix(64).prefix { $0.isOfWord || "-.".utf8.contains($0) }
    return text.count >= 16 && Array(text).hasRandomWords ? endOfToken(bytes, from: text.endIndex) : nil
  }

  private static func endOfToken(_ bytes: UnsafeBufferPointer<UInt8>, from index: Int) -> Int {
    bytes[index...].firstIndex { !$0.isOfWord && !"-.".utf8.contains($0) } ?? bytes.count
  }

  /// Whether a word may begin at an index, and with it a credential: also after an encoded character, such as `%2F`.
  static func mayBegin(in bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
    index == 0 || !bytes[index - 1].isOfWord && bytes[index - 1] != UInt8(ascii: "-")
      || index >= 3 && bytes[index - 3] == UInt8(ascii: "%")
  }

  /// Whether a text has a credential anywhere.
  package static func areFound(in text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      bytes.indices.contains { mayBegin(in: bytes, at: $0) && end(in: bytes, at: $0) != nil }
    }
  }
}

extension [UInt8] {
  /// Whether at least twelve characters belong to words in which letters and digits, or cases, alternate.
  package var looksRandom: Bool {
    count >= 12 && !contains { $0 == 0x20 || 0x09...0x0D ~= $0 } && !isPlain && hasRandomWords
  }

  /// ``looksRandom`` for a text that cannot be plain: after the prefix of a credential, there may be the extension of a
  /// file name.
  fileprivate var hasRandomWords: Bool {
    split { !$0.isASCIILetter && !$0.isASCIIDigit }.filter(\.alternates).reduce(0) { $0 + $1.count } >= 12
  }

  /// Whether it is a URL, path, file name, address, time or UUID.
  package var isPlain: Bool {
    if starts(with: "/".utf8) || starts(with: "0x".utf8) || isTimestamp { return true }
    if let at = lastIndex(of: UInt8(ascii: "@")), at == 0 || self[at...].contains(UInt8(ascii: ".")) { return true }
    if count == 36 && [8, 13, 18, 23].allSatisfy({ self[$0] == UInt8(ascii: "-") }) { return true }
    if indices.contains(where: { self[$0] == UInt8(ascii: ":") && self[$0...].starts(with: "://".utf8) }) {
      return true
    }
    // A file name, as in photos/2026/IMG_4711.jpg.
    guard let dot = lastIndex(of: UInt8(ascii: ".")), 2...5 ~= count - dot - 1 else { return false }
    return self[dot + 1] >= 0x61 && self[(dot + 1)...].allSatisfy { 0x61...0x7A ~= $0 || $0.isASCIIDigit }
  }

  /// Whether it is a date, with a time or without (ISO 8601).
  package var isTimestamp: Bool {
    count >= 10 && self[4] == UInt8(ascii: "-") && self[7] == UInt8(ascii: "-") && self[..<4].allSatisfy(\.isASCIIDigit)
      && self[4...].allSatisfy { $0.isASCIIDigit || "-+:.TZtz ".utf8.contains($0) }
  }
}

extension ArraySlice<UInt8> {
  /// Whether letters and digits, or upper and lower case, alternate.
  fileprivate var alternates: Bool {
    let kinds = map { $0.isASCIIDigit ? 0 : $0 < 0x60 ? 1 : 2 }
    let turns = zip(kinds, kinds.dropFirst()).count { $0 != $1 && !($0 == 1 && $1 == 2) }
    // Letters alone need many changes of case.
    return kinds.contains(0) ? count >= 5 && turns >= 2 : count >= 16 && turns * 5 >= count
  }
}
