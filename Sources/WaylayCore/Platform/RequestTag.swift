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

  /// The lineages of the tags in use, and the number at which those that no longer count are removed.
  private static let named = Locked<(lineages: [String: Lineage], limit: Int)>(([:], 256))

  /// The tag of a lineage as text; `original` is what the tag displaces.
  static func text(for lineage: Lineage, original: String? = nil) -> String {
    let name = lineage.tagName
    named.withLock { named in
      if named.lineages.count >= named.limit {
        named.lineages = named.lineages.filter { $0.value.counting != nil }
        named.limit = 256 + 2 * named.lineages.count
      }
      named.lineages[name] = lineage
    }
    return prefix + name + (original.map { "?" + escape($0) } ?? "")
  }

  private static func escape(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }

  /// Parses a tag; `nil` for a text that is not a tag of this process. The lineage is `nil` once it no longer counts.
  static func parse(_ text: String) -> (lineage: Lineage?, original: String?)? {
    guard text.hasPrefix(prefix) else { return nil }
    let parts = text.dropFirst(prefix.count).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let lineage = named.withLock { $0.lineages[String(parts[0])] }
    return (lineage?.counting, parts.count == 2 ? parts[1].removingPercentEncoding : nil)
  }
}
