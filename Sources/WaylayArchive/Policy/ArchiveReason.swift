/// Why an archive did what it did with a request or a response, and the facts that decided.
struct ArchiveReason: Hashable, Sendable, CustomStringConvertible {
  /// What decided.
  var code: Code
  /// The age of the stored response that the decision is about, in seconds.
  private(set) var age: Int64?
  /// Its freshness lifetime, in seconds (RFC 9111, section 4.2.1).
  private(set) var lifetime: Int64?
  /// Where the lifetime came from.
  private(set) var lifetimeSource: LifetimeSource?
  /// The directive, field or setting that ruled, as it is written: `no-cache`, `Vary`, `only-if-cached`.
  var ruling: String?

  init(_ code: Code, _ ruling: String? = nil) {
    self.code = code
    self.ruling = ruling
  }

  /// A reason that is about a record.
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
  /// The one table of reasons: as events, `explain` and errors have them, and, for requests that are sent on, as
  /// `Cache-Status` has them.
  enum Code: String, Sendable {
    // MARK: Answered from the archive

    /// A stored response is fresh (RFC 9111, section 4.2).
    case fresh
    /// A stale one is welcome: the request's `max-stale`.
    case staleAllowed = "stale-allowed"
    /// A stale one is given while it is validated behind (RFC 5861, section 3).
    case staleWhileRevalidate = "stale-while-revalidate"
    /// A stale one in place of an error (RFC 5861, section 4).
    case staleIfError = "stale-if-error"
    /// A stale one because the origin cannot be reached (RFC 9111, section 4.2.4).
    case unreachable
    /// Whatever is stored, because the mode or the request's cache policy says so.
    case anyAge = "any-age"
    /// The origin has said that the stored response still holds (RFC 9111, section 4.3.3).
    case validated

    // MARK: Sent on

    /// Nothing is stored for the URL.
    case miss
    /// Something is stored, for other request fields than these (RFC 9111, section 4.1).
    case varyMiss = "vary-miss"
    /// The stored response is stale.
    case stale
    /// The stored response says that it has to be validated each time (`no-cache`), or has been invalidated.
    case needsValidation = "needs-validation"
    /// The request asks for a younger one, or for none that is stored.
    case request
    /// The method is never answered from an archive.
    case method
    /// Only a part is stored, and not all of what is asked for.
    case partial
    /// The response of the origin stands for no stored response; asked again without conditions.
    case validatorUnknown = "validator-unknown"

    // MARK: Stored, or not

    /// Stored.
    case stored
    /// Added to a stored part.
    case combined
    /// `no-store` forbids it.
    case noStore = "no-store"
    /// `private`, and nothing says whose it is.
    case privateResponse = "private"
    /// A status that must not be stored, or not without a lifetime of its own (RFC 9111, section 3).
    case status
    /// A part that cannot be used: no valid `Content-Range`, or another representation's.
    case unusablePart = "unusable-part"

    /// Why a request went on, as `Cache-Status` has it (RFC 9211, section 2.2).
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
