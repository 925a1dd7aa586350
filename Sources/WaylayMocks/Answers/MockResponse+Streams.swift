public import Foundation

extension MockResponse {
  /// A response that arrives in the given chunks.
  ///
  /// A data delegate receives them one by one, `data(for:)` all of them at once.
  ///
  /// ```swift
  /// Stub(.get, "/log") { .chunks(["first line\n", "second line\n"], every: .seconds(1)) }
  /// ```
  ///
  /// - Parameters:
  ///   - chunks: The chunks; empty ones are omitted.
  ///   - pause: The time between two chunks.
  ///   - type: The value of `Content-Type`.
  ///   - status: The status.
  public static func chunks(
    _ chunks: [Data], every pause: MockDelay? = nil, type: String? = nil, status: Int = 200
  ) -> MockResponse {
    let body = MessageBody.stream(length: Int64(chunks.reduce(0) { $0 + $1.count })) { Elements(list: chunks) }
    return .body(body, type: type, status: status).pausing(pause)
  }

  /// A response that arrives in the given chunks of text.
  public static func chunks(
    _ chunks: [String], every pause: MockDelay? = nil, type: String? = "text/plain; charset=utf-8", status: Int = 200
  ) -> MockResponse {
    .chunks(chunks.map { Data($0.utf8) }, every: pause, type: type, status: status)
  }

  /// A response that arrives in the given chunks, with a fixed pause between them.
  public static func chunks(
    _ chunks: [Data], every pause: Duration, type: String? = nil, status: Int = 200
  ) -> MockResponse {
    .chunks(chunks, every: .fixed(pause), type: type, status: status)
  }

  /// A response that arrives in the given chunks of text, with a fixed pause between them.
  public static func chunks(
    _ chunks: [String], every pause: Duration, type: String? = "text/plain; charset=utf-8", status: Int = 200
  ) -> MockResponse {
    .chunks(chunks, every: .fixed(pause), type: type, status: status)
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
  /// Stub(.get, "/prices") { .events([.init("41"), .init("42", event: "price")], every: .seconds(1)).fault(.stalledAtEnd) }
  /// ```
  ///
  /// A real server keeps the stream open: add ``MockFault/stalledAtEnd`` for that.
  public static func events(_ events: [ServerSentEvent], every pause: MockDelay? = nil) -> MockResponse {
    var response = MockResponse.eventStream(.stream { Elements(list: events.map(\.encoded)) }).pausing(pause)
    for event in events { response.note(event.defect) }
    return response
  }

  /// A response with Server-Sent Events, with a fixed pause between them.
  public static func events(_ events: [ServerSentEvent], every pause: Duration) -> MockResponse {
    .events(events, every: .fixed(pause))
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
    .body(body, type: "text/event-stream").header("Cache-Control", "no-store")
  }

  private func pausing(_ pause: MockDelay?) -> MockResponse {
    with { copy in
      copy.note(pause?.defect)
      copy.timing.pause = pause
    }
  }
}

/// A list as an asynchronous sequence.
private struct Elements: AsyncSequence, Sendable {
  let list: [Data]

  func makeAsyncIterator() -> Iterator { Iterator(rest: list.makeIterator()) }

  struct Iterator: AsyncIteratorProtocol {
    var rest: IndexingIterator<[Data]>

    mutating func next() async -> Data? { rest.next() }
  }
}
