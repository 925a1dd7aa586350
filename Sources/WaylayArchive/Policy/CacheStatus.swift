/// What an archive did with a request, as the `Cache-Status` field says it (RFC 9211).
///
/// ```swift
/// var status = CacheStatus(cache: "Waylay")
/// status.isHit = true
/// status.timeToLive = 376
/// print(status)   // Waylay;hit;ttl=376
/// ```
struct CacheStatus: Hashable, Sendable, CustomStringConvertible {
  /// The name of the cache.
  var cache: String
  /// Whether the response came out of the archive without the request going on.
  var isHit = false
  /// Why the request went on.
  var forwarded: ArchiveReason.Code?
  /// The status that came back for it, where the client got another one.
  var forwardedStatus: Int?
  /// Seconds for which the response stays fresh; negative once it is stale.
  var timeToLive: Int64?
  /// Whether what came back has been stored.
  var isStored = false
  /// Whether the request went on together with others.
  var isCollapsed = false
  /// More, in words or as a code.
  var detail: String?
}

#if StructuredFields
  import RawStructuredFieldValues

  extension CacheStatus {
    /// The field's value: one member of its list.
    var description: String {
      var parameters: OrderedMap<String, RFC9651BareItem> = [:]
      if isHit { parameters["hit"] = true }
      if !isHit, let forwarded { parameters["fwd"] = .token(forwarded.forwarded) }
      if !isHit, let forwardedStatus { parameters["fwd-status"] = .integer(Int64(forwardedStatus)) }
      if let timeToLive { parameters["ttl"] = .integer(min(max(timeToLive, -Self.greatest), Self.greatest)) }
      if !isHit, isStored { parameters["stored"] = true }
      if isCollapsed { parameters["collapsed"] = true }
      if let detail { parameters["detail"] = StructuredFields.tokenOrString(detail) }
      return StructuredFields.member(StructuredFields.tokenOrString(cache), parameters)
    }

    /// The greatest number that a structured field can carry (RFC 9651, section 3.3.1).
    private static let greatest: Int64 = 999_999_999_999_999
  }
#else
  extension CacheStatus {
    /// Nothing: the field is written with the trait `StructuredFields`.
    var description: String { "" }
  }
#endif
