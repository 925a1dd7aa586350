public import Foundation
import WaylayRecording

extension MockResponse {
  /// A response that arrives in the given chunks.
  ///
  /// A data delegate receives them one by one, `data(for:)` all of them at once.
  ///
  /// ```swift
  /// Stub(.get, "/log", .chunks(["first line\n", "second line\n"], every: .seconds(1)))
  /// ```
  ///
  /// - Parameters:
  ///   - chunks: The chunks; empty ones are omitted.
  ///   - pause: The time between two chunks.
  ///   - type: The value of `Content-Type`.
  ///   - status: The status.
  public static func chunks(
    _ chunks: [Data], every pause: Duration? = nil, type: String? = nil, status: Int = 200
  ) -> MockResponse {
    let body = MessageBody.pieces(chunks, length: Int64(chunks.reduce(0) { $0 + $1.count }))
    return .body(body, type: type, status: status).pausing(pause)
  }

  /// A response that arrives in the given chunks of text.
  public static func chunks(
    _ chunks: [String], every pause: Duration? = nil, type: String? = "text/plain; charset=utf-8", status: Int = 200
  ) -> MockResponse {
    .chunks(chunks.map { Data($0.utf8) }, every: pause, type: type, status: status)
  }

  /// A response whose chunks come from an asynchronous sequence, on demand.
  ///
  /// A one-shot sequence, such as an `AsyncStream`, serves one request: make it in the stub's closure, once per
  /// request.
  public static func stream<Chunks: AsyncSequence & Sendable>(
    _ chunks: Chunks, type: String? = nil, status: Int = 200
  ) -> MockResponse where Chunks.Element == Data {
    .body(.stream(length: nil) { chunks }, type: type, status: status)
  }

  /// A response with Server-Sent Events.
  ///
  /// ```swift
  /// Stub(.get, "/prices", .events([.init("41"), .init("42", event: "price")], every: .seconds(1)).fault(.stalledAtEnd))
  /// ```
  ///
  /// A real server keeps the stream open: add `NetworkFault.stalledAtEnd` for that.
  public static func events(_ events: [ServerSentEvent], every pause: Duration? = nil) -> MockResponse {
    var response = MockResponse.eventStream(.pieces(events.map(\.encoded))).pausing(pause)
    for event in events { response.note(event.defect) }
    return response
  }

  /// A response with Server-Sent Events from an asynchronous sequence, each sent as soon as it is available.
  public static func events<Events: AsyncSequence & Sendable>(_ events: Events) -> MockResponse
  where Events.Element == ServerSentEvent {
    .eventStream(
      .stream {
        events.map { event in
          if let defect = event.defect { throw defect }
          return event.encoded
        }
      })
  }

  private static func eventStream(_ body: MessageBody) -> MockResponse {
    .body(body, type: "text/event-stream").field("Cache-Control", "no-store")
  }

  private func pausing(_ pause: Duration?) -> MockResponse {
    with { copy in
      copy.note(pause?.delayDefect)
      copy.timing.pause = pause
    }
  }
}

/// An event of an event stream, as `EventSource` parses it (WHATWG HTML, section 9.2).
///
/// ```swift
/// let events: [ServerSentEvent] = [.init("ready"), .init("42", event: "price", id: "7"), .comment("still here")]
/// ```
public struct ServerSentEvent: Sendable {
  /// The event's data; each line is sent separately. `nil` for an event that has only a comment or a retry time.
  public var data: String?
  /// The event's type; readers treat a missing type as `message`.
  public var event: String?
  /// The value that a reader sends as `Last-Event-ID` when it reconnects.
  public var id: String?
  /// How long a reader waits before it reconnects, in whole milliseconds.
  public var retry: Duration?
  /// A comment line, which readers skip; it keeps a connection alive.
  public var comment: String?

  private var mistake: MockError?

  /// Makes an event.
  ///
  /// - Parameters:
  ///   - data: The data.
  ///   - event: The type, without line breaks.
  ///   - id: The identifier, without line breaks and NUL.
  ///   - retry: The time to wait before reconnecting, zero or more.
  public init(_ data: String? = nil, event: String? = nil, id: String? = nil, retry: Duration? = nil) {
    self.data = data
    self.event = event
    self.id = id
    self.retry = retry
  }

  /// An event whose data is a value encoded as JSON. A value that cannot be encoded fails the load with
  /// `MockError.invalidJSON`.
  public static func json(_ value: some Encodable, event: String? = nil, id: String? = nil) -> ServerSentEvent {
    var result = ServerSentEvent(event: event, id: id)
    do {
      result.data = String(decoding: try JSONEncoder.sorted.encode(value), as: UTF8.self)
    } catch {
      result.mistake = MockError(
        .invalidJSON, "an event's value of \(type(of: value)) cannot be encoded as JSON: \(error.redacted).",
        underlying: error)
    }
    return result
  }

  /// An event whose data is a JSON value written as literals.
  public static func json(_ value: JSONValue, event: String? = nil, id: String? = nil) -> ServerSentEvent {
    ServerSentEvent(value.description, event: event, id: id)
  }

  /// An event whose data is a JSON literal with variables in it.
  @_disfavoredOverload
  public static func json(_ value: JSONLiteral, event: String? = nil, id: String? = nil) -> ServerSentEvent {
    .json(value.jsonValue, event: event, id: id)
  }

  /// A comment line, which readers skip.
  public static func comment(_ text: String) -> ServerSentEvent {
    var event = ServerSentEvent()
    event.comment = text
    return event
  }

  /// The mistake in the event, if any.
  var defect: MockError? {
    if let mistake { return mistake }
    let breaks: (Character) -> Bool = { $0.isNewline || $0 == "\0" }
    if let event, event.contains(where: breaks) {
      return MockError(
        .invalidResponse, "the type of an event contains a line break or a NUL, which would end the field.")
    }
    if let id, id.contains(where: breaks) {
      return MockError(
        .invalidResponse, "the id of an event contains a line break or a NUL: clients ignore such an id.")
    }
    if let retry, retry < .zero {
      return MockError(.invalidTiming, "an event's retry of \(retry) is below zero.")
    }
    return nil
  }

  /// The encoded event with its terminating blank line.
  var encoded: Data {
    var lines: [String] = []
    if let comment { lines += Self.lines(of: comment).map { ": \($0)" } }
    if let event { lines.append("event: \(event)") }
    if let data { lines += Self.lines(of: data).map { "data: \($0)" } }
    if let id { lines.append("id: \(id)") }
    if let retry { lines.append("retry: \(Int64(min(retry.inSeconds * 1000, 1e15)))") }
    return Data((lines.joined(separator: "\n") + "\n\n").utf8)
  }

  /// The lines of a text, ended by CRLF, LF or CR.
  private static func lines(of text: String) -> [Substring] {
    text.split(omittingEmptySubsequences: false) { $0 == "\r\n" || $0 == "\n" || $0 == "\r" }
  }
}
