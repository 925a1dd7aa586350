extension ArchiveReason {
  /// The kinds of reason. A struct rather than an enum, so that new ones do not break a `switch`.
  package struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name.
    package let description: String

    /// Makes a code of that name.
    package init(_ description: String) {
      self.description = description
    }

    // MARK: Answered from the archive

    /// A stored response is fresh (RFC 9111, section 4.2).
    package static let fresh = Code("fresh")
    /// A stale one is welcome: the request's `max-stale`.
    package static let staleAllowed = Code("stale-allowed")
    /// A stale one is given while it is validated behind (RFC 5861, section 3).
    package static let staleWhileRevalidate = Code("stale-while-revalidate")
    /// A stale one in place of an error (RFC 5861, section 4).
    package static let staleIfError = Code("stale-if-error")
    /// A stale one because the origin cannot be reached (RFC 9111, section 4.2.4).
    package static let unreachable = Code("unreachable")
    /// Whatever is stored, because the mode or the request's cache policy says so.
    package static let anyAge = Code("any-age")
    /// The origin has said that the stored response still holds (RFC 9111, section 4.3.3).
    package static let validated = Code("validated")

    // MARK: Sent on

    /// Nothing is stored for the URL.
    package static let miss = Code("miss")
    /// Something is stored, for other request fields than these (RFC 9111, section 4.1).
    package static let varyMiss = Code("vary-miss")
    /// The stored response is stale.
    package static let stale = Code("stale")
    /// The stored response says that it has to be validated each time (`no-cache`), or has been invalidated.
    package static let needsValidation = Code("needs-validation")
    /// The request asks for a younger one, or for none that is stored.
    package static let request = Code("request")
    /// The method is never answered from an archive.
    package static let method = Code("method")
    /// Only a part is stored, and not all of what is asked for.
    package static let partial = Code("partial")
    /// The mode sends everything on.
    package static let mode = Code("mode")
    /// The answer of the origin stands for no stored response; asked again without conditions.
    package static let validatorUnknown = Code("validator-unknown")

    // MARK: Stored, or not

    /// Stored.
    package static let stored = Code("stored")
    /// Added to a stored part.
    package static let combined = Code("combined")
    /// `no-store` forbids it.
    package static let noStore = Code("no-store")
    /// `private`, in a shared cache.
    package static let privateResponse = Code("private")
    /// `Authorization`, in a shared cache, without a directive that allows it (RFC 9111, section 3.5).
    package static let authorization = Code("authorization")
    /// A status that must not be stored, or not without a lifetime of its own (RFC 9111, section 3).
    package static let status = Code("status")
    /// A part that cannot be used: no valid `Content-Range`, or another representation's.
    package static let unusablePart = Code("unusable-part")
  }
}
