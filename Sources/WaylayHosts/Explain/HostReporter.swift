/// Reports events to subscribers, the log and the counters. Thread-safe.
final class HostReporter: Sendable {
  private struct State {
    var counters = HostCounters()
    /// The hosts with a logged warning; `nil` for a warning without a host.
    var warnings: Set<HostName?> = []
  }

  private let state = Locked(State())
  let hub = EventHub<HostEvent>()
  private let logger: Logger?

  init(logger: Logger?) {
    self.logger = logger
  }

  var counters: HostCounters { state.withLock { $0.counters } }

  func count(_ change: (inout HostCounters) -> Void) {
    state.withLock { change(&$0.counters) }
  }

  /// Reports the end of an attempt.
  func attempted(_ attempt: HostAttempt, ban: AddressBan?, now: Duration, request: InterceptedRequest, host: HostName) {
    count { counters in
      if attempt.candidate != nil { counters.attempts += 1 }
      if attempt.outcome.isAddressFault { counters.faults += 1 }
      if attempt.isSuspectedHijack { counters.suspectedHijacks += 1 }
      if ban != nil { counters.bans += 1 }
    }
    log(attempt, request, host)
    let duration = ban.map { max($0.until - now, .zero) }
    hub.send {
      HostEvent(
        id: request.id, kind: .attempted, host: host, url: request.url, attempt: attempt, ban: duration,
        error: attempt.error)
    }
  }

  /// Logs once, or once per host, that a request is not routed; to standard error if the app set no logger.
  func warnOnce(_ what: Logger.Message, _ error: HostError, about host: HostName? = nil) {
    let isFirst = state.withLock { state in
      // Limits the memory: a larger number of hosts is not realistic.
      (host == nil || state.warnings.count < 100) && state.warnings.insert(host).inserted
    }
    guard isFirst else { return }
    var metadata: Logger.Metadata = [LogKey.error: "\(error.message)"]
    if let host { metadata[HostLogKey.host] = "\(host)" }
    let logger = logger ?? Logger(label: "waylay.hosts") { StreamLogHandler.standardError(label: $0) }
    logger.warning(what, metadata: metadata)
  }

  /// Reports an event other than an attempt.
  func happened(_ kind: OpenEnum<HostEvent>, request: InterceptedRequest, host: HostName, error: (any Error)? = nil) {
    if let logger, logger.logLevel <= .debug {
      var metadata: Logger.Metadata = [LogKey.load: "\(request.id)", HostLogKey.host: "\(host)"]
      if let error = error as? HostError { metadata[LogKey.error] = "\(error.message)" }
      logger.debug("host \(kind)", metadata: metadata)
    }
    hub.send {
      HostEvent(id: request.id, kind: kind, host: host, url: request.url, attempt: nil, ban: nil, error: error)
    }
  }

  /// Logs a suspected hijack as a warning, any other attempt for debugging.
  private func log(_ attempt: HostAttempt, _ request: InterceptedRequest, _ host: HostName) {
    let level: Logger.Level = attempt.isSuspectedHijack ? .warning : .debug
    guard let logger, logger.logLevel <= level else { return }
    var metadata: Logger.Metadata = [
      LogKey.load: "\(request.id)", HostLogKey.host: "\(host)", HostLogKey.outcome: "\(attempt.outcome)",
      LogKey.milliseconds: "\(attempt.duration.milliseconds)",
      HostLogKey.address: "\(attempt.candidate?.description ?? "system")",
    ]
    if let source = attempt.candidate?.source { metadata[HostLogKey.source] = "\(source)" }
    switch attempt.error {
    case let error as HostError: metadata[LogKey.error] = "\(error.message.withRedactedURLs)"
    case let error?: metadata[LogKey.error] = "\(error.redacted)"
    case nil: break
    }
    logger.log(level: level, attempt.isSuspectedHijack ? "suspected hijack" : "address attempted", metadata: metadata)
  }
}

/// The metadata keys of a log line, in addition to those of `LogKey`. They are stable: filter on them.
enum HostLogKey {
  /// The host of the request.
  static let host = "waylay.host"
  /// The dialed address and port.
  static let address = "waylay.address"
  /// The source of the address.
  static let source = "waylay.address.source"
  /// The outcome of the attempt.
  static let outcome = "waylay.attempt.outcome"
}
