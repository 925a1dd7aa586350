/// Why an archive answered the way it did: a stable code, and the facts that decided.
///
/// ```swift
/// let reason: ArchiveReason = .init(.stale)
/// print(reason)   // "stale"
/// ```
///
/// Codes are for programs, the description is for people; what is in the description may change in any release.
package struct ArchiveReason: Hashable, Sendable, CustomStringConvertible {
  /// What decided.
  package var code: Code
  /// The age of the stored response that the decision is about, in seconds.
  package var age: Int64?
  /// Its freshness lifetime, in seconds (RFC 9111, section 4.2.1).
  package var lifetime: Int64?
  /// Where the lifetime came from.
  package var lifetimeSource: LifetimeSource?
  /// The directive, field or setting that ruled, as it is written: `no-cache`, `Vary`, `only-if-cached`.
  package var ruling: String?

  /// Makes a reason.
  package init(
    _ code: Code, age: Int64? = nil, lifetime: Int64? = nil, lifetimeSource: LifetimeSource? = nil,
    ruling: String? = nil
  ) {
    self.code = code
    self.age = age
    self.lifetime = lifetime
    self.lifetimeSource = lifetimeSource
    self.ruling = ruling
  }

  /// The seconds for which the stored response stays fresh; negative once it is stale.
  package var timeToLive: Int64? {
    guard let lifetime, let age else { return nil }
    return lifetime.subtractingSaturating(age)
  }

  /// The code and the facts, for a log line.
  package var description: String {
    var text = code.description
    if let ruling { text += " by \(ruling)" }
    if let age { text += ", age \(age) s" }
    if let lifetime { text += ", lifetime \(lifetime) s" }
    if let lifetimeSource { text += " from \(lifetimeSource)" }
    return text
  }
}

extension ArchiveReason {
  /// Where a freshness lifetime came from.
  package struct LifetimeSource: Hashable, Sendable, CustomStringConvertible {
    let number: UInt8

    /// `max-age`.
    package static let maxAge = LifetimeSource(number: 0)
    /// `s-maxage`, in a shared cache.
    package static let sharedMaxAge = LifetimeSource(number: 1)
    /// `Expires` less `Date`.
    package static let expires = LifetimeSource(number: 2)
    /// A tenth of the time since `Last-Modified` (RFC 9111, section 4.2.2).
    package static let heuristic = LifetimeSource(number: 3)
    /// Nothing says how long: not at all.
    package static let none = LifetimeSource(number: 4)
    /// Something that cannot be read: not at all (RFC 9111, section 4.2.1).
    package static let invalid = LifetimeSource(number: 5)
    /// A rule of the app's for responses that carry no lifetime.
    package static let fallback = LifetimeSource(number: 6)
    /// A rule of the app's in place of what the response says.
    package static let forced = LifetimeSource(number: 7)

    static let names = [
      "max-age", "s-maxage", "Expires", "heuristic", "nothing", "unreadable", "default rule", "forced rule",
    ]

    /// The source's name.
    package var description: String { Int(number) < Self.names.count ? Self.names[Int(number)] : "unknown" }
  }
}
