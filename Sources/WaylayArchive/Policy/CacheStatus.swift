/// What an archive did with a request, as the `Cache-Status` field says it (RFC 9211).
///
/// ```swift
/// var status = CacheStatus(cache: "Waylay")
/// status.isHit = true
/// status.timeToLive = 376
/// print(status)   // Waylay; hit; ttl=376
/// ```
package struct CacheStatus: Hashable, Sendable, CustomStringConvertible {
  /// The name of the cache.
  package var cache: String
  /// Whether the response came out of the archive without the request going on.
  package var isHit = false
  /// Why the request went on.
  package var forwarded: Forwarded?
  /// The status that came back for it, where the client got another one.
  package var forwardedStatus: Int?
  /// Seconds for which the response stays fresh; negative once it is stale.
  package var timeToLive: Int64?
  /// Whether what came back has been stored.
  package var isStored = false
  /// Whether the request went on together with others.
  package var isCollapsed = false
  /// The key of the stored response.
  package var key: String?
  /// More, in words or as a code.
  package var detail: String?

  /// Makes the status of a cache that has done nothing yet.
  package init(cache: String) { self.cache = cache }

  /// The field's value: one member of its list.
  package var description: String {
    var text = Self.tokenOrString(cache)
    if isHit { text += "; hit" }
    if !isHit, let forwarded { text += "; fwd=\(forwarded)" }
    if !isHit, let forwardedStatus { text += "; fwd-status=\(forwardedStatus)" }
    if let timeToLive { text += "; ttl=\(min(max(timeToLive, -Self.greatest), Self.greatest))" }
    if !isHit, isStored { text += "; stored" }
    if isCollapsed { text += "; collapsed" }
    if let key { text += "; key=\(Self.string(key))" }
    if let detail { text += "; detail=\(Self.tokenOrString(detail))" }
    return text
  }

  /// The greatest number that a structured field can carry (RFC 8941, section 3.3.1).
  private static let greatest: Int64 = 999_999_999_999_999

  private static func tokenOrString(_ text: String) -> String {
    guard let first = text.utf8.first, FieldBytes.isToken(first), !FieldBytes.isDigit(first) else {
      return string(text)
    }
    let startsToken = first | 0x20 >= UInt8(ascii: "a") && first | 0x20 <= UInt8(ascii: "z") || first == FieldBytes.star
    let isToken = text.utf8.allSatisfy { FieldBytes.isToken($0) || $0 == UInt8(ascii: ":") || $0 == FieldBytes.slash }
    return startsToken && isToken ? text : string(text)
  }

  /// A string of a structured field has printable ASCII alone (RFC 8941, section 3.3.3).
  private static func string(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case " "..."~": quoted.unicodeScalars.append(scalar)
      default: quoted += "?"
      }
    }
    return quoted + "\""
  }
}

extension CacheStatus {
  /// Why a request went on (RFC 9211, section 2.2).
  package struct Forwarded: Hashable, Sendable, CustomStringConvertible {
    /// The value as the field has it.
    package let description: String

    /// Makes a value that the field may have.
    package init(_ description: String) { self.description = description }

    /// The cache was told not to handle the request.
    package static let bypass = Forwarded("bypass")
    /// The method has to go to the origin.
    package static let method = Forwarded("method")
    /// Nothing is stored for the URL.
    package static let uriMiss = Forwarded("uri-miss")
    /// What is stored is for other request fields.
    package static let varyMiss = Forwarded("vary-miss")
    /// The request did not want what is stored.
    package static let request = Forwarded("request")
    /// What is stored is stale.
    package static let stale = Forwarded("stale")
    /// Only a part is stored.
    package static let partial = Forwarded("partial")

    /// What the reason of a decision is called in the field.
    package init(_ reason: ArchiveReason) {
      self =
        switch reason.code {
        case .miss: .uriMiss
        case .varyMiss: .varyMiss
        case .stale, .needsValidation: .stale
        case .method: .method
        case .partial: .partial
        case .mode: .bypass
        default: .request
        }
    }
  }
}
