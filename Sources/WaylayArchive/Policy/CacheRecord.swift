/// What is kept of a stored response beside its body: everything that decisions need, read off its head once, when it
/// is stored or freshened.
package struct CacheRecord: Hashable, Sendable {
  /// The method of the requests that it answers: `.get`, or `.head` for a response without a body.
  package var method: CacheMethod
  package var status: Int
  /// The fields as they are given out, without those that belong to the connection, and without `Age`.
  package var fields: HTTPFields
  /// The trailer fields, kept apart from the header (RFC 9110, section 6.5).
  package var trailers: HTTPFields

  /// When the request was sent that the response, or what freshened it last, answered.
  package var requestTime: CacheTime
  /// When that answer came.
  package var responseTime: CacheTime
  /// `Date`, in seconds since 1970; the time of the response where it has none (RFC 9110, section 6.6.1).
  package var date: Int64
  /// The age that it came with: `corrected_initial_age` of RFC 9111, section 4.2.3, in milliseconds.
  package var initialAge: Int64
  /// Seconds.
  package var lifetime: Int64
  package var lifetimeSource: ArchiveReason.LifetimeSource
  package var flags: Flags
  /// Seconds of `stale-while-revalidate`.
  package var staleWhileRevalidate: Int64
  /// Seconds of `stale-if-error`.
  package var staleIfError: Int64

  /// `ETag`, as it was seen.
  package var entityTag: String?
  /// `Last-Modified`, as it was seen.
  package var lastModified: String?
  package var vary: Vary
  /// The requests that it is for, as far as `Vary` tells them apart; the newest last.
  package var requests: [RequestDigest]

  /// The users that it is for, by their cookies; the newest last, and empty for everybody.
  package var users: [RequestDigest]

  /// The bytes of the representation that are stored, from the first; `nil` for all of them.
  package var extent: Range<Int64>?
  /// The length of the whole representation, where it is known.
  package var completeLength: Int64?

  package struct Flags: OptionSet, Hashable, Sendable {
    package var rawValue: UInt16

    package init(rawValue: UInt16) {
      self.rawValue = rawValue
    }

    /// Not to be used without validation, however young (`no-cache`).
    package static let noCache = Flags(rawValue: 1 << 0)
    /// Not to be used when stale (`must-revalidate`; in a shared cache also `proxy-revalidate` and `s-maxage`).
    package static let mustRevalidate = Flags(rawValue: 1 << 1)
    package static let immutable = Flags(rawValue: 1 << 2)
    /// Something since has changed the resource, or may have (RFC 9111, sections 4.3.5 and 4.4).
    package static let invalidated = Flags(rawValue: 1 << 3)
    /// The body is not what was on the wire: its coding has been undone, so that ranges of it mean nothing.
    package static let decoded = Flags(rawValue: 1 << 4)
    /// It came with cookies, which are not stored.
    package static let hadCookies = Flags(rawValue: 1 << 6)
    /// Nothing allows to reuse it; it is kept for when the origin cannot be asked, and given at no other time.
    package static let lastResort = Flags(rawValue: 1 << 7)
    /// `Last-Modified` is old enough, against `Date`, to be a strong validator (RFC 9110, section 8.8.2.2).
    package static let strongLastModified = Flags(rawValue: 1 << 5)
  }

  /// Whether the whole representation is there.
  package var isComplete: Bool { extent == nil }

  /// Whether it can be validated at all.
  package var hasValidator: Bool { entityTag != nil || lastModified != nil }

  /// The validator that allows combining with other parts (RFC 9110, sections 8.8.1 and 13.1.5).
  package var strongValidator: String? {
    if let entityTag { return EntityTag.isWeak(entityTag) ? nil : entityTag }
    return flags.contains(.strongLastModified) ? lastModified : nil
  }

  /// The same, in need of validation before it is used again (RFC 9111, section 4.4).
  package func invalidated() -> CacheRecord {
    var copy = self
    copy.flags.insert(.invalidated)
    return copy
  }

  /// Whether nobody can say how old it is: the clock has been set back since another process stored it. It counts as
  /// stale then, and the origin's next word puts it right; else a clock that was years ahead once would keep it fresh
  /// for years.
  package func isOfUnknownAge(at now: CacheTime) -> Bool {
    responseTime.isUnplaced(at: now)
  }

  /// Milliseconds of age at a moment: `current_age` of RFC 9111, section 4.2.3.
  package func age(at now: CacheTime) -> Int64 {
    initialAge.addingSaturating(now.milliseconds(since: responseTime))
  }
}
