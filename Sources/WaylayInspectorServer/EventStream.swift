#if InspectorServer
  import Foundation
  import NIOCore
  import WaylayHAR
  import WaylayInspector

  /// The Server-Sent Events for a listening page (HTML, section 9.2): first the kept exchanges, then each change.
  ///
  /// Events are encoded on demand (back pressure): a slow page gets fewer steps, and only the numbers of changed
  /// exchanges are queued for it.
  struct EventStream: Sendable {
    /// The interval of heartbeats: only a write detects a peer that has disappeared.
    static let beat = Duration.seconds(15)
    /// The bytes per write of the initial exchanges.
    static let batch = 1 << 16

    let inspector: Inspector
    let features: [String]

    /// Sends events until the inspector is released, or the task is cancelled.
    func run(_ send: @escaping @Sendable (ByteBuffer) async throws -> Void) async throws {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          while true {
            try await Task.sleep(for: Self.beat)
            try await send(ByteBuffer(string: ":\n\n"))
          }
        }
        group.addTask { try await sendEvents(send) }
        defer { group.cancelAll() }
        try await group.next()
      }
    }

    private func sendEvents(_ send: (ByteBuffer) async throws -> Void) async throws {
      // Subscribe before the snapshot, so that no change is missed.
      let events = inspector.events(bufferingNewest: max(1_000, inspector.limits.exchanges))
      try await sendAll(send)
      for await event in events {
        switch event {
        case .exchange(let exchange): try await send(ByteBuffer(bytes: EventText.entry(inspector.shown(exchange))))
        case .cleared: try await send(EventText.event("cleared", "1"))
        case .lost: try await sendAll(send)
        }
      }
    }

    /// Sends all exchanges: their number, each of them, and an end mark.
    private func sendAll(_ send: (ByteBuffer) async throws -> Void) async throws {
      let numbers = inspector.numbers
      let features = features.map { "\"\($0)\"" }.joined(separator: ",")
      var batch = EventText.event(
        "hello", "{\"features\":[\(features)],\"limit\":\(inspector.limits.exchanges),\"count\":\(numbers.count)}")
      for number in numbers {
        if batch.readableBytes >= Self.batch {
          try await send(batch)
          batch.clear()
        }
        if let exchange = inspector.exchange(number) { batch.writeBytes(EventText.entry(inspector.shown(exchange))) }
      }
      batch.writeImmutableBuffer(EventText.event("complete", "\(numbers.count)"))
      try await send(batch)
    }
  }

  /// The text of events.
  enum EventText {
    /// The bytes of a body that are sent with its entry. The page requests the rest on demand.
    static let preview = 64 << 10

    static func event(_ name: String, _ data: String) -> ByteBuffer {
      ByteBuffer(string: "event: \(name)\ndata: \(data)\n\n")
    }

    static func entry(_ exchange: Inspector.Exchange) -> Data {
      var entry = exchange.entry
      var isCut = cut(&entry.response.body)
      if var body = entry.request.body, cut(&body) {
        entry.request.body = body
        isCut = true
      }
      if isCut { entry.extensions["_isPreview"] = true }
      // JSON on one line: line breaks in strings are escaped.
      return Data("event: entry\ndata: ".utf8) + entry.data() + Data("\n\n".utf8)
    }

    /// Truncates a body at the end of a character.
    private static func cut(_ body: inout HAR.Body) -> Bool {
      guard body.data.count > preview else { return false }
      let isText = body.text != nil
      var data = body.data.prefix(preview)
      if isText {
        while let last = data.last, last & 0b1100_0000 == 0b1000_0000 { data.removeLast() }
        if let last = data.last, last & 0b1100_0000 == 0b1100_0000 { data.removeLast() }
      }
      let size = body.size
      body.data = Data(data)
      body.size = size
      return true
    }
  }
#endif
