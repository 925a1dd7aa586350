/// The handling of a request by a cache, for the `Cache-Status` field (RFC 9211).
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
  /// Whether the response came from the archive without forwarding.
  var isHit = false
  /// The reason for forwarding the request.
  var forwarded: ArchiveReason.Code?
  /// The status of the forwarded response, if the client got another one.
  var forwardedStatus: Int?
  /// The remaining lifetime in seconds; negative for a stale response.
  var timeToLive: Int64?
  /// Whether the forwarded response was stored.
  var isStored = false
  /// Whether the request was collapsed with concurrent ones.
  var isCollapsed = false
  /// Further details.
  var detail: String?
}

#if StructuredFields
  import RawStructuredFieldValues

  extension CacheStatus {
    /// One member of the field's list.
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

    /// The maximum integer of a structured field (RFC 9651, section 3.3.1).
    private static let greatest: Int64 = 999_999_999_999_999
  }
#else
  extension CacheStatus {
    /// Empty: the field requires the trait `StructuredFields`.
    var description: String { "" }
  }
#endif
