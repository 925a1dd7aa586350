/// The reason for a decision of the archive, with the facts behind it.
struct ArchiveReason: Hashable, Sendable, CustomStringConvertible {
  /// The kind of reason.
  var code: Code
  /// The age in seconds of the stored response considered.
  private(set) var age: Int64?
  /// Its freshness lifetime in seconds (RFC 9111, section 4.2.1).
  private(set) var lifetime: Int64?
  /// The source of the lifetime.
  private(set) var lifetimeSource: LifetimeSource?
  /// The deciding directive, field or setting as written: `no-cache`, `Vary`, `only-if-cached`.
  var ruling: String?

  init(_ code: Code, _ ruling: String? = nil) {
    self.code = code
    self.ruling = ruling
  }

  /// Makes a reason with the age and lifetime of a record.
  init(_ code: Code, _ ruling: String? = nil, about record: CacheRecord, at now: CacheTime) {
    self.init(code, ruling)
    age = record.age(at: now) / 1000
    lifetime = record.lifetime
    lifetimeSource = record.lifetimeSource
  }

  /// The code and the facts, for a log line.
  var description: String {
    var text = code.rawValue
    if let ruling { text += " by \(ruling)" }
    if let age { text += ", age \(age) s" }
    if let lifetime { text += ", lifetime \(lifetime) s" }
    if let lifetimeSource { text += " from \(lifetimeSource)" }
    return text
  }
}

extension ArchiveReason {
  /// All reasons, as they appear in events, `explain` and errors, and for forwarded requests in `Cache-Status`.
  enum Code: String, Sendable {
    // MARK: Answered from the archive

    /// A stored response is fresh (RFC 9111, section 4.2).
    case fresh
    /// A stale response is acceptable by the request's `max-stale`.
    case staleAllowed = "stale-allowed"
    /// A stale response is served while it is validated in the background (RFC 5861, section 3).
    case staleWhileRevalidate = "stale-while-revalidate"
    /// A stale response is served instead of an error (RFC 5861, section 4).
    case staleIfError = "stale-if-error"
    /// A stale response is served because the origin cannot be reached (RFC 9111, section 4.2.4).
    case unreachable
    /// A response of any age is served, by the mode or the request's cache policy.
    case anyAge = "any-age"
    /// The origin validated the stored response (RFC 9111, section 4.3.3).
    case validated

    // MARK: Forwarded

    /// Nothing is stored for the URL.
    case miss
    /// Responses are stored for other request fields only (RFC 9111, section 4.1).
    case varyMiss = "vary-miss"
    /// The stored response is stale.
    case stale
    /// The stored response requires validation on each use (`no-cache`), or was invalidated.
    case needsValidation = "needs-validation"
    /// The request asks for a fresher response, or for none from a cache.
    case request
    /// The method is never answered from an archive.
    case method
    /// Only a part is stored, which does not cover the request.
    case partial
    /// The 304 identifies no stored response; the request is repeated without conditions.
    case validatorUnknown = "validator-unknown"

    // MARK: Stored, or not

    /// Stored.
    case stored
    /// Added to a stored part.
    case combined
    /// `no-store` forbids it.
    case noStore = "no-store"
    /// `private`, without user cookies to bind the response to.
    case privateResponse = "private"
    /// The status must not be stored, or requires an explicit lifetime (RFC 9111, section 3).
    case status
    /// The part is unusable: no valid `Content-Range`, or another representation.
    case unusablePart = "unusable-part"

    /// The `fwd` parameter of `Cache-Status` (RFC 9211, section 2.2).
    var forwarded: String {
      switch self {
      case .miss: "uri-miss"
      case .needsValidation: "stale"
      case .varyMiss, .stale, .method, .partial: rawValue
      default: "request"
      }
    }
  }
}
