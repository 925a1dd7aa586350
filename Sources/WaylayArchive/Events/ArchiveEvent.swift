import Foundation

/// One thing that an archive did, for whoever watches.
///
/// ```swift
/// for await event in archive.events() where event.kind == .refused {
///   print(event.url?.path ?? "", event.reason ?? "")
/// }
/// ```
public struct ArchiveEvent: Sendable {
  /// What happened.
  public let kind: Kind
  /// The load it happened in; `nil` for what belongs to none, such as an eviction.
  public let load: InterceptedRequest.ID?
  /// The URL it is about, without user name and password.
  public let url: URL?
  /// Why it happened, for a person.
  public let reason: String?
  /// Bytes of the body, where they are known.
  public let bytes: Int64?
  /// The age of the answer that was given (RFC 9111, section 4.2.3).
  public let age: Duration?

  /// A kind of event. A struct rather than an enum, so that new ones do not break a `switch`.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    /// The kind's name.
    public let description: String

    /// Answered from the archive: fresh, or as the request asked for it.
    public static let hit = Kind(description: "hit")
    /// Answered from the archive with something stale; the reason says what allowed it.
    public static let staleHit = Kind(description: "staleHit")
    /// The origin said that what is stored is still good.
    public static let revalidated = Kind(description: "revalidated")
    /// The same, behind a stale answer that had been given (RFC 5861, section 3).
    public static let revalidatedInBackground = Kind(description: "revalidatedInBackground")
    /// Sent on, because nothing stored would do; the reason says why.
    public static let miss = Kind(description: "miss")
    /// Sent on without a look at what is stored.
    public static let bypassed = Kind(description: "bypassed")
    /// Nothing stored would do, and the network was not allowed.
    public static let unavailable = Kind(description: "unavailable")
    /// An answer was stored.
    public static let stored = Kind(description: "stored")
    /// An answer was not stored; the reason says why.
    public static let refused = Kind(description: "refused")
    /// Stored answers were dropped, because a request changed what they are about (RFC 9111, section 4.4).
    public static let invalidated = Kind(description: "invalidated")
    /// An entry was evicted; the reason says why.
    public static let evicted = Kind(description: "evicted")
    /// Answered with what another load, under way for the same thing, received.
    public static let collapsed = Kind(description: "collapsed")
    /// Waited for another load in vain: its answer may not be shared.
    public static let released = Kind(description: "released")
    /// The store could not be opened, read or written; the reason says what happened.
    public static let storeFailed = Kind(description: "storeFailed")
  }
}

extension ArchiveEvent: CustomStringConvertible {
  /// The event on one line, as a log may show it: without query values.
  public var description: String {
    var text = "\(kind)"
    if let url { text += " \(url.redacted)" }
    if let load { text += " [load \(load)]" }
    if let bytes { text += ", \(bytes) bytes" }
    if let reason { text += ": \(reason)" }
    return text
  }
}

/// How often an archive did what, since it was made.
public struct ArchiveCounters: Sendable, Hashable {
  /// Answers from the archive, stale ones not counted.
  public var hits = 0
  /// Stale answers from the archive.
  public var staleHits = 0
  /// Answers from the archive that the origin confirmed.
  public var revalidations = 0
  /// Requests for which nothing stored would do.
  public var misses = 0
  /// Requests that were sent on without a look.
  public var bypasses = 0
  /// Answers that were stored.
  public var stored = 0
  /// Answers that were not.
  public var refused = 0
  /// Entries that were evicted.
  public var evicted = 0
  /// Requests that were answered with what another one received.
  public var collapsed = 0
  /// Failures of the store.
  public var storeFailures = 0
  /// Bytes of bodies that came from the archive.
  public var servedBytes: Int64 = 0
  /// Bytes of bodies that went into it.
  public var storedBytes: Int64 = 0

  /// The part of all requests that were looked up and needed no body from the network, from 0 to 1.
  public var hitRatio: Double {
    let answered = hits + staleHits + revalidations + collapsed
    return answered + misses == 0 ? 0 : Double(answered) / Double(answered + misses)
  }
}

extension ArchiveCounters {
  mutating func count(_ kind: ArchiveEvent.Kind, bytes: Int64) {
    switch kind {
    case .hit: (hits, servedBytes) = (hits &+ 1, servedBytes &+ bytes)
    case .staleHit: (staleHits, servedBytes) = (staleHits &+ 1, servedBytes &+ bytes)
    case .revalidated: (revalidations, servedBytes) = (revalidations &+ 1, servedBytes &+ bytes)
    case .miss: misses &+= 1
    case .bypassed: bypasses &+= 1
    case .stored: (stored, storedBytes) = (stored &+ 1, storedBytes &+ bytes)
    case .refused: refused &+= 1
    case .evicted: evicted &+= 1
    case .collapsed: collapsed &+= 1
    case .storeFailed: storeFailures &+= 1
    default: break
    }
  }
}
