import Foundation

extension Load {
  private var method: String { (first.urlRequest.httpMethod ?? "GET").uppercased() }

  /// Tells the subscribers, if there are any.
  func report(_ kind: LoadEvent.Kind, response: InterceptedResponse? = nil, error: (any Error)? = nil) {
    guard !decision.snapshot.subscribers.isEmpty else { return }
    let (chain, startedAt) = state.withLock { ($0.selection?.chain.name, $0.clock.startedAt) }
    let event = LoadEvent(
      id: id, kind: kind, method: method, url: url, chain: chain, status: response?.status,
      source: response?.source, error: error,
      elapsed: .nanoseconds(Int64(clamping: registry.clock.now().saturating(subtracting: startedAt))))
    for subscriber in decision.snapshot.subscribers { subscriber.yield(event) }
  }

  /// Ends the load: timeouts stop, the last event goes out, the log gets its line. Only the first call counts.
  func end(_ response: InterceptedResponse? = nil, error: (any Error)? = nil) {
    let (isFirst, isWatched) = state.withLock { state in
      defer {
        state.hasEnded = true
        state.onFailure = nil
      }
      return (!state.hasEnded, state.isWatched)
    }
    guard isFirst else { return }
    if isWatched { registry.watch.remove(self) }
    report(error == nil ? .finished : .failed, response: response, error: error)
    log(response, error)
  }

  private func log(_ response: InterceptedResponse?, _ error: (any Error)?) {
    guard let logger = registry.logger, logger.logLevel <= .debug else { return }
    let (chain, startedAt) = state.withLock { ($0.selection?.chain.name, $0.clock.startedAt) }
    var metadata: Logger.Metadata = [
      LogKey.load: "\(id)", LogKey.method: "\(method)", LogKey.url: "\(url?.redacted ?? "")",
      LogKey.milliseconds: "\(registry.clock.now().saturating(subtracting: startedAt) / 1_000_000)",
    ]
    if let chain { metadata[LogKey.chain] = "\(chain)" }
    if let response {
      metadata[LogKey.status] = "\(response.status.code)"
      metadata[LogKey.source] = "\(response.source)"
    }
    if let error { metadata[LogKey.error] = "\(error.redacted)" }
    logger.debug(error == nil ? "load finished" : "load failed", metadata: metadata)
  }
}
