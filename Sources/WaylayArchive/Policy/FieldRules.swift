/// Which fields are stored, and which a 304 may change (RFC 9111, sections 3.1 and 3.2; RFC 9110, section 7.6.1).
enum FieldRules {
  /// Fields of the connection or of a proxy, in lower case.
  private static let perConnection: Set<String> = [
    "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    "proxy-connection", "te",
    "trailer", "transfer-encoding", "upgrade",
  ]

  /// What a 304 or a `HEAD` may not change, because it describes the bytes that are stored, whose codings the transport
  /// has undone.
  private static let ofStoredBytes: Set<String> = ["content-encoding", "content-length", "content-range"]

  /// The fields that are stored: without those of the connection, those that the response keeps from caches, and `Age`,
  /// which is counted.
  static func stored(_ fields: HTTPFields, _ directives: ResponseDirectives, isShared: Bool) -> HTTPFields {
    var dropped: Set<String> = ["age"]
    for field in fields where field.name == .connection {
      for member in Array(field.value.utf8).split(separator: FieldBytes.comma).map(FieldBytes.trimmed) {
        dropped.insert(String(decoding: member.lazy.map(FieldBytes.lowercased), as: UTF8.self))
      }
    }
    // A name on the list that steers the cache itself would turn the rest of the head into another one.
    dropped.subtract(["cache-control", "date", "expires", "vary", "etag", "last-modified"])
    dropped.formUnion(directives.noCacheFields)
    if isShared { dropped.formUnion(directives.privateFields) }
    return without(dropped.union(perConnection), fields)
  }

  static func without(_ names: Set<String>, _ fields: HTTPFields) -> HTTPFields {
    guard fields.contains(where: { names.contains($0.name.canonicalName) }) else { return fields }
    var kept = HTTPFields()
    for field in fields where !names.contains(field.name.canonicalName) { kept.append(field) }
    return kept
  }

  /// The stored fields with those of a 304 or a `HEAD` in their places (RFC 9111, section 3.2).
  static func updated(_ stored: HTTPFields, by new: HTTPFields) -> HTTPFields {
    let new = without(ofStoredBytes, new)
    var fields = without(Set(new.map(\.name.canonicalName)), stored)
    for field in new { fields.append(field) }
    return fields
  }
}
