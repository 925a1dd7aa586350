import Foundation

extension InterceptorRegistry {
  /// What happens in the loads that start from now on.
  ///
  /// - Parameter limit: Events kept for a slow reader; beyond it the oldest are dropped.
  public func events(bufferingNewest limit: Int = 256) -> AsyncStream<LoadEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: LoadEvent.self, bufferingPolicy: .bufferingNewest(max(1, limit)))
    let number = Lineage.nextOrigin()
    let isInvalidated = state.withLock { state in
      state.snapshot.subscribers[number] = continuation
      return state.isInvalidated
    }
    if isInvalidated { continuation.finish() }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.snapshot.subscribers.removeValue(forKey: number) }
    }
    return stream
  }
}
