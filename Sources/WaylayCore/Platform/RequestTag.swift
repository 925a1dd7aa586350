import Foundation

/// The loop guard's tag on a request, for code that leaves the task of its chain (rule 7 of "How a chain runs").
///
/// On Linux it travels in `mainDocumentURL`, the one field of a request that survives into a protocol and reaches no wire (P7);
/// on Apple platforms in a property of the request. It begins with a random number of this process, so that neither an
/// app's data nor a server can make one.
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
  private static func parse(_ text: String) -> (lineage: Lineage, original: String?)? {
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

#if canImport(FoundationNetworking)
  extension RequestTag {
    /// What the request's tag says, if it carries one.
    static func lineage(of request: URLRequest) -> Lineage? {
      guard let url = request.mainDocumentURL else { return nil }
      return parse(url.absoluteString)?.lineage
    }

    /// The request with a tag.
    static func tag(_ request: inout URLRequest, with lineage: Lineage) {
      strip(&request)
      guard lineage.depth == 1, request.mainDocumentURL == nil else {
        request.mainDocumentURL = URL(string: text(for: lineage, original: request.mainDocumentURL?.absoluteString))
        return
      }
      request.mainDocumentURL = lineage.entry.tag
    }

    /// The request as it was before it was tagged.
    static func strip(_ request: inout URLRequest) {
      guard let url = request.mainDocumentURL, let tag = parse(url.absoluteString) else { return }
      request.mainDocumentURL = tag.original.flatMap { URL(string: $0) }
    }
  }
#else
  // https://developer.apple.com/documentation/foundation/urlprotocol/setproperty(_:forkey:in:)
  extension RequestTag {
    private static let key = "waylay.lineage"

    /// What the request's tag says, if it carries one.
    static func lineage(of request: URLRequest) -> Lineage? {
      (URLProtocol.property(forKey: key, in: request) as? String).flatMap { parse($0)?.lineage }
    }

    /// The request with a tag.
    static func tag(_ request: inout URLRequest, with lineage: Lineage) {
      change(&request) { URLProtocol.setProperty(text(for: lineage), forKey: key, in: $0) }
    }

    /// The request as it was before it was tagged.
    static func strip(_ request: inout URLRequest) {
      guard URLProtocol.property(forKey: key, in: request) != nil else { return }
      change(&request) { URLProtocol.removeProperty(forKey: key, in: $0) }
    }

    private static func change(_ request: inout URLRequest, _ body: (NSMutableURLRequest) -> Void) {
      guard let mutable = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return }
      body(mutable)
      request = mutable as URLRequest
    }
  }
#endif
