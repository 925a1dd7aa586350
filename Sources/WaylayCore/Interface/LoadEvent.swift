import Foundation
import HTTPTypes

/// An event in a load, for observers.
///
/// ```swift
/// for await event in registry.events() where event.kind == .failed {
///   print(event.id, event.url?.host ?? "", event.error ?? "")
/// }
/// ```
///
/// Observing changes nothing: to change a request or a response, write a ``RequestInterceptor``.
public struct LoadEvent: Sendable {
  /// The load.
  public let id: InterceptedRequest.ID
  /// The kind of event.
  public let kind: OpenEnum<LoadEvent>
  /// The method of the app's original request.
  public let method: String
  /// The URL of the app's original request.
  public let url: URL?
  /// The chain that owns the load; `nil` for the bare transport, and for the start event.
  public let chain: InterceptorChain.Name?
  /// The status of the response that the event is about, if any.
  public let status: HTTPResponse.Status?
  /// Where that response came from.
  public let source: InterceptedResponse.Source?
  /// The error that the event is about, if any.
  public let error: (any Error)?
  /// The time since the load started.
  public let elapsed: Duration
}

extension LoadEvent: CustomStringConvertible, CustomDebugStringConvertible {
  /// The event on one line, suitable for a log: the URL and the error are redacted.
  public var description: String {
    var text = "load \(id) \(kind): \(method) \(url?.redacted ?? "no URL")"
    if let chain { text += ", chain \(chain)" }
    if let status { text += ", status \(status.code)" }
    if let source { text += ", from \(source)" }
    if let error { text += ", \(error.redacted)" }
    return text + ", after \(elapsed)"
  }

  /// The same text as the description.
  public var debugDescription: String { description }
}

/// The metadata keys of a log line. They are stable: filter on them.
///
/// A load logs one line at `.debug` when it ends. URLs appear without user info and query values; header fields and
/// bodies are never logged.
package enum LogKey {
  /// The load's identifier.
  package static let load = "waylay.load"
  /// The chain that owned it.
  package static let chain = "waylay.chain"
  /// Where the response came from.
  package static let source = "waylay.source"
  /// The time from start to end, in milliseconds.
  package static let milliseconds = "waylay.milliseconds"
  /// The request's method.
  package static let method = "http.request.method"
  /// The request's URL, redacted.
  package static let url = "url.full"
  /// The response's status.
  package static let status = "http.response.status_code"
  /// The error.
  package static let error = "error.message"
}

/// Sends events to subscribers, each of which has a stream.
package final class EventHub<Event: Sendable>: Sendable {
  typealias Subscriber = AsyncStream<Event>.Continuation

  private struct State {
    var subscribers: [UInt64: Subscriber] = [:]
    var last: UInt64 = 0
    var isClosed = false
  }

  private let state = Locked(State())

  package init() {}

  deinit { close() }

  /// Subscribes to the events from now on. The stream buffers `limit` events for a slow reader; beyond it, the oldest
  /// are dropped.
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

  /// The current subscribers.
  var subscribers: [Subscriber] {
    state.withLock { $0.subscribers.isEmpty ? [] : Array($0.subscribers.values) }
  }

  /// Sends an event, which is made only if there are subscribers.
  package func send(_ make: () -> Event) {
    let subscribers = subscribers
    guard !subscribers.isEmpty else { return }
    let event = make()
    for subscriber in subscribers { subscriber.yield(event) }
  }

  /// Ends all streams; later subscriptions end at once.
  package func close() {
    let subscribers = state.withLock { state in
      state.isClosed = true
      return exchange(&state.subscribers, with: [:]).values
    }
    for subscriber in subscribers { subscriber.finish() }
  }
}

extension OpenEnum where Domain == LoadEvent {
  /// A load began.
  public static var started: Self { Self("started") }
  /// A redirect is being followed; the event carries the redirect's status.
  public static var redirected: Self { Self("redirected") }
  /// An interceptor called `next` again: for a retry, or for a concurrent attempt while the first one is slow.
  public static var retried: Self { Self("retried") }
  /// The head of the last response arrived.
  public static var responded: Self { Self("responded") }
  /// The body was read to its end.
  public static var finished: Self { Self("finished") }
  /// The load failed or was cancelled.
  public static var failed: Self { Self("failed") }
  /// An interceptor's response was dropped because its load had been cancelled.
  public static var responseDropped: Self { Self("responseDropped") }
  /// Credentials that an interceptor set were not sent, because a redirect has led to another origin; the error names
  /// them and the interceptor.
  public static var credentialsWithheld: Self { Self("credentialsWithheld") }
  /// The server's key is not among the host's pins, and the request was sent nevertheless: see `Pins.isReportOnly`.
  public static var pinMismatched: Self { Self("pinMismatched") }
}
