import Foundation

/// The loop guard's tag on a request, for code that leaves the task of its chain (rule 7 of "How a chain runs").
///
/// On Linux it travels in `mainDocumentURL`, the one property of a request that survives into a protocol object and is
/// never sent (P7); on Apple platforms in a property of the request. It begins with a random number of this process, so
/// that neither an app's data nor a server can make one.
enum RequestTag {
  /// 128 random bits, so that a tag cannot be guessed.
  private static let nonce = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
  private static let prefix = "waylay-\(nonce):"

  /// The levels of the lineages of the tags in use, and the number at which those that no longer count are removed.
  private static let named = Locked<(levels: [String: Lineage], limit: Int)>(([:], 256))

  /// The tag of a lineage as text; `original` is what the tag displaces.
  static func text(for lineage: Lineage, original: String? = nil) -> String {
    let levels = lineage.levels.map { (name: $0.tagName, level: $0) }
    named.withLock { named in
      if named.levels.count >= named.limit {
        named.levels = named.levels.filter { $0.value.counts }
        named.limit = 256 + 2 * named.levels.count
      }
      for (name, level) in levels { named.levels[name] = level }
    }
    return prefix + levels.map(\.name).joined(separator: ",") + (original.map { "?" + escape($0) } ?? "")
  }

  static func escape(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }

  /// Parses a tag; `nil` for a text that is not a tag of this process. The lineage is `nil` once it no longer counts.
  static func parse(_ text: String) -> (lineage: Lineage?, original: String?)? {
    guard text.hasPrefix(prefix) else { return nil }
    let parts = text.dropFirst(prefix.count).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let levels = named.withLock { named in parts[0].split(separator: ",").compactMap { named.levels[String($0)] } }
    return (levels.lazy.compactMap(\.counting).first, parts.count == 2 ? parts[1].removingPercentEncoding : nil)
  }
}
