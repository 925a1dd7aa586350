import Foundation

/// The loop guard's tag on a request, for code that leaves the task of its chain (rule 7 of "How a chain runs").
///
/// On Linux it travels in `mainDocumentURL`, the one field of a request that survives into a protocol and reaches no
/// wire (P7); on Apple platforms in a property of the request. It begins with a random number of this process, so that
/// neither an app's data nor a server can make one.
///
/// A file of its own, because both platforms' halves use it.
enum RequestTag {
  /// 128 random bits, so that a tag cannot be guessed.
  private static let nonce = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
  private static let prefix = "waylay-\(nonce):"

  /// The tag of a lineage as text; `original` is what the tag displaces.
  static func text(for lineage: Lineage, original: String? = nil) -> String {
    let entries = lineage.entries.map { "\($0.origin)~\(escape($0.label))" }.joined(separator: "/")
    return prefix + entries + (original.map { "?" + escape($0) } ?? "")
  }

  private static func escape(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }

  /// What a tag says, or `nil` for anything that is not a tag of this process.
  static func parse(_ text: String) -> (lineage: Lineage, original: String?)? {
    guard text.hasPrefix(prefix) else { return nil }
    let parts = text.dropFirst(prefix.count).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var lineage: Lineage?
    for entry in parts[0].split(separator: "/") {
      let fields = entry.split(separator: "~", maxSplits: 1, omittingEmptySubsequences: false)
      guard fields.count == 2, let origin = UInt64(fields[0]) else { return nil }
      let known = Lineage.Entry(origin: origin, label: fields[1].removingPercentEncoding ?? "?")
      lineage = Lineage(known, in: lineage, load: nil)
    }
    return lineage.map { ($0, parts.count == 2 ? parts[1].removingPercentEncoding : nil) }
  }
}
