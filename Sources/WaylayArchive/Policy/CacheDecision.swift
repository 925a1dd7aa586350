/// What to do with a request.
package struct CacheDecision: Sendable {
  package enum Action: Hashable, Sendable {
    /// Answer from the archive.
    case serve(CacheReply)
    /// Answer from the archive, and validate behind the response.
    case serveAndRevalidate(CacheReply)
    /// Send the request on, with ``CacheDecision/addedFields``.
    case forward
    /// Answer 504: `only-if-cached`, and nothing that may be used (RFC 9111, section 5.2.1.7).
    case gatewayTimeout
    /// Fail: nothing is stored, and the network may not be asked.
    case unavailable
  }

  package var action: Action
  package var reason: ArchiveReason
  /// The fields that the request is to be sent with, in place of its own of the same names.
  package var addedFields: HTTPFields
  /// The fields of the request that are not sent: those that the response behind has no use for.
  package var removedFields: [HTTPField.Name]
  /// The record that the request is about, if one matches.
  package var selected: Int?
  /// The records that the added conditions stand for; empty when there are none of ours.
  package var validating: [Int]
  /// Whether the added fields ask for the rest of the selected part.
  package var isCompleting: Bool

  init(_ action: Action, _ reason: ArchiveReason, selected: Int? = nil) {
    self.action = action
    self.reason = reason
    addedFields = [:]
    removedFields = []
    self.selected = selected
    validating = []
    isCompleting = false
  }

  /// The same without the conditions and the range that were added: for the request that is sent after
  /// ``ResponseOutcome/Reply/again``.
  package var unconditional: CacheDecision {
    var copy = self
    for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince, .ifRange, .range] { copy.addedFields[values: name] = [] }
    copy.validating = []
    copy.isCompleting = false
    return copy
  }
}

/// A response out of a stored response.
package struct CacheReply: Hashable, Sendable {
  package enum Form: Hashable, Sendable {
    case whole
    /// 304: the client has it (RFC 9111, section 4.3.2).
    case notModified
    /// 206: those bytes of the representation. A record's body begins with the first byte of its extent.
    case range(Range<Int64>)
    /// 416, with the length of the representation.
    case unsatisfiableRange(Int64)
  }

  /// The position of the record in what was asked about.
  package var index: Int
  package var form: Form
  package var isStale: Bool

  package init(index: Int, form: Form, isStale: Bool) {
    self.index = index
    self.form = form
    self.isStale = isStale
  }
}

/// What to do with a response of the origin.
package struct ResponseOutcome: Sendable {
  package enum Reply: Hashable, Sendable {
    /// The client gets it.
    case network
    /// The client gets a stored response: in place of a 304, or of an error.
    ///
    /// Its record is ``ResponseOutcome/replyRecord``, where there is one, and else the one that was asked about.
    case stored(CacheReply)
    /// The client gets the stored part up to the offset of ``Storing/join(index:offset:_:)``, and behind it the body
    /// that comes; the head is that of the joined record, once ``CacheRecord/becomeWhole()`` has made it whole.
    case joined
    /// It answers none of the conditions that were added: ask again without them.
    case again
  }

  package enum Storing: Hashable, Sendable {
    /// Its body is to be stored with this record.
    case new(CacheRecord)
    /// Its body goes into the stored one's, at the given offset of the stored body, which is cut off there.
    case join(index: Int, offset: Int64, CacheRecord)
  }

  package var reply: Reply
  /// Why the response is what it is, or why it is not stored.
  package var reason: ArchiveReason
  /// The record of a stored response, freshened; it is what the client's head is made of, whether or not it is kept.
  package var replyRecord: CacheRecord?
  /// New heads for stored bodies.
  package var updates: [Update] = []
  /// Records to be removed: what is stored takes their place, or they must not be kept.
  package var removals: [Int] = []
  package var storing: Storing?

  package struct Update: Hashable, Sendable {
    package var index: Int
    package var record: CacheRecord
  }

  init(_ reply: Reply, _ reason: ArchiveReason) {
    self.reply = reply
    self.reason = reason
  }
}

/// What one load adds to the question, beside the request.
package struct CacheOptions: Sendable {
  /// What the app makes of a head that is about to be stored.
  package struct Revision: Sendable {
    package var fields: HTTPFields
    package var lifetime: LifetimeOverride?

    package init(fields: HTTPFields, lifetime: LifetimeOverride? = nil) {
      self.fields = fields
      self.lifetime = lifetime
    }
  }

  package var mode: ArchiveMode
  /// Seen when a response is stored or freshened.
  package var lifetime: LifetimeOverride?
  /// What an unsafe-looking request, keyed by its body, is treated as: a `GET` (GraphQL over `POST`).
  package var isKeyedByBody: Bool
  /// Asked about the head that a stored response gets when it is freshened, so that what was edited out does not come
  /// back with a 304.
  package var revise: (@Sendable (_ status: Int, _ fields: HTTPFields) -> Revision)?

  package init(mode: ArchiveMode = .online, lifetime: LifetimeOverride? = nil, isKeyedByBody: Bool = false) {
    self.mode = mode
    self.lifetime = lifetime
    self.isKeyedByBody = isKeyedByBody
  }
}

/// A lifetime that a rule of the app's gives, beside what the response says.
package enum LifetimeOverride: Hashable, Sendable {
  /// Seconds for a response that says nothing of its own: in place of the heuristic of RFC 9111, section 4.2.2.
  case absent(Int64)
  /// Seconds whatever the response says: also in place of `no-store`, `no-cache`, `private` and `must-revalidate`.
  case forced(Int64)
}

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

  /// The kinds of reason. A struct rather than an enum, so that new ones do not break a `switch`.
  package struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name.
    package let description: String

    /// Makes a code of that name.
    package init(_ description: String) { self.description = description }

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
    /// The response of the origin stands for no stored response; asked again without conditions.
    package static let validatorUnknown = Code("validator-unknown")

    // MARK: Stored, or not

    /// Stored.
    package static let stored = Code("stored")
    /// Added to a stored part.
    package static let combined = Code("combined")
    /// `no-store` forbids it.
    package static let noStore = Code("no-store")
    /// `private`, and nothing says whose it is.
    package static let privateResponse = Code("private")
    /// A status that must not be stored, or not without a lifetime of its own (RFC 9111, section 3).
    package static let status = Code("status")
    /// A part that cannot be used: no valid `Content-Range`, or another representation's.
    package static let unusablePart = Code("unusable-part")
  }
}
