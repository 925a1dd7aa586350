import Foundation
import Logging

/// An event in an archive, for observers.
///
/// ```swift
/// for await event in archive.events() where event.kind == .refused {
///   print(event.url?.path ?? "", event.reason ?? "")
/// }
/// ```
public struct ArchiveEvent: Sendable {
  /// The kind of event.
  public let kind: OpenEnum<ArchiveEvent>
  /// The load in which it happened; `nil` for an event outside any load, such as an eviction.
  public let load: InterceptedRequest.ID?
  /// The URL of the event, without user name and password.
  public let url: URL?
  /// The human-readable reason.
  public let reason: String?
  /// The number of body bytes, if known.
  public let bytes: Int64?
  /// The age of the served response (RFC 9111, section 4.2.3).
  public let age: Duration?
  /// Whether the response of a check in the background has another status or body than the stored one; `nil` for other
  /// events.
  public internal(set) var isChanged: Bool?
}

extension ArchiveEvent: CustomStringConvertible {
  /// The event on one line, suitable for a log: without query values.
  public var description: String {
    var text = "\(kind)"
    if let url { text += " \(url.redacted)" }
    if let load { text += " [load \(load)]" }
    if let bytes { text += ", \(bytes) bytes" }
    if let reason { text += ": \(reason)" }
    return text
  }
}

/// Counters of an archive's events since it was made.
public struct ArchiveCounters: Sendable, Hashable {
  /// Cache hits, not counting stale ones.
  public var hits = 0
  /// Cache hits with stale responses.
  public var staleHits = 0
  /// Stored responses that the origin validated.
  public var revalidations = 0
  /// Cache misses: requests without a usable stored response.
  public var misses = 0
  /// Requests sent on without a lookup.
  public var bypasses = 0
  /// Responses that were stored.
  public var stored = 0
  /// Responses that were not stored.
  public var refused = 0
  /// Entries that were evicted.
  public var evicted = 0
  /// Requests that were answered with another request's response.
  public var collapsed = 0
  /// Failures of the store.
  public var storeFailures = 0
  /// The number of body bytes served from the archive.
  public var servedBytes: Int64 = 0
  /// The number of body bytes stored.
  public var storedBytes: Int64 = 0

  /// The fraction of looked-up requests that needed no body from the network, from 0 to 1.
  public var hitRatio: Double {
    let answered = hits + staleHits + revalidations + collapsed
    return answered + misses == 0 ? 0 : Double(answered) / Double(answered + misses)
  }
}

extension ArchiveCounters {
  mutating func count(_ kind: OpenEnum<ArchiveEvent>, bytes: Int64) {
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

/// Reports events to subscribers, the log and the counters. Thread-safe.
final class ArchiveReporter: Sendable {
  private let tally = Locked(ArchiveCounters())
  let hub = EventHub<ArchiveEvent>()
  private let logger: Logger?

  init(logger: Logger?) { self.logger = logger }

  var counters: ArchiveCounters { tally.withLock { $0 } }

  /// Counts the event, sends it to the subscribers, and logs it if the level is enabled.
  ///
  /// - Parameter level: The log level, if it differs from the default of the kind.
  func report(_ event: ArchiveEvent, at level: Logger.Level? = nil) {
    report(event.kind, bytes: event.bytes, at: level) { event }
  }

  /// Like `report(_:at:)`, with an event that is made only if there is a subscriber or an enabled log: keeps hits
  /// cheap.
  func report(_ kind: OpenEnum<ArchiveEvent>, bytes: Int64?, at level: Logger.Level? = nil, _ event: () -> ArchiveEvent)
  {
    tally.withLock { $0.count(kind, bytes: bytes ?? 0) }
    hub.send(event)
    let level = level ?? (kind == .storeFailed ? .warning : .debug)
    if let logger, logger.logLevel <= level { log(event(), logger, level) }
  }

  private func log(_ event: ArchiveEvent, _ logger: Logger, _ level: Logger.Level) {
    var metadata: Logger.Metadata = [ArchiveLogKey.event: "\(event.kind)"]
    if let url = event.url { metadata[LogKey.url] = "\(url.redacted)" }
    if let load = event.load { metadata[LogKey.load] = "\(load)" }
    if let reason = event.reason { metadata[ArchiveLogKey.reason] = "\(reason)" }
    if let bytes = event.bytes { metadata[ArchiveLogKey.bytes] = "\(bytes)" }
    logger.log(level: level, "archive \(event.kind)", metadata: metadata)
  }
}

/// The metadata keys of an archive's log lines, in addition to those of `LogKey`. They are stable: filter on them.
///
/// Events are logged at `.debug`, responses rejected by the store's limits at `.notice`, failures of the store at
/// `.warning`. Header fields and bodies are never logged.
enum ArchiveLogKey {
  /// The kind of event.
  static let event = "waylay.archive.event"
  /// The reason for the event.
  static let reason = "waylay.archive.reason"
  /// The number of body bytes.
  static let bytes = "waylay.archive.bytes"
}

extension ArchiveCache {
  /// The events of the archive from now on.
  ///
  /// - Parameter limit: The number of events buffered for a slow reader; beyond it the oldest are dropped.
  public func events(bufferingNewest limit: Int = 256) -> AsyncStream<ArchiveEvent> {
    engine.reporter.hub.subscribe(bufferingNewest: limit)
  }

  /// The counters of the archive's events since it was made.
  public var counters: ArchiveCounters { engine.reporter.counters }
}

extension OpenEnum where Domain == ArchiveEvent {
  /// A cache hit: the response was fresh, or acceptable to the request.
  public static var hit: Self { Self("hit") }
  /// A cache hit with a stale response; the reason names the directive or setting that allowed it.
  public static var staleHit: Self { Self("staleHit") }
  /// The origin validated the stored response.
  public static var revalidated: Self { Self("revalidated") }
  /// The stored response was checked in the background, after it had been served stale (RFC 5861, section 3):
  /// ``ArchiveEvent/isChanged`` says whether the origin's differs.
  public static var revalidatedInBackground: Self { Self("revalidatedInBackground") }
  /// A cache miss: the request was sent on; the reason says why.
  public static var miss: Self { Self("miss") }
  /// The request was sent on without a lookup.
  public static var bypassed: Self { Self("bypassed") }
  /// No stored response was usable, and the network was not allowed.
  public static var unavailable: Self { Self("unavailable") }
  /// A response was stored.
  public static var stored: Self { Self("stored") }
  /// A response was not stored; the reason says why.
  public static var refused: Self { Self("refused") }
  /// Stored responses were removed because a request invalidated them (RFC 9111, section 4.4).
  public static var invalidated: Self { Self("invalidated") }
  /// An entry was evicted; the reason says why.
  public static var evicted: Self { Self("evicted") }
  /// The request was collapsed: it was answered with the response of a concurrent load for the same resource.
  public static var collapsed: Self { Self("collapsed") }
  /// The request waited in vain for another load, whose response may not be shared.
  public static var released: Self { Self("released") }
  /// The store was opened, for the first time or again.
  public static var opened: Self { Self("opened") }
  /// The store could not be opened, read or written; the reason describes the failure.
  public static var storeFailed: Self { Self("storeFailed") }
}
