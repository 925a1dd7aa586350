extension ArchiveReason {
  /// The kinds of reason. A struct rather than an enum, so that new ones do not break a `switch`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name.
    public let description: String

    /// Makes a code of that name.
    public init(_ description: String) {
      self.description = description
    }

    // MARK: Answered from the archive

    /// A stored response is fresh (RFC 9111, section 4.2).
    public static let fresh = Code("fresh")
    /// A stale one is welcome: the request's `max-stale`.
    public static let staleAllowed = Code("stale-allowed")
    /// A stale one is given while it is validated behind (RFC 5861, section 3).
    public static let staleWhileRevalidate = Code("stale-while-revalidate")
    /// A stale one in place of an error (RFC 5861, section 4).
    public static let staleIfError = Code("stale-if-error")
    /// A stale one because the origin cannot be reached (RFC 9111, section 4.2.4).
    public static let unreachable = Code("unreachable")
    /// Whatever is stored, because the mode or the request's cache policy says so.
    public static let anyAge = Code("any-age")
    /// The origin has said that the stored response still holds (RFC 9111, section 4.3.3).
    public static let validated = Code("validated")

    // MARK: Sent on

    /// Nothing is stored for the URL.
    public static let miss = Code("miss")
    /// Something is stored, for other request fields than these (RFC 9111, section 4.1).
    public static let varyMiss = Code("vary-miss")
    /// The stored response is stale.
    public static let stale = Code("stale")
    /// The stored response says that it has to be validated each time (`no-cache`), or has been invalidated.
    public static let needsValidation = Code("needs-validation")
    /// The request asks for a younger one, or for none that is stored.
    public static let request = Code("request")
    /// The method is never answered from an archive.
    public static let method = Code("method")
    /// Only a part is stored, and not all of what is asked for.
    public static let partial = Code("partial")
    /// The mode sends everything on.
    public static let mode = Code("mode")
    /// The answer of the origin stands for no stored response; asked again without conditions.
    public static let validatorUnknown = Code("validator-unknown")

    // MARK: Stored, or not

    /// Stored.
    public static let stored = Code("stored")
    /// Added to a stored part.
    public static let combined = Code("combined")
    /// `no-store` forbids it.
    public static let noStore = Code("no-store")
    /// `private`, in a shared cache.
    public static let privateResponse = Code("private")
    /// `Authorization`, in a shared cache, without a directive that allows it (RFC 9111, section 3.5).
    public static let authorization = Code("authorization")
    /// A status that must not be stored, or not without a lifetime of its own (RFC 9111, section 3).
    public static let status = Code("status")
    /// A part that cannot be used: no valid `Content-Range`, or another representation's.
    public static let unusablePart = Code("unusable-part")
  }
}
