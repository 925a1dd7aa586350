import Foundation
import Logging

/// Where an archive says what it does: subscribers, counters, the log.
final class Outlets: Sendable {
  private struct State {
    var subscribers: [UInt64: AsyncStream<ArchiveEvent>.Continuation] = [:]
    var lastNumber: UInt64 = 0
    var counters = ArchiveCounters()
    var isClosed = false
  }

  private let state = Locked(State())
  private let logger: Logger?

  init(logger: Logger?) {
    self.logger = logger
  }

  var counters: ArchiveCounters { state.withLock { $0.counters } }

  /// Counts the event, hands it to whoever subscribed, and logs it where somebody listens.
  func report(_ event: ArchiveEvent) {
    report(event.kind, bytes: event.bytes) { event }
  }

  /// The same with an event that is made only for those who listen: a hit should not pay for texts that nobody reads.
  func report(_ kind: ArchiveEvent.Kind, bytes: Int64?, _ event: () -> ArchiveEvent) {
    let subscribers = state.withLock { state -> [AsyncStream<ArchiveEvent>.Continuation] in
      state.counters.count(kind, bytes: bytes ?? 0)
      return state.subscribers.isEmpty ? [] : Array(state.subscribers.values)
    }
    let isLogged = logger.map { $0.logLevel <= Self.level(of: kind) } ?? false
    guard isLogged || !subscribers.isEmpty else { return }
    let event = event()
    for subscriber in subscribers { subscriber.yield(event) }
    if isLogged { log(event) }
  }

  private static func level(of kind: ArchiveEvent.Kind) -> Logger.Level { kind == .storeFailed ? .warning : .debug }

  func subscribe(bufferingNewest limit: Int) -> AsyncStream<ArchiveEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: ArchiveEvent.self, bufferingPolicy: .bufferingNewest(max(1, limit)))
    let (number, isClosed) = state.withLock { state in
      state.lastNumber &+= 1
      if !state.isClosed { state.subscribers[state.lastNumber] = continuation }
      return (state.lastNumber, state.isClosed)
    }
    if isClosed { continuation.finish() }
    continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.subscribers.removeValue(forKey: number) } }
    return stream
  }

  func close() {
    let subscribers = state.withLock { state in
      state.isClosed = true
      defer { state.subscribers = [:] }
      return Array(state.subscribers.values)
    }
    for subscriber in subscribers { subscriber.finish() }
  }

  private func log(_ event: ArchiveEvent) {
    guard let logger else { return }
    var metadata: Logger.Metadata = [ArchiveLogKey.event: "\(event.kind)"]
    if let url = event.url { metadata[LogKey.url] = "\(url.redacted)" }
    if let load = event.load { metadata[LogKey.load] = "\(load)" }
    if let reason = event.reason { metadata[ArchiveLogKey.reason] = "\(reason)" }
    if let bytes = event.bytes { metadata[ArchiveLogKey.bytes] = "\(bytes)" }
    logger.log(level: Self.level(of: event.kind), "archive \(event.kind)", metadata: metadata)
  }
}

/// The keys of an archive's log lines, beside those of `LogKey`. They are stable: filter on them.
///
/// Events are logged at `.debug`, failures of the store at `.warning`. Header fields and bodies never are.
public enum ArchiveLogKey {
  /// The kind of event.
  public static let event = "waylay.archive.event"
  /// Why it happened.
  public static let reason = "waylay.archive.reason"
  /// The bytes of the body.
  public static let bytes = "waylay.archive.bytes"
}

extension ArchiveCache {
  /// What the archive does from now on.
  ///
  /// - Parameter limit: Events kept for a slow reader; beyond it the oldest are dropped.
  public func events(bufferingNewest limit: Int = 256) -> AsyncStream<ArchiveEvent> {
    engine.outlets.subscribe(bufferingNewest: limit)
  }

  /// How often the archive did what, since it was made.
  public var counters: ArchiveCounters { engine.outlets.counters }
}
