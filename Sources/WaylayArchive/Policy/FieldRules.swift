/// The fields that are stored, and those that a 304 may change (RFC 9111, sections 3.1 and 3.2; RFC 9110, section
/// 7.6.1).
enum FieldRules {
  /// Fields of a connection or a proxy, in lower case.
  private static let perConnection: Set<String> = [
    "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
  ]

  /// Fields that a 304 or `HEAD` response may not change, because they describe the stored bytes, which are decoded.
  private static let ofStoredBytes: Set<String> = ["content-encoding", "content-length", "content-range"]

  /// The fields to store: without connection fields, fields excluded by `no-cache="…"`, and `Age`, which is calculated.
  static func stored(_ fields: HTTPFields, _ directives: ResponseDirectives) -> HTTPFields {
    var dropped: Set<String> = ["age"]
    for field in fields where field.name == .connection {
      dropped.formUnion(FieldBytes.members(field.value.utf8).map(FieldBytes.name))
    }
    dropped.formUnion(directives.noCacheFields)
    // Keep fields that control caching, even if `Connection` or `no-cache` lists them: without them, the head would
    // have another meaning.
    dropped.subtract(["cache-control", "date", "expires", "vary", "etag", "last-modified"])
    // With `Transfer-Encoding`, `Content-Length` has no meaning (RFC 9112, section 6.3).
    if fields.contains(.transferEncoding) { dropped.insert("content-length") }
    return without(dropped.union(perConnection), fields)
  }

  static func without(_ names: Set<String>, _ fields: HTTPFields) -> HTTPFields {
    guard fields.contains(where: { names.contains($0.name.canonicalName) }) else { return fields }
    var kept = HTTPFields()
    for field in fields where !names.contains(field.name.canonicalName) { kept.append(field) }
    return kept
  }

  /// The stored fields, updated by those of a 304 or `HEAD` response (RFC 9111, section 3.2).
  static func updated(_ stored: HTTPFields, by new: HTTPFields) -> HTTPFields {
    let new = without(ofStoredBytes, new)
    var fields = without(Set(new.map(\.name.canonicalName)), stored)
    for field in new { fields.append(field) }
    return fields
  }
}

extension HTTPFields {
  /// The first line of a field.
  func first(_ name: HTTPField.Name) -> String? { first { $0.name == name }?.value }

  /// Whether the body had a content coding, which the transport has removed.
  var hasCoding: Bool { self[.contentEncoding].map { !$0.isEmpty && !FieldBytes.equal($0, "identity") } ?? false }

  /// The media type in lower case, without parameters; empty if absent.
  var mediaType: String {
    let type = self[.contentType]?.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
    return type.trimmingCharacters(in: .whitespaces).lowercased()
  }
}

/// Cache-related properties of status codes (RFC 9110, section 15).
enum StatusRules {
  /// Status codes that are heuristically cacheable (RFC 9110, section 15.1).
  static let heuristicallyCacheable: Set = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

  /// Whether this cache implements the caching requirements of the status, as `must-understand` demands (RFC 9111,
  /// section 5.2.2.3).
  static func isUnderstood(_ status: Int) -> Bool {
    switch status {
    case 200...206, 300...303, 305, 307, 308, 400...417, 421, 422, 426, 428, 429, 431, 451, 500...505, 511: true
    default: false
    }
  }

  /// Whether the status is about the conditions, range or expectation of one request (RFC 9110, sections 15.5.13,
  /// 15.5.17 and 15.5.18): stored under the URL, it would answer requests without those.
  static func isAboutRequest(_ status: Int) -> Bool { status == 412 || status == 416 || status == 417 }

  /// Status codes that must not be stored, regardless of header fields (RFC 6585, sections 3 to 6).
  static let unstorable: Set = [428, 429, 431, 511]

  /// Whether the status is an error for `stale-if-error` (RFC 5861, section 4).
  static func isServerFailure(_ status: Int) -> Bool { status == 500 || (502...504).contains(status) }
}

/// Comparison of entity tags (RFC 9110, section 8.8.3), which are raw, with or without quotation marks.
enum EntityTag {
  static func isWeak(_ tag: String) -> Bool {
    var bytes = tag.utf8.makeIterator()
    let first = bytes.next()
    return (first == UInt8(ascii: "W") || first == UInt8(ascii: "w")) && bytes.next() == FieldBytes.slash
  }

  private static func opaque(_ tag: String) -> Substring.UTF8View {
    isWeak(tag) ? tag.utf8.dropFirst(2) : tag.utf8.dropFirst(0)
  }

  /// Weak comparison: equal except for `W/`.
  static func areWeaklyEqual(_ left: String, _ right: String) -> Bool {
    opaque(left).elementsEqual(opaque(right))
  }

  /// Strong comparison: equal, and neither is weak.
  static func areStronglyEqual(_ left: String, _ right: String) -> Bool {
    !isWeak(left) && !isWeak(right) && left.utf8.elementsEqual(right.utf8)
  }

  /// Whether an `If-None-Match` list contains `tag` by weak comparison. `*` matches every tag.
  static func list(_ list: String, names tag: String?) -> Bool {
    let bytes = Array(list.utf8)
    if bytes.trimmingBlanks.elementsEqual([FieldBytes.star]) { return true }
    guard let tag else { return false }
    var position = 0
    while position < bytes.count {
      if bytes[position].isBlank || bytes[position] == FieldBytes.comma {
        position += 1
        continue
      }
      let start = position
      if bytes[position] | 0x20 == UInt8(ascii: "w"), position + 2 < bytes.count,
        bytes[position + 1] == FieldBytes.slash
      {
        position += 2
      }
      if bytes[position] == FieldBytes.quote, let end = bytes[(position + 1)...].firstIndex(of: FieldBytes.quote) {
        position = end + 1
      } else {
        position = bytes[position...].firstIndex(of: FieldBytes.comma) ?? bytes.count
      }
      if areWeaklyEqual(String(decoding: bytes[start..<position].trimmingBlanks, as: UTF8.self), tag) {
        return true
      }
    }
    return false
  }
}

/// A `Content-Range` field of one range (RFC 9110, section 14.4).
struct ContentRange: Hashable, Sendable {
  var bytes: Range<Int64>
  /// The length of the whole representation, if known.
  var completeLength: Int64?

  init(_ bytes: Range<Int64>, of completeLength: Int64?) {
    self.bytes = bytes
    self.completeLength = completeLength
  }

  /// `nil` if the value is not a satisfied byte range.
  init?(_ value: String) {
    let bytes = Array(value.utf8.map(\.lowercased))
    guard bytes.starts(with: "bytes ".utf8), let slash = bytes.firstIndex(of: FieldBytes.slash),
      let dash = bytes[6..<slash].firstIndex(of: FieldBytes.dash), let first = FieldBytes.number(bytes[6..<dash]),
      let last = FieldBytes.number(bytes[(dash + 1)..<slash]), first <= last, last < .max
    else { return nil }
    let length = bytes[(slash + 1)...]
    if !length.elementsEqual([FieldBytes.star]) {
      guard let number = FieldBytes.number(length), last < number else { return nil }
      completeLength = number
    }
    self.bytes = first..<last + 1
  }

  var value: String {
    "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(completeLength.map { "\($0)" } ?? "*")"
  }
}
