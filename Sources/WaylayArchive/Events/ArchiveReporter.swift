import Foundation
import Logging

/// Tells subscribers, the log and the counters what happens. Safe from any thread.
final class ArchiveReporter: Sendable {
  private let tally = Locked(ArchiveCounters())
  private let hub = EventHub<ArchiveEvent>()
  private let logger: Logger?

  init(logger: Logger?) {
    self.logger = logger
  }

  var counters: ArchiveCounters { tally.withLock { $0 } }

  /// Counts the event, hands it to whoever subscribed, and logs it where somebody listens.
  ///
  /// - Parameter level: The level of its line in the log, where that is not its kind's.
  func report(_ event: ArchiveEvent, at level: Logger.Level? = nil) {
    report(event.kind, bytes: event.bytes, at: level) { event }
  }

  /// The same with an event that is made only for those who listen: a hit should not pay for texts that nobody reads.
  func report(
    _ kind: ArchiveEvent.Kind, bytes: Int64?, at level: Logger.Level? = nil, _ event: () -> ArchiveEvent
  ) {
    tally.withLock { $0.count(kind, bytes: bytes ?? 0) }
    hub.send(event)
    let level = level ?? Self.level(of: kind)
    if let logger, logger.logLevel <= level { log(event(), logger, level) }
  }

  private static func level(of kind: ArchiveEvent.Kind) -> Logger.Level { kind == .storeFailed ? .warning : .debug }

  func events(bufferingNewest limit: Int) -> AsyncStream<ArchiveEvent> { hub.subscribe(bufferingNewest: limit) }

  func close() { hub.close() }

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
public enum ArchiveLogKey {
  /// The kind of event.
  public static let event = "waylay.archive.event"
  /// The reason for the event.
  public static let reason = "waylay.archive.reason"
  /// The number of body bytes.
  public static let bytes = "waylay.archive.bytes"
}

extension ArchiveCache {
  /// The events of the archive from now on.
  ///
  /// - Parameter limit: The number of events buffered for a slow reader; beyond it the oldest are dropped.
  public func events(bufferingNewest limit: Int = 256) -> AsyncStream<ArchiveEvent> {
    engine.reporter.events(bufferingNewest: limit)
  }

  /// The counters of the archive's events since it was made.
  public var counters: ArchiveCounters { engine.reporter.counters }
}
