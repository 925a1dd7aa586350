/// Hands events to those who subscribed, each through a stream of its own.
package final class EventHub<Event: Sendable>: Sendable {
  package typealias Subscriber = AsyncStream<Event>.Continuation

  private struct State {
    var subscribers: [UInt64: Subscriber] = [:]
    var last: UInt64 = 0
    var isClosed = false
  }

  private let state = Locked(State())

  package init() {}

  deinit { close() }

  /// The events from now on. Those beyond `limit` that a slow reader has not taken are dropped, the oldest first.
  package func subscribe(bufferingNewest limit: Int) -> AsyncStream<Event> {
    let (stream, subscriber) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(max(1, limit)))
    let number = state.withLock { state -> UInt64? in
      guard !state.isClosed else { return nil }
      state.last += 1
      state.subscribers[state.last] = subscriber
      return state.last
    }
    guard let number else {
      subscriber.finish()
      return stream
    }
    subscriber.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.subscribers.removeValue(forKey: number) }
    }
    return stream
  }

  /// Those who listen now.
  package var subscribers: [Subscriber] {
    state.withLock { $0.subscribers.isEmpty ? [] : Array($0.subscribers.values) }
  }

  /// Makes an event, if anybody listens, and hands it on.
  package func send(_ make: () -> Event) {
    let subscribers = subscribers
    guard !subscribers.isEmpty else { return }
    let event = make()
    for subscriber in subscribers { subscriber.yield(event) }
  }

  /// Ends all streams, and those that are asked for later at once.
  package func close() {
    let subscribers = state.withLock { state in
      state.isClosed = true
      defer { state.subscribers = [:] }
      return state.subscribers.values
    }
    for subscriber in subscribers { subscriber.finish() }
  }
}
